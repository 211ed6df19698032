// f16 and bf16, alone and in pairs: add, sub, mul, fma, min, max, neg, abs. Computed exactly (or to odd) in double,
// rounded once.
#include "simulator/FloatOps.h"

namespace nacre::simulator {
namespace {

template <bool brain> double wide(uint16_t bits) {
  return brain ? double(bfloatToFloat(bits)) : double(halfToFloat(bits));
}
template <bool brain> uint16_t narrow(double value) {
  return static_cast<uint16_t>(encode(brain ? bfloatFormat : halfFormat, value, Rounding::Nearest));
}
template <bool brain> constexpr uint16_t infinityBits = brain ? 0x7F80 : 0x7C00;
template <bool brain> bool isNaN(uint16_t bits) { return (bits & 0x7FFF) > infinityBits<brain>; }
template <bool brain> uint16_t flush16(uint16_t bits) {
  return (bits & infinityBits<brain>) == 0 ? bits & 0x8000 : bits;
}
template <bool brain> constexpr uint16_t oneBits = brain ? 0x3F80 : 0x3C00;

template <bool brain, FloatOperation operation> uint16_t compute(uint16_t a, uint16_t b, uint16_t c, uint32_t flags) {
  if (flags & FlushFlag)
    a = flush16<brain>(a), b = flush16<brain>(b), c = flush16<brain>(c);
  double x = wide<brain>(a), y = wide<brain>(b), z = wide<brain>(c);
  uint16_t result = 0;
  double exact = 0;
  if constexpr (operation == FloatOperation::Add) {
    result = narrow<brain>(exact = x + y);
  } else if constexpr (operation == FloatOperation::Subtract) {
    result = narrow<brain>(exact = x - y);
  } else if constexpr (operation == FloatOperation::Multiply) {
    result = narrow<brain>(exact = x * y);
  } else if constexpr (operation == FloatOperation::Fma) {
    result = narrow<brain>(exact = addToOdd(x * y, z));
    if ((flags & OutOfBoundsFlag) && (isNaN<brain>(a) || isNaN<brain>(b)))
      result = 0;
  } else if constexpr (operation == FloatOperation::Negate) {
    return isNaN<brain>(a) ? 0x7FFF : a ^ 0x8000;
  } else if constexpr (operation == FloatOperation::Absolute) {
    return isNaN<brain>(a) ? 0x7FFF : a & 0x7FFF;
  } else {
    uint16_t sign = (a ^ b) & 0x8000;
    if (flags & XorSignFlag)
      a &= 0x7FFF, b &= 0x7FFF, x = std::fabs(x), y = std::fabs(y);
    bool aNaN = isNaN<brain>(a), bNaN = isNaN<brain>(b);
    if ((aNaN && bNaN) || ((flags & NanFlag) && (aNaN || bNaN)))
      return 0x7FFF;
    bool first = operation == FloatOperation::Maximum ? (x > y || (x == y && !(a & 0x8000)))
                                                      : (x < y || (x == y && (a & 0x8000)));
    result = aNaN ? b : bNaN ? a : first ? a : b;
    if (flags & XorSignFlag)
      result = static_cast<uint16_t>((result & 0x7FFF) | sign);
    return result;
  }
  if (flags & FlushFlag) // what is tiny before rounding too
    result = std::fabs(exact) < (brain ? 0x1p-126 : 0x1p-14) ? result & 0x8000 : flush16<brain>(result);
  if (flags & SaturateFlag) {
    if (isNaN<brain>(result) || (result & 0x8000))
      result = 0;
    else if (result > oneBits<brain>)
      result = oneBits<brain>;
  }
  if ((flags & ReluFlag) && !isNaN<brain>(result) && (result & 0x8000))
    result = 0;
  return result;
}

template <bool brain, bool pair, FloatOperation operation> Status handler(Warp &warp, const Op &op, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(op.a), *b = warp.at<uint32_t>(op.b), *c = warp.at<uint32_t>(op.c);
  uint32_t *d = warp.at<uint32_t>(op.d);
  forEachLane(mask, [&](unsigned i) {
    uint32_t low = compute<brain, operation>(uint16_t(a[i]), uint16_t(b[i]), uint16_t(c[i]), op.flags);
    if (pair)
      low |= uint32_t(
                 compute<brain, operation>(uint16_t(a[i] >> 16), uint16_t(b[i] >> 16), uint16_t(c[i] >> 16), op.flags))
             << 16;
    d[i] = low;
  });
  return Status::Next;
}

template <FloatOperation operation> Handler choose(ScalarType type) {
  switch (type) {
  case ScalarType::F16:
    return handler<false, false, operation>;
  case ScalarType::F16x2:
    return handler<false, true, operation>;
  case ScalarType::BF16:
    return handler<true, false, operation>;
  default:
    return handler<true, true, operation>;
  }
}

} // namespace

void decodeHalf(Decoder &decoder, FloatOperation operation, ScalarType type) {
  FloatModifiers modifiers = takeFloatModifiers(decoder);
  Op &op = decoder.op;
  if (modifiers.rounding != Rounding::Nearest)
    decoder.refuse("16-bit floats are rounded to nearest only");
  op.flags = modifiers.flags();
  if (decoder.take("relu"))
    op.flags |= ReluFlag;
  if (decoder.take("oob"))
    op.flags |= OutOfBoundsFlag;
  if (decoder.take("NaN"))
    op.flags |= NanFlag;
  if (decoder.take("xorsign")) {
    if (!decoder.take("abs"))
      decoder.refuse(".xorsign needs .abs");
    op.flags |= XorSignFlag;
  }
  decoder.finishModifiers();
  size_t sources = operation == FloatOperation::Fma                                               ? 3
                   : operation == FloatOperation::Negate || operation == FloatOperation::Absolute ? 1
                                                                                                  : 2;
  decoder.expectOperands(1 + sources, 1 + sources);
  op.d = decoder.destination(decoder.operand(0), 4);
  op.a = op.b = op.c = decoder.valueOf(decoder.operand(1), type);
  if (sources > 1)
    op.b = decoder.valueOf(decoder.operand(2), type);
  if (sources > 2)
    op.c = decoder.valueOf(decoder.operand(3), type);
  Handler handler = nullptr;
  switch (operation) {
  case FloatOperation::Add:
    handler = choose<FloatOperation::Add>(type);
    break;
  case FloatOperation::Subtract:
    handler = choose<FloatOperation::Subtract>(type);
    break;
  case FloatOperation::Multiply:
    handler = choose<FloatOperation::Multiply>(type);
    break;
  case FloatOperation::Fma:
    handler = choose<FloatOperation::Fma>(type);
    break;
  case FloatOperation::Negate:
    handler = choose<FloatOperation::Negate>(type);
    break;
  case FloatOperation::Absolute:
    handler = choose<FloatOperation::Absolute>(type);
    break;
  case FloatOperation::Minimum:
    handler = choose<FloatOperation::Minimum>(type);
    break;
  case FloatOperation::Maximum:
    handler = choose<FloatOperation::Maximum>(type);
    break;
  default:
    decoder.refuse("16-bit floats do not have it");
  }
  decoder.emit(handler, InstructionClass::Half);
}

} // namespace nacre::simulator
