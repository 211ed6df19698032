// tl.extra.libdevice on integers and bits, and its conversions with a rounding in their name.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/Term.h"

namespace nacre {

namespace {

// A 32- or 64-bit integer.
Term integerTerm(Evaluation &evaluation, const Object &object, const char *name = "x") {
  Value value = valueArgument(evaluation, object, name);
  if (!value.type().isInteger() || value.type().bitWidth() < 32)
    evaluation.fail(Diagnostic::Kind::Type,
                    std::string("`") + name + "` must be an integer of 32 or 64 bits, not " +
                        value.type().scalarType().str(),
                    "convert it first: x.to(tl.int32)");
  return Term(evaluation, value);
}

// The bits as an unsigned integer, so that shifts bring in zeros.
Term bitsOf(const Term &x) { return x.bitcast(x.type().bitWidth() == 32 ? uint32() : uint64()); }

Object mask(const Term &x, uint64_t pattern) {
  return fromBits(llvm::APInt(64, x.type().bitWidth() == 32 ? pattern & 0xffffffffu : pattern), /*isSigned=*/false);
}

Term populationCount(Term bits) {
  bits = bits - ((bits >> Object(1)) & mask(bits, 0x5555555555555555));
  bits = (bits & mask(bits, 0x3333333333333333)) + ((bits >> Object(2)) & mask(bits, 0x3333333333333333));
  bits = (bits + (bits >> Object(4))) & mask(bits, 0x0f0f0f0f0f0f0f0f);
  Term summed = bits * mask(bits, 0x0101010101010101);
  return (summed >> Object(bits.type().bitWidth() - 8)).to(int32());
}

Object countOnes(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return populationCount(bitsOf(integerTerm(evaluation, arguments[0]))).object;
}

Object countLeadingZeros(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term bits = bitsOf(integerTerm(evaluation, arguments[0]));
  for (int distance = 1; distance < bits.type().bitWidth(); distance *= 2)
    bits = bits | (bits >> Object(distance));
  return populationCount(~bits).object;
}

Object findFirstSet(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term bits = bitsOf(integerTerm(evaluation, arguments[0]));
  Term lowest = bits & (bits.constant(0) - bits);
  Term place = populationCount(lowest - bits.constant(1)) + Object(1);
  return choose(bits == bits.constant(0), place.constant(0), place).object;
}

Object reverseBits(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = integerTerm(evaluation, arguments[0]);
  Term bits = bitsOf(x);
  auto swapNeighbours = [&](int distance, uint64_t lower) {
    bits = ((bits >> Object(distance)) & mask(bits, lower)) | ((bits & mask(bits, lower)) << Object(distance));
  };
  swapNeighbours(1, 0x5555555555555555);
  swapNeighbours(2, 0x3333333333333333);
  swapNeighbours(4, 0x0f0f0f0f0f0f0f0f);
  swapNeighbours(8, 0x00ff00ff00ff00ff);
  swapNeighbours(16, 0x0000ffff0000ffff);
  if (bits.type().bitWidth() == 64)
    swapNeighbours(32, 0x00000000ffffffff);
  return bits.bitcast(x.type()).object;
}

Object multiplyHigh(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = unify(evaluation, arguments[0], arguments[1]);
  integerTerm(evaluation, x);
  return evaluation.builder().binary(x.type().isSigned() ? BinaryOp::MulHighS : BinaryOp::MulHighU, x, y);
}

// (x + y) / 2 rounded down (or up), without overflow: the shared bits plus half of the others.
template <bool roundsUp> Object average(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [first, second] = unify(evaluation, arguments[0], arguments[1]);
  Term x = integerTerm(evaluation, first), y = integerTerm(evaluation, second);
  Term half = (x ^ y) >> Object(1);
  return roundsUp ? ((x | y) - half).object : ((x & y) + half).object;
}

Object sumOfDifference(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [first, second] = unify(evaluation, arguments[0], arguments[1]);
  Term x = integerTerm(evaluation, first), y = integerTerm(evaluation, second);
  return (choose(x > y, x - y, y - x) + x.with(arguments[2])).object;
}

enum class Direction { Nearest, Zero, Down, Up };

template <Direction direction> Term roundedTerm(const Term &x) {
  switch (direction) {
  case Direction::Nearest:
    return x.unary(UnaryOp::RoundEven);
  case Direction::Zero:
    return x;
  case Direction::Down:
    return x.unary(UnaryOp::Floor);
  case Direction::Up:
    return x.unary(UnaryOp::Ceil);
  }
}

Value exactly(Evaluation &evaluation, const Object &object, Type expected) {
  Value value = object.isNumber() ? toValue(evaluation, object, expected) : valueArgument(evaluation, object, "x");
  if (value.type().scalarType() != expected)
    evaluation.fail(Diagnostic::Kind::Type, "`x` must be " + expected.str() + ", not " + describe(object));
  return value;
}

// Floats to integers. `kind` names the result's type in the function's name.
template <ScalarKind from, ScalarKind to, Direction direction>
Object floatToInteger(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x(evaluation, exactly(evaluation, arguments[0], Type::scalar(from)));
  return roundedTerm<direction>(x).to(Type::scalar(to)).object;
}

template <ScalarKind from, ScalarKind to> void addFloatToInteger(Table &table, const std::string &name) {
  std::string target = Type::scalar(to).str();
  auto add = [&](const char *suffix, const char *how, Table::Invoke invoke) {
    table.add((name + suffix + "(x: tensor)").c_str(), "x as " + target + ", rounded " + how + ".", invoke);
  };
  add("_rn", "to nearest", floatToInteger<from, to, Direction::Nearest>);
  add("_rz", "toward zero", floatToInteger<from, to, Direction::Zero>);
  add("_rd", "down", floatToInteger<from, to, Direction::Down>);
  add("_ru", "up", floatToInteger<from, to, Direction::Up>);
}

template <ScalarKind from, ScalarKind to> Object convert(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return castTo(evaluation, exactly(evaluation, arguments[0], Type::scalar(from)), Type::scalar(to));
}

template <ScalarKind from, ScalarKind to> Object reinterpret(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return castTo(evaluation, exactly(evaluation, arguments[0], Type::scalar(from)), Type::scalar(to), std::nullopt,
                /*bitcast=*/true);
}

// The product of the lower 24 bits, as the sign of the type says.
Object multiply24(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [first, second] = unify(evaluation, arguments[0], arguments[1]);
  Term x = integerTerm(evaluation, first), y = integerTerm(evaluation, second);
  return (((x << Object(8)) >> Object(8)) * ((y << Object(8)) >> Object(8))).object;
}

// Four bytes chosen from the eight of x and y by the four lowest nibbles of the selector.
Object permuteBytes(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Values parts = unifyAll(evaluation, arguments);
  Term x = integerTerm(evaluation, parts[0]), y = integerTerm(evaluation, parts[1]),
       selector = integerTerm(evaluation, parts[2], "s");
  if (x.type().bitWidth() != 32)
    evaluation.fail(Diagnostic::Kind::Type, "the arguments must be 32-bit integers, not " + x.type().str());
  Term bytes = bitsOf(x).to(uint64()) | (bitsOf(y).to(uint64()) << Object(32));
  Term result = bitsOf(x).constant(0);
  for (int place = 0; place < 4; ++place) {
    Term chosen = ((bitsOf(selector) >> Object(4 * place)) & Object(7)).to(uint64());
    Term byte = ((bytes >> (chosen * Object(8))) & Object(255)).to(uint32());
    result = result | (byte << Object(8 * place));
  }
  return result.bitcast(x.type()).object;
}

Object doubleOfHalves(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [high, low] = unify(evaluation, arguments[0], arguments[1]);
  Term upper = bitsOf(Term(evaluation, exactly(evaluation, high, int32()))).to(uint64());
  Term lower = bitsOf(Term(evaluation, exactly(evaluation, low, int32()))).to(uint64());
  return ((upper << Object(32)) | lower).bitcast(float64()).object;
}

template <int shift> Object halfOfDouble(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term bits = Term(evaluation, exactly(evaluation, arguments[0], float64())).bitcast(uint64());
  return (bits >> Object(shift)).to(int32()).object;
}

Object narrowTowardZero(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return castTo(evaluation, exactly(evaluation, arguments[0], float64()), float32(), Rounding::TowardZero);
}

} // namespace

void addLibdeviceIntegers(Table &table) {
  using enum ScalarKind;
  table.section(libdeviceModule, "libdevice");
  table.add("popc(x: tensor)", "How many bits are set, as int32.", countOnes);
  table.add("clz(x: tensor)", "How many zeros come before the first set bit from the top, as int32.",
            countLeadingZeros);
  table.add("ffs(x: tensor)", "The place of the lowest set bit, counted from 1, or 0 when there is none, as int32.",
            findFirstSet);
  table.add("brev(x: tensor)", "The bits in the opposite order.", reverseBits);
  table.add("mulhi(x: tensor, y: tensor)", "The upper half of the product.", multiplyHigh);
  table.add("mul24(x: tensor, y: tensor)", "The product of the lower 24 bits of x and y.", multiply24);
  table.add("byte_perm(x: tensor, y: tensor, s: tensor)", "Four of the bytes of x and y, chosen by the nibbles of s.",
            permuteBytes);
  table.add("hadd(x: tensor, y: tensor)", "(x + y) / 2 rounded down, without overflow.", average<false>);
  table.add("rhadd(x: tensor, y: tensor)", "(x + y) / 2 rounded up, without overflow.", average<true>);
  table.add("sad(x: tensor, y: tensor, z: tensor)", "The distance of x and y, plus z.", sumOfDifference);

  addFloatToInteger<Float32, Int32>(table, "float2int");
  addFloatToInteger<Float32, UInt32>(table, "float2uint");
  addFloatToInteger<Float32, Int64>(table, "float2ll");
  addFloatToInteger<Float32, UInt64>(table, "float2ull");
  addFloatToInteger<Float64, Int32>(table, "double2int");
  addFloatToInteger<Float64, UInt32>(table, "double2uint");
  addFloatToInteger<Float64, Int64>(table, "double2ll");
  addFloatToInteger<Float64, UInt64>(table, "double2ull");
  table.add("int2float_rn(x: tensor)", "An int32 as fp32, rounded to nearest.", convert<Int32, Float32>);
  table.add("uint2float_rn(x: tensor)", "A uint32 as fp32, rounded to nearest.", convert<UInt32, Float32>);
  table.add("ll2float_rn(x: tensor)", "An int64 as fp32, rounded to nearest.", convert<Int64, Float32>);
  table.add("ull2float_rn(x: tensor)", "A uint64 as fp32, rounded to nearest.", convert<UInt64, Float32>);
  table.add("int2double_rn(x: tensor)", "An int32 as fp64.", convert<Int32, Float64>);
  table.add("uint2double_rn(x: tensor)", "A uint32 as fp64.", convert<UInt32, Float64>);
  table.add("ll2double_rn(x: tensor)", "An int64 as fp64, rounded to nearest.", convert<Int64, Float64>);
  table.add("ull2double_rn(x: tensor)", "A uint64 as fp64, rounded to nearest.", convert<UInt64, Float64>);
  table.add("double2float_rn(x: tensor)", "An fp64 as fp32, rounded to nearest.", convert<Float64, Float32>);
  table.add("double2float_rz(x: tensor)", "An fp64 as fp32, rounded toward zero.", narrowTowardZero);

  table.add("hiloint2double(hi: tensor, lo: tensor)", "An fp64 from the bits of its upper and lower half, int32.",
            doubleOfHalves);
  table.add("double2hiint(x: tensor)", "The upper half of the bits of an fp64, as int32.", halfOfDouble<32>);
  table.add("double2loint(x: tensor)", "The lower half of the bits of an fp64, as int32.", halfOfDouble<0>);

  table.add("int_as_float(x: tensor)", "The bits of an int32 as fp32.", reinterpret<Int32, Float32>);
  table.add("float_as_int(x: tensor)", "The bits of an fp32 as int32.", reinterpret<Float32, Int32>);
  table.add("uint_as_float(x: tensor)", "The bits of a uint32 as fp32.", reinterpret<UInt32, Float32>);
  table.add("float_as_uint(x: tensor)", "The bits of an fp32 as uint32.", reinterpret<Float32, UInt32>);
  table.add("longlong_as_double(x: tensor)", "The bits of an int64 as fp64.", reinterpret<Int64, Float64>);
  table.add("double_as_longlong(x: tensor)", "The bits of an fp64 as int64.", reinterpret<Float64, Int64>);
}

} // namespace nacre
