// Conversions to and from the small float formats on register values, by integer arithmetic, with one rounding. What
// the machine does itself (fp32 <-> fp64, and fp16 <-> fp32 to nearest where it can) is left to it; bf16 instructions
// are not used, since they flush denormals.
#include "compiler/passes/tile/ConvertFloat.h"
#include "compiler/support/PlantedBugs.h"
#include <cmath>

using namespace mlir;
using namespace nacre;

namespace {

struct Format {
  int bits, mantissa, bias;
  uint32_t largest;      // magnitude of the largest number
  uint32_t infinity;     // magnitude that an infinite input becomes
  uint32_t nan;          // the pattern of a NaN
  bool saturates;        // too large becomes `largest`
  bool unsignedZero;     // the sign bit alone is the NaN
  uint32_t firstSpecial; // magnitudes from here on decode to infinity or NaN; 0: none
};

Format formatOf(Type element) {
  if (element.isF16())
    return {16, 10, 15, 0x7BFF, 0x7C00, 0x7E00, false, false, 0x7C00};
  if (element.isBF16())
    return {16, 7, 127, 0x7F7F, 0x7F80, 0x7FC0, false, false, 0x7F80};
  if (isa<Float8E4M3FNType>(element))
    return {8, 3, 7, 0x7E, 0x7E, 0x7F, true, false, 0x7F};
  if (isa<Float8E5M2Type>(element))
    return {8, 2, 15, 0x7B, 0x7B, 0x7E, true, false, 0x7C};
  if (isa<Float8E4M3FNUZType>(element))
    return {8, 3, 8, 0x7F, 0x7F, 0x80, true, true, 0};
  if (isa<Float8E5M2FNUZType>(element))
    return {8, 2, 16, 0x7F, 0x7F, 0x80, true, true, 0};
  assert(isa<tile::Float8E4B15Type>(element));
  return {8, 3, 15, 0x7F, 0x7F, 0x7F, true, false, 0};
}

// Integer and float operations on one shape, so that the formulas read as formulas.
struct Arithmetic {
  ImplicitLocOpBuilder &b;
  int64_t width; // 0: scalars
  Type shaped(Type element) const { return width ? Type(VectorType::get({width}, element)) : element; }
  Value constant(Type element, Attribute value) {
    auto vector = dyn_cast<VectorType>(shaped(element));
    return arith::ConstantOp::create(b, vector ? cast<TypedAttr>(Attribute(DenseElementsAttr::get(vector, value)))
                                               : cast<TypedAttr>(value));
  }
  Value integer(Type element, uint64_t value) {
    return constant(element, b.getIntegerAttr(element, static_cast<int64_t>(value)));
  }
  Value real(Type element, double value) { return constant(element, b.getFloatAttr(element, value)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value bitAnd(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value bitXor(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }
  Value shiftLeft(Value x, Value y) { return arith::ShLIOp::create(b, x, y); }
  Value shiftRight(Value x, Value y) { return arith::ShRUIOp::create(b, x, y); }
  Value above(Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, x, y); }
  Value equal(Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, c, x, y); }
  Value bitcast(Type element, Value x) { return arith::BitcastOp::create(b, shaped(element), x); }
};

Value decode(ImplicitLocOpBuilder &b, Value value, const Format &format, int64_t width) {
  Arithmetic a{b, width};
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  Value bits = arith::ExtUIOp::create(b, a.shaped(i32), value);
  auto number = [&](uint64_t x) { return a.integer(i32, x); };
  if (format.bits == 16 && format.mantissa == 7)
    return a.bitcast(f32, a.shiftLeft(bits, number(16)));
  uint32_t signBit = 1u << (format.bits - 1);
  Value magnitude = a.bitAnd(bits, number(signBit - 1));
  Value sign = a.shiftLeft(a.bitAnd(bits, number(signBit)), number(32 - format.bits));
  // The fields in f32's places, as if its bias were ours; the multiplication mends the bias, denormals included.
  Value scaled = a.bitcast(f32, a.shiftLeft(magnitude, number(23 - format.mantissa)));
  Value real = arith::MulFOp::create(b, scaled, a.real(f32, std::ldexp(1.0, 127 - format.bias)));
  Value result = a.bitcast(i32, real);
  if (format.firstSpecial) {
    Value special = a.above(magnitude, number(format.firstSpecial - 1));
    Value quiet = number(0x7FC00000);
    if (format.firstSpecial + 1 < (1u << (format.bits - 1))) // the first special magnitude is infinity
      quiet = a.select(a.equal(magnitude, number(format.firstSpecial)), number(0x7F800000), quiet);
    result = a.select(special, quiet, result);
  }
  result = a.bitOr(result, sign);
  if (format.unsignedZero)
    result = a.select(a.equal(bits, number(signBit)), number(0x7FC00000), result);
  return a.bitcast(f32, result);
}

Value encode(ImplicitLocOpBuilder &b, Value value, Type wideType, const Format &format, bool towardZero,
             int64_t width) {
  Arithmetic a{b, width};
  bool isDouble = wideType.isF64();
  int wideMantissa = isDouble ? 52 : 23, wideBias = isDouble ? 1023 : 127, wideBits = isDouble ? 64 : 32;
  Type integer = isDouble ? b.getI64Type() : b.getI32Type();
  auto number = [&](uint64_t x) { return a.integer(integer, x); };
  auto real = [&](double x) { return a.real(wideType, x); };
  int shift = wideMantissa - format.mantissa;

  Value bits = a.bitcast(integer, value);
  Value sign = a.bitAnd(bits, number(uint64_t(1) << (wideBits - 1)));
  Value magnitude = a.bitXor(bits, sign);
  Value absolute = a.bitcast(wideType, magnitude);

  // Normal numbers: mend the bias, round the bits that go.
  Value rebased = a.sub(magnitude, number(static_cast<uint64_t>(wideBias - format.bias) << wideMantissa));
  Value rounded = rebased;
  if (!towardZero) {
    Value odd = a.bitAnd(a.shiftRight(rebased, number(shift)), number(1));
    if (planted(PlantedBug::RoundTiesUp))
      odd = number(1);
    rounded = a.add(a.add(rebased, number((uint64_t(1) << (shift - 1)) - 1)), odd);
  }
  rounded = a.shiftRight(rounded, number(shift));

  // Denormals: adding a power of two whose last place is the format's smallest step rounds there.
  double magic = std::ldexp(1.0, 1 - format.bias + shift);
  Value sum = arith::AddFOp::create(b, absolute, real(magic));
  Value tiny = a.sub(a.bitcast(integer, sum), a.bitcast(integer, real(magic)));
  if (towardZero) {
    Value back = arith::SubFOp::create(b, sum, real(magic));
    Value over = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, back, absolute);
    tiny = a.sub(tiny, a.select(over, number(1), number(0)));
  }
  Value isTiny = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, absolute, real(std::ldexp(1.0, 1 - format.bias)));
  Value code = planted(PlantedBug::DenormalsLost) ? rounded : a.select(isTiny, tiny, rounded);

  uint64_t wideInfinity = static_cast<uint64_t>(2 * wideBias + 1) << wideMantissa;
  Value tooLarge = number(format.saturates || towardZero ? format.largest : format.infinity);
  code = a.select(a.above(code, number(format.largest)), tooLarge, code);
  if (towardZero && !format.saturates)
    code = a.select(a.equal(magnitude, number(wideInfinity)), number(format.infinity), code);
  Value isNan = a.above(magnitude, number(wideInfinity));
  if (!format.saturates || !planted(PlantedBug::NanSaturates))
    code = a.select(isNan, number(format.nan), code);
  Value signOut = a.shiftRight(sign, number(wideBits - format.bits));
  if (format.unsignedZero) {
    Value bare = arith::OrIOp::create(b, isNan, a.equal(code, number(0)));
    signOut = a.select(bare, number(0), signOut);
  }
  code = a.bitOr(code, signOut);
  Type narrow = b.getIntegerType(format.bits);
  return arith::TruncIOp::create(b, a.shaped(narrow), code);
}

} // namespace

Value nacre::convertFloat(ImplicitLocOpBuilder &b, Value value, Type from, Type to, tile::Rounding rounding,
                          bool convertsHalf) {
  if (from == to)
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t width = vector ? vector.getDimSize(0) : 0;
  Arithmetic a{b, width};
  auto shaped = [&](Type element) { return a.shaped(element); };
  bool towardZero = rounding == tile::Rounding::TowardZero;
  auto isWide = [](Type type) { return type.isF32() || type.isF64(); };
  Type f32 = b.getF32Type();

  if (!isWide(from)) { // first to f32, which holds every small format
    if (from.isF16() && convertsHalf)
      return convertFloat(b, arith::ExtFOp::create(b, shaped(f32), value), f32, to, rounding, convertsHalf);
    if (from.isF16())
      value = arith::BitcastOp::create(b, shaped(b.getI16Type()), value);
    Value wide = decode(b, value, formatOf(from), width);
    return convertFloat(b, wide, f32, to, rounding, convertsHalf);
  }
  if (from.isF32() && to.isF64())
    return arith::ExtFOp::create(b, shaped(to), value);
  if (from.isF64() && to.isF32()) {
    Value rounded = arith::TruncFOp::create(b, shaped(to), value);
    if (!towardZero)
      return rounded;
    Value back = arith::ExtFOp::create(b, shaped(from), rounded);
    Value over = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back),
                                       math::AbsFOp::create(b, value));
    Value bits = a.bitcast(b.getI32Type(), rounded);
    Value below = a.sub(bits, a.integer(b.getI32Type(), 1));
    return arith::BitcastOp::create(b, shaped(to), arith::SelectOp::create(b, over, below, bits));
  }
  if (from.isF64() && planted(PlantedBug::DoubleRounding))
    return convertFloat(b, arith::TruncFOp::create(b, shaped(f32), value), f32, to, rounding, convertsHalf);
  if (from.isF32() && to.isF16() && !towardZero && convertsHalf)
    return arith::TruncFOp::create(b, shaped(to), value);
  Value code = encode(b, value, from, formatOf(to), towardZero, width);
  return to.isF16() ? Value(arith::BitcastOp::create(b, shaped(to), code)) : code;
}
