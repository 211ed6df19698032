// cvt in all its forms: integers, floats, packed 16- and 8-bit floats, every rounding.
#include "simulator/FloatOps.h"
#include <algorithm>

namespace nacre::simulator {
namespace {

// flags: FloatFlag, and
enum ConvertFlag : uint32_t { ToIntegral = 1 << 10, SaturateFinite = 1 << 11 };

const FloatFormat &formatOf(ScalarType type) {
  switch (type) {
  case ScalarType::F16:
  case ScalarType::F16x2:
    return halfFormat;
  case ScalarType::BF16:
  case ScalarType::BF16x2:
    return bfloatFormat;
  case ScalarType::F64:
    return doubleFormat;
  case ScalarType::E4M3:
  case ScalarType::E4M3x2:
    return e4m3Format;
  case ScalarType::E5M2:
  case ScalarType::E5M2x2:
    return e5m2Format;
  default:
    return singleFormat;
  }
}
ScalarType elementOf(ScalarType type) {
  switch (type) {
  case ScalarType::F16x2:
    return ScalarType::F16;
  case ScalarType::BF16x2:
    return ScalarType::BF16;
  case ScalarType::E4M3x2:
    return ScalarType::E4M3;
  case ScalarType::E5M2x2:
    return ScalarType::E5M2;
  default:
    return type;
  }
}

double roundIntegral(double value, Rounding mode) {
  switch (mode) {
  case Rounding::Nearest:
    return std::nearbyint(value); // ties to even: the host's mode
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  default:
    return std::ceil(value);
  }
}

uint64_t integerFromDouble(double value, ScalarType type, ScalarType from) {
  unsigned bits = bitsOf(type);
  if (value != value) // NaN: 0 for narrow results of narrow sources, the top bit else
    return bits == 64 || from == ScalarType::F64 ? (uint64_t(1) << (bits - 1)) : 0;
  if (isSigned(type)) {
    double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    if (value >= limit)
      return (uint64_t(1) << (bits - 1)) - 1;
    if (value < -limit)
      return uint64_t(1) << (bits - 1);
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  double limit = std::ldexp(1.0, static_cast<int>(bits));
  if (value >= limit)
    return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  if (value <= 0)
    return 0;
  return static_cast<uint64_t>(value);
}

uint64_t floatResult(double value, ScalarType to, uint32_t flags, bool sticky = false) {
  const FloatFormat &format = formatOf(to);
  auto mode = static_cast<Rounding>(flags & RoundingMask);
  if ((flags & SaturateFlag) && to != ScalarType::TF32)
    value = value > 0 ? std::min(value, 1.0) : 0.0;
  if ((flags & ReluFlag) && value < 0)
    value = 0.0;
  if ((flags & ReluFlag) && value == 0)
    value = 0.0;
  if (to == ScalarType::TF32) {
    uint64_t bits = encode(tf32Format, value, mode, flags & SaturateFinite) << 13;
    if (value != value)
      return canonicalNaN;
    return bits;
  }
  uint64_t bits = encode(format, value, mode, flags & SaturateFinite, sticky);
  if ((flags & FlushFlag) && to == ScalarType::F32 && (bits & 0x7F800000) == 0)
    bits &= 0x80000000;
  return bits;
}

// NaN: conversions from and to f64 make it quiet and keep its sign and upper bits; the others give the canonical one,
// but for what is no more than a shift (bf16 to f32) or a cut (tf32).
uint64_t convertNaN(uint64_t bits, ScalarType from, ScalarType to, uint32_t flags) {
  const FloatFormat &source = formatOf(from), &result = formatOf(to);
  if (to == ScalarType::TF32) {
    if (static_cast<Rounding>(flags & RoundingMask) != Rounding::NearestAway)
      return 0x7FFFE000;
    return (bits & 0xFFFFE000) - (flags & SaturateFinite ? 0x2000 : 0);
  }
  if (from == ScalarType::BF16 && to == ScalarType::F32 && !(flags & SaturateFlag))
    return bits << 16;
  if ((from == ScalarType::F64 || to == ScalarType::F64) && !(flags & (SaturateFlag | ReluFlag))) {
    uint64_t sign = bits & source.signBit() ? result.signBit() : 0,
             mantissa = bits & ((uint64_t(1) << source.mantissaBits) - 1);
    int shift = source.mantissaBits - result.mantissaBits;
    mantissa = shift >= 0 ? mantissa >> shift : mantissa << -shift;
    return sign | result.infinity() | uint64_t(1) << (result.mantissaBits - 1) | mantissa;
  }
  return floatResult(NAN, to, flags);
}

uint64_t convertOne(uint64_t bits, ScalarType from, ScalarType to, uint32_t flags) {
  unsigned width = bitsOf(from);
  if (isInteger(from)) {
    if (width < 64)
      bits &= (uint64_t(1) << width) - 1;
    bool negative = isSigned(from) && (bits >> (width - 1) & 1);
    if (negative && width < 64)
      bits |= ~uint64_t(0) << width;
    if (isInteger(to)) {
      if (!(flags & SaturateFlag))
        return bits;
      __int128 value = negative ? (__int128)(int64_t)bits : (__int128)bits;
      unsigned toBits = bitsOf(to);
      __int128 low = isSigned(to) ? -((__int128)1 << (toBits - 1)) : 0;
      __int128 high = isSigned(to) ? ((__int128)1 << (toBits - 1)) - 1 : ((__int128)1 << toBits) - 1;
      return static_cast<uint64_t>(std::clamp(value, low, high));
    }
    uint64_t magnitude = negative ? 0 - bits : bits;
    if (flags & SaturateFlag)
      negative ? magnitude = 0 : magnitude = std::min<uint64_t>(magnitude, 1);
    return roundTo(formatOf(to), negative && magnitude, magnitude, 0, false,
                   static_cast<Rounding>(flags & RoundingMask));
  }
  double value = decodeBits(formatOf(from), bits & (width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1));
  if ((flags & FlushFlag) && from == ScalarType::F32)
    value = flushed(static_cast<float>(value));
  if (value != value && !isInteger(to))
    return convertNaN(bits & (width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1), from, to, flags);
  if (isInteger(to))
    return integerFromDouble(roundIntegral(value, static_cast<Rounding>(flags & RoundingMask)), to, from);
  if (flags & ToIntegral) {
    value = roundIntegral(value, static_cast<Rounding>(flags & RoundingMask));
    return floatResult(value, to, flags & ~uint32_t(RoundingMask));
  }
  return floatResult(value, to, flags);
}

// What a narrower result looks like in its register.
uint64_t extended(uint64_t bits, ScalarType type, unsigned registerBits) {
  unsigned width = bitsOf(type);
  if (width < 64) {
    bits &= (uint64_t(1) << width) - 1;
    if (isSigned(type) && (bits >> (width - 1) & 1))
      bits |= ~uint64_t(0) << width;
  }
  return registerBits < 64 ? bits & ((uint64_t(1) << registerBits) - 1) : bits;
}

// op.type: to; op.extra: from | rows: bit 16 wide source row, bit 17 wide destination row, bits 18..: register bits
Status generalHandler(Warp &warp, const Op &op, uint32_t mask) {
  auto from = static_cast<ScalarType>(op.extra & 0xFF);
  bool wideSource = op.extra >> 16 & 1, wideResult = op.extra >> 17 & 1;
  unsigned registerBits = op.extra >> 18 & 0xFF;
  forEachLane(mask, [&](unsigned i) {
    uint64_t bits = wideSource ? warp.at<uint64_t>(op.a)[i] : warp.at<uint32_t>(op.a)[i];
    uint64_t result = extended(convertOne(bits, from, op.type, op.flags), op.type, registerBits);
    if (wideResult)
      warp.at<uint64_t>(op.d)[i] = result;
    else
      warp.at<uint32_t>(op.d)[i] = static_cast<uint32_t>(result);
  });
  return Status::Next;
}

// Two sources to a pair: the first is the upper half.
Status packHandler(Warp &warp, const Op &op, uint32_t mask) {
  auto from = static_cast<ScalarType>(op.extra & 0xFF);
  ScalarType element = elementOf(op.type);
  unsigned width = bitsOf(element);
  const uint32_t *a = warp.at<uint32_t>(op.a), *b = warp.at<uint32_t>(op.b);
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) {
    auto high = static_cast<uint32_t>(convertOne(a[i], from, element, op.flags)),
         low = static_cast<uint32_t>(convertOne(b[i], from, element, op.flags));
    return high << width | low;
  });
  return Status::Next;
}
// A pair to a pair.
Status pairHandler(Warp &warp, const Op &op, uint32_t mask) {
  auto from = static_cast<ScalarType>(op.extra & 0xFF);
  ScalarType to = elementOf(op.type), element = elementOf(from);
  unsigned width = bitsOf(to), sourceWidth = bitsOf(element);
  const uint32_t *a = warp.at<uint32_t>(op.a);
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) {
    uint32_t sourceMask = (1u << sourceWidth) - 1;
    auto low = static_cast<uint32_t>(convertOne(a[i] & sourceMask, element, to, op.flags));
    auto high = static_cast<uint32_t>(convertOne(a[i] >> sourceWidth & sourceMask, element, to, op.flags));
    return high << width | low;
  });
  return Status::Next;
}

// --- the common ones, as vector loops ---
template <typename D, typename S> struct Cast {
  D operator()(S value) const { return static_cast<D>(value); }
};
template <typename D, typename S> Status castHandler(Warp &warp, const Op &op, uint32_t mask) {
  const Element<S> *a = warp.at<Element<S>>(op.a);
  keepActive(mask, warp.at<Element<D>>(op.d),
             [&](unsigned i) { return toElement<D>(static_cast<D>(fromElement<S>(a[i]))); });
  return Status::Next;
}
// A 32-bit row taken from a 64-bit one.
Status lowWordHandler(Warp &warp, const Op &op, uint32_t mask) {
  const uint64_t *a = warp.at<uint64_t>(op.a);
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) { return static_cast<uint32_t>(a[i]); });
  return Status::Next;
}
struct ToHalf {
  uint16_t operator()(float value) const { return floatToHalf(value); }
};
struct FromHalf {
  float operator()(uint16_t value) const { return canonical(halfToFloat(value)); }
};
struct ToBfloat {
  uint16_t operator()(float value) const { return floatToBfloat(value); }
};
Status packBfloat(Warp &warp, const Op &op, uint32_t mask) {
  const float *a = warp.at<float>(op.a), *b = warp.at<float>(op.b);
  keepActive(mask, warp.at<uint32_t>(op.d),
             [&](unsigned i) { return uint32_t(floatToBfloat(a[i])) << 16 | floatToBfloat(b[i]); });
  return Status::Next;
}
Status packHalf(Warp &warp, const Op &op, uint32_t mask) {
  const float *a = warp.at<float>(op.a), *b = warp.at<float>(op.b);
  keepActive(mask, warp.at<uint32_t>(op.d),
             [&](unsigned i) { return uint32_t(floatToHalf(a[i])) << 16 | floatToHalf(b[i]); });
  return Status::Next;
}

Handler fastHandler(ScalarType to, ScalarType from, uint32_t flags) {
  if (flags & ~uint32_t(RoundingMask))
    return nullptr;
  bool nearest = flags == 0;
  switch (from) {
  case ScalarType::S32:
    if (to == ScalarType::S64 || to == ScalarType::U64)
      return castHandler<int64_t, int32_t>;
    if (to == ScalarType::F32 && nearest)
      return castHandler<float, int32_t>;
    if (to == ScalarType::F64)
      return castHandler<double, int32_t>;
    break;
  case ScalarType::U32:
    if (to == ScalarType::S64 || to == ScalarType::U64)
      return castHandler<uint64_t, uint32_t>;
    if (to == ScalarType::F32 && nearest)
      return castHandler<float, uint32_t>;
    if (to == ScalarType::F64)
      return castHandler<double, uint32_t>;
    break;
  case ScalarType::U16:
    if (to == ScalarType::U32 || to == ScalarType::S32)
      return castHandler<uint32_t, uint16_t>;
    break;
  case ScalarType::S16:
    if (to == ScalarType::U32 || to == ScalarType::S32)
      return castHandler<int32_t, int16_t>;
    break;
  case ScalarType::U64:
  case ScalarType::S64:
    if (to == ScalarType::U32 || to == ScalarType::S32)
      return lowWordHandler;
    break;
  case ScalarType::F32:
    if (to == ScalarType::F16 && nearest)
      return unaryHandler<uint16_t, float, ToHalf>;
    if (to == ScalarType::BF16 && nearest)
      return unaryHandler<uint16_t, float, ToBfloat>;
    break;
  case ScalarType::F16:
    if (to == ScalarType::F32)
      return unaryHandler<float, uint16_t, FromHalf>;
    break;
  default:
    break;
  }
  return nullptr;
}

Status packIntegers(Warp &warp, const Op &op, uint32_t mask) {
  const int32_t *a = warp.at<int32_t>(op.a), *b = warp.at<int32_t>(op.b);
  const uint32_t *c = warp.at<uint32_t>(op.c);
  unsigned width = bitsOf(op.type);
  auto clampTo = [&](int32_t value) {
    return static_cast<uint32_t>(convertOne(static_cast<uint32_t>(value), ScalarType::S32, op.type, SaturateFlag)) &
           ((1u << width) - 1);
  };
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) {
    uint32_t pair = clampTo(a[i]) << width | clampTo(b[i]);
    return width == 16 ? pair : pair | c[i] << (2 * width);
  });
  return Status::Next;
}
void decodePackIntegers(Decoder &decoder) {
  if (!decoder.take("sat"))
    decoder.refuse("cvt.pack needs .sat");
  Op &op = decoder.op;
  op.type = decoder.takeType();
  ScalarType from = decoder.takeType();
  bool hasThird = decoder.take("b32");
  decoder.finishModifiers();
  unsigned width = bitsOf(op.type);
  if (from != ScalarType::S32 || !isInteger(op.type) || width > 16 || (width < 16) != hasThird)
    decoder.refuse("the simulator does not know this form of cvt.pack");
  decoder.expectOperands(hasThird ? 4 : 3, hasThird ? 4 : 3);
  op.d = decoder.destination(decoder.operand(0), 4);
  op.a = op.c = decoder.valueOf(decoder.operand(1), ScalarType::S32);
  op.b = decoder.valueOf(decoder.operand(2), ScalarType::S32);
  if (hasThird)
    op.c = decoder.valueOf(decoder.operand(3), ScalarType::B32);
  decoder.emit(packIntegers, InstructionClass::Convert);
}

// The source's row: its register may be wider than the type.
Slot sourceRow(Decoder &decoder, const Operand &operand, ScalarType type, bool &wide) {
  ScalarType own = decoder.registerType(operand);
  wide = (own == ScalarType::None ? bitsOf(type) : bitsOf(own)) > 32;
  if (own == ScalarType::None)
    return decoder.valueOf(operand, type);
  if (own == ScalarType::Predicate || bitsOf(own) < bitsOf(type))
    decoder.refuse("its source register is narrower than its type");
  return decoder.valueOf(operand, wide ? ScalarType::B64 : ScalarType::B32);
}

void decodeConvert(Decoder &decoder) {
  if (decoder.take("pack"))
    return decodePackIntegers(decoder);
  Op &op = decoder.op;
  std::string_view integral = decoder.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  FloatModifiers modifiers = takeFloatModifiers(decoder);
  op.flags = modifiers.flags();
  if (!integral.empty()) {
    op.flags |= integral == "rni"   ? 0
                : integral == "rzi" ? uint32_t(Rounding::Zero)
                : integral == "rmi" ? uint32_t(Rounding::Down)
                                    : uint32_t(Rounding::Up);
    op.flags |= ToIntegral;
  }
  if (decoder.take("relu"))
    op.flags |= ReluFlag;
  if (decoder.take("satfinite"))
    op.flags |= SaturateFinite;
  ScalarType to = decoder.takeType(), from = decoder.takeType();
  decoder.finishModifiers();
  auto known = [](ScalarType type) {
    return (isInteger(type) && bitsOf(type) >= 8) || isFloat(type) || elementOf(type) != type;
  };
  if (!known(to) || !known(from) || from == ScalarType::TF32)
    decoder.refuse("the simulator does not know this conversion");
  op.type = to;
  op.extra = uint32_t(from);
  bool toPair = elementOf(to) != to, fromPair = elementOf(from) != from;
  if (to == ScalarType::E4M3 || to == ScalarType::E5M2 || from == ScalarType::E4M3 || from == ScalarType::E5M2)
    decoder.refuse("8-bit floats are converted in pairs");
  if (to == ScalarType::TF32 && from != ScalarType::F32)
    decoder.refuse("tf32 is made of f32");
  if (toPair && fromPair) {
    decoder.expectOperands(2, 2);
    op.d = decoder.destination(decoder.operand(0), 4);
    op.a = decoder.valueOf(decoder.operand(1), ScalarType::B32);
    return decoder.emit(pairHandler, InstructionClass::Convert);
  }
  if (toPair) {
    if (from != ScalarType::F32)
      decoder.refuse("a pair is made of two .f32");
    decoder.expectOperands(3, 3);
    op.d = decoder.destination(decoder.operand(0), 4);
    op.a = decoder.valueOf(decoder.operand(1), ScalarType::F32);
    op.b = decoder.valueOf(decoder.operand(2), ScalarType::F32);
    Handler handler = packHandler;
    if (op.flags == 0 && to == ScalarType::BF16x2)
      handler = packBfloat;
    if (op.flags == 0 && to == ScalarType::F16x2)
      handler = packHalf;
    return decoder.emit(handler, InstructionClass::Convert);
  }
  if (fromPair)
    decoder.refuse("a pair is converted to a pair");
  decoder.expectOperands(2, 2);
  const Operand &destination = decoder.operand(0);
  bool wideSource;
  op.a = sourceRow(decoder, decoder.operand(1), from, wideSource);
  ScalarType own = decoder.registerType(destination);
  if (own == ScalarType::None || own == ScalarType::Predicate || bitsOf(own) < bitsOf(to))
    decoder.refuse("its destination must be a register as wide as its type or wider");
  bool wideResult = bitsOf(own) > 32;
  op.d = decoder.destination(destination, rowBytesOf(own));
  op.extra |= uint32_t(wideSource) << 16 | uint32_t(wideResult) << 17 | bitsOf(own) << 18;
  Handler handler = nullptr;
  if (bitsOf(own) == bitsOf(to) && wideSource == (bitsOf(from) == 64))
    handler = fastHandler(to, from, op.flags & ~uint32_t(isInteger(to) && isInteger(from) ? RoundingMask : 0));
  decoder.emit(handler ? handler : generalHandler, InstructionClass::Convert);
}

} // namespace

const std::vector<DecoderEntry> convertDecoders = {{"cvt", decodeConvert}};

} // namespace nacre::simulator
