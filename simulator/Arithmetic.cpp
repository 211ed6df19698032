// Integer arithmetic, and the decoders of the instructions that integers and floats share.
#include "simulator/FloatOps.h"
#include <algorithm>
#include <limits>

namespace nacre::simulator {
namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;
template <typename T> struct Add {
  T operator()(T a, T b) const { return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b)); }
};
template <typename T> struct Subtract {
  T operator()(T a, T b) const { return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b)); }
};
template <typename T> struct MultiplyLow {
  T operator()(T a, T b) const { return static_cast<T>(uint64_t(a) * uint64_t(b)); }
};
template <typename T> struct MultiplyHigh {
  T operator()(T a, T b) const {
    using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((Wide(a) * Wide(b)) >> (sizeof(T) * 8));
  }
};
template <typename T> struct Divide {
  T operator()(T a, T b) const {
    if (b == 0)
      return static_cast<T>(~T(0)); // as the hardware's division does
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a));
    return static_cast<T>(a / b);
  }
};
template <typename T> struct Remainder {
  T operator()(T a, T b) const {
    if (b == 0)
      return static_cast<T>(~T(0)); // as the hardware's does
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return 0;
    return static_cast<T>(a % b);
  }
};
template <typename T> struct Minimum {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T> struct Maximum {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T> struct MaximumRelu {
  T operator()(T a, T b) const { return std::max<T>(std::max(a, b), 0); }
};
template <typename T> struct MinimumRelu {
  T operator()(T a, T b) const { return std::max<T>(std::min(a, b), 0); }
};
template <typename T> struct Absolute {
  T operator()(T a) const { return static_cast<T>(a < 0 ? Unsigned<T>(0) - Unsigned<T>(a) : Unsigned<T>(a)); }
};
template <typename T> struct Negate {
  T operator()(T a) const { return static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a)); }
};
struct AddSaturated {
  int32_t operator()(int32_t a, int32_t b) const {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t(a) + b, INT32_MIN, INT32_MAX));
  }
};
struct SubtractSaturated {
  int32_t operator()(int32_t a, int32_t b) const {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t(a) - b, INT32_MIN, INT32_MAX));
  }
};
template <typename T, typename W> struct MultiplyWide {
  W operator()(T a, T b) const { return static_cast<W>(W(a) * W(b)); }
};
template <typename T> struct MadLow {
  T operator()(T a, T b, T c) const { return static_cast<T>(uint64_t(a) * uint64_t(b) + uint64_t(c)); }
};
template <typename T> struct MadHigh {
  T operator()(T a, T b, T c) const { return static_cast<T>(Unsigned<T>(MultiplyHigh<T>()(a, b)) + Unsigned<T>(c)); }
};
struct MadHighSaturated {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t(MultiplyHigh<int32_t>()(a, b)) + c, INT32_MIN, INT32_MAX));
  }
};
template <typename T, typename W> struct MadWide {
  W operator()(T a, T b, W c) const { return static_cast<W>(Unsigned<W>(W(a) * W(b)) + Unsigned<W>(c)); }
};
template <typename T> struct Sad {
  T operator()(T a, T b, T c) const {
    return static_cast<T>(Unsigned<T>(c) + (a < b ? Unsigned<T>(b) - Unsigned<T>(a) : Unsigned<T>(a) - Unsigned<T>(b)));
  }
};
template <typename T, bool high> struct Multiply24 {
  T operator()(T a, T b) const {
    int64_t x = std::is_signed_v<T> ? int64_t(int32_t(uint32_t(a) << 8) >> 8) : int64_t(uint32_t(a) & 0xFFFFFF);
    int64_t y = std::is_signed_v<T> ? int64_t(int32_t(uint32_t(b) << 8) >> 8) : int64_t(uint32_t(b) & 0xFFFFFF);
    return static_cast<T>(high ? (x * y) >> 16 : x * y);
  }
};
template <typename T, bool high> struct Mad24 {
  T operator()(T a, T b, T c) const { return static_cast<T>(uint32_t(Multiply24<T, high>()(a, b)) + uint32_t(c)); }
};
struct SaturatedMad24 { // mad24.hi.sat.s32
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    int64_t sum = int64_t(Multiply24<int32_t, true>()(a, b)) + c;
    return static_cast<int32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
  }
};
template <typename T, template <typename> class F> struct PairOf { // two 16-bit integers
  uint32_t operator()(uint32_t a, uint32_t b) const {
    uint32_t low = uint16_t(F<T>()(T(a), T(b))), high = uint16_t(F<T>()(T(a >> 16), T(b >> 16)));
    return low | high << 16;
  }
};

// --- carry chains: add.cc, addc, sub.cc, subc, mad.cc, madc ---
enum CarryFlag : uint32_t { CarryOut = 1, CarryIn = 2, CarrySubtract = 4, CarryHigh = 8, CarryMultiply = 16 };
template <typename T> Status carryHandler(Warp &warp, const Op &op, uint32_t mask) {
  using U = Unsigned<T>;
  const U *a = warp.at<U>(op.a), *b = warp.at<U>(op.b), *c = warp.at<U>(op.c);
  U *d = warp.at<U>(op.d);
  forEachLane(mask, [&](unsigned i) {
    U x = a[i], y = b[i];
    unsigned __int128 sum;
    bool subtracts = op.flags & CarrySubtract;
    // One flag serves both: a subtraction adds the complement and one, so it leaves 1 where there was no borrow.
    unsigned __int128 in = (op.flags & CarryIn) ? warp.carry[i] : subtracts;
    if (op.flags & CarryMultiply) {
      x = (op.flags & CarryHigh) ? U(MultiplyHigh<T>()(T(x), T(y))) : U(x * y);
      y = c[i];
    }
    sum = (unsigned __int128)x + (subtracts ? U(~y) : y) + in;
    d[i] = static_cast<U>(sum);
    if (op.flags & CarryOut)
      warp.carry[i] = static_cast<uint32_t>(sum >> (sizeof(U) * 8)) & 1;
  });
  return Status::Next;
}

void decodeCarry(Decoder &decoder, ScalarType type, uint32_t flags, size_t sources) {
  decoder.finishModifiers();
  decoder.expectOperands(1 + sources, 1 + sources);
  Op &op = decoder.op;
  op.flags = flags;
  op.d = decoder.destination(decoder.operand(0), rowBytesOf(type));
  op.a = op.c = decoder.valueOf(decoder.operand(1), type);
  op.b = decoder.valueOf(decoder.operand(2), type);
  if (sources > 2)
    op.c = decoder.valueOf(decoder.operand(3), type);
  Handler handler = nullptr;
  switch (type) {
  case ScalarType::U32:
    handler = carryHandler<uint32_t>;
    break;
  case ScalarType::S32:
    handler = carryHandler<int32_t>;
    break;
  case ScalarType::U64:
    handler = carryHandler<uint64_t>;
    break;
  case ScalarType::S64:
    handler = carryHandler<int64_t>;
    break;
  default:
    decoder.refuse("its type must have 32 or 64 bits");
  }
  decoder.emit(handler, InstructionClass::Integer);
}

void simple(Decoder &decoder, ScalarType destination, std::initializer_list<ScalarType> sources, Handler handler,
            InstructionClass kind = InstructionClass::Integer) {
  decoder.finishModifiers();
  decoder.expectOperands(1 + sources.size(), 1 + sources.size());
  Op &op = decoder.op;
  op.d = decoder.destination(decoder.operand(0), rowBytesOf(destination));
  Slot *slots[] = {&op.a, &op.b, &op.c, &op.e};
  size_t i = 0;
  for (ScalarType source : sources) {
    *slots[i] = decoder.valueOf(decoder.operand(i + 1), source);
    ++i;
  }
  decoder.emit(handler, kind);
}

template <template <typename> class F> Handler integerBinary(Decoder &decoder, ScalarType type) {
  return forInteger(decoder, type, [](auto t) -> Handler {
    using T = decltype(t);
    return binaryHandler<T, T, T, F<T>>;
  });
}
template <template <typename> class F> Handler integerTernary(Decoder &decoder, ScalarType type) {
  return forInteger(decoder, type, [](auto t) -> Handler {
    using T = decltype(t);
    return ternaryHandler<T, T, T, T, F<T>>;
  });
}
template <template <typename> class F> Handler integerUnary(Decoder &decoder, ScalarType type) {
  return forInteger(decoder, type, [](auto t) -> Handler {
    using T = decltype(t);
    return unaryHandler<T, T, F<T>>;
  });
}

ScalarType asInteger(ScalarType type) { // bit types as unsigned
  return type == ScalarType::B16   ? ScalarType::U16
         : type == ScalarType::B32 ? ScalarType::U32
         : type == ScalarType::B64 ? ScalarType::U64
                                   : type;
}

bool decodeAnyFloat(Decoder &decoder, FloatOperation operation, ScalarType type) {
  if (isHalfType(type))
    decodeHalf(decoder, operation, type);
  else if (isWideFloat(type))
    decodeFloat(decoder, operation, type);
  else
    return false;
  return true;
}

void decodeSum(Decoder &decoder, bool subtract) {
  ScalarType type = asInteger(decoder.takeType());
  if (decodeAnyFloat(decoder, subtract ? FloatOperation::Subtract : FloatOperation::Add, type))
    return;
  if (decoder.take("cc"))
    return decodeCarry(decoder, type, CarryOut | (subtract ? uint32_t(CarrySubtract) : 0), 2);
  if (decoder.take("sat")) {
    if (type != ScalarType::S32)
      decoder.refuse("integers saturate as .s32 only");
    return simple(decoder, type, {type, type},
                  subtract ? (Handler)binaryHandler<int32_t, int32_t, int32_t, SubtractSaturated>
                           : (Handler)binaryHandler<int32_t, int32_t, int32_t, AddSaturated>);
  }
  if (type == ScalarType::U16x2 || type == ScalarType::S16x2)
    return simple(decoder, type, {type, type},
                  subtract ? (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, PairOf<uint16_t, Subtract>>
                           : (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, PairOf<uint16_t, Add>>);
  simple(decoder, type, {type, type},
         subtract ? integerBinary<Subtract>(decoder, type) : integerBinary<Add>(decoder, type));
}
void decodeAdd(Decoder &decoder) { decodeSum(decoder, false); }
void decodeSubtract(Decoder &decoder) { decodeSum(decoder, true); }
void decodeAddCarry(Decoder &decoder) {
  uint32_t flags = CarryIn | (decoder.take("cc") ? uint32_t(CarryOut) : 0);
  decodeCarry(decoder, asInteger(decoder.takeType()), flags, 2);
}
void decodeSubtractCarry(Decoder &decoder) {
  uint32_t flags = CarryIn | CarrySubtract | (decoder.take("cc") ? uint32_t(CarryOut) : 0);
  decodeCarry(decoder, asInteger(decoder.takeType()), flags, 2);
}

ScalarType widened(ScalarType type) {
  switch (type) {
  case ScalarType::U16:
    return ScalarType::U32;
  case ScalarType::S16:
    return ScalarType::S32;
  case ScalarType::U32:
    return ScalarType::U64;
  case ScalarType::S32:
    return ScalarType::S64;
  default:
    return ScalarType::None;
  }
}

void decodeMultiply(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (decodeAnyFloat(decoder, FloatOperation::Multiply, type))
    return;
  if (decoder.take("wide")) {
    Handler handler = nullptr;
    switch (type) {
    case ScalarType::U16:
      handler = binaryHandler<uint32_t, uint16_t, uint16_t, MultiplyWide<uint16_t, uint32_t>>;
      break;
    case ScalarType::S16:
      handler = binaryHandler<int32_t, int16_t, int16_t, MultiplyWide<int16_t, int32_t>>;
      break;
    case ScalarType::U32:
      handler = binaryHandler<uint64_t, uint32_t, uint32_t, MultiplyWide<uint32_t, uint64_t>>;
      break;
    case ScalarType::S32:
      handler = binaryHandler<int64_t, int32_t, int32_t, MultiplyWide<int32_t, int64_t>>;
      break;
    default:
      decoder.refuse(".wide is for 16 and 32 bits");
    }
    return simple(decoder, widened(type), {type, type}, handler);
  }
  bool high = decoder.take("hi");
  if (!high && !decoder.take("lo"))
    decoder.refuse("integers are multiplied .lo, .hi or .wide");
  simple(decoder, type, {type, type},
         high ? integerBinary<MultiplyHigh>(decoder, type) : integerBinary<MultiplyLow>(decoder, type));
}

void decodeMad(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (isWideFloat(type) || isHalfType(type)) {
    decodeAnyFloat(decoder, FloatOperation::Fma, type);
    return;
  }
  if (decoder.take("wide")) {
    Handler handler = nullptr;
    switch (type) {
    case ScalarType::U16:
      handler = ternaryHandler<uint32_t, uint16_t, uint16_t, uint32_t, MadWide<uint16_t, uint32_t>>;
      break;
    case ScalarType::S16:
      handler = ternaryHandler<int32_t, int16_t, int16_t, int32_t, MadWide<int16_t, int32_t>>;
      break;
    case ScalarType::U32:
      handler = ternaryHandler<uint64_t, uint32_t, uint32_t, uint64_t, MadWide<uint32_t, uint64_t>>;
      break;
    case ScalarType::S32:
      handler = ternaryHandler<int64_t, int32_t, int32_t, int64_t, MadWide<int32_t, int64_t>>;
      break;
    default:
      decoder.refuse(".wide is for 16 and 32 bits");
    }
    return simple(decoder, widened(type), {type, type, widened(type)}, handler);
  }
  bool high = decoder.take("hi");
  if (!high && !decoder.take("lo"))
    decoder.refuse("integers are multiplied .lo, .hi or .wide");
  if (decoder.take("cc"))
    return decodeCarry(decoder, type, CarryMultiply | CarryOut | (high ? uint32_t(CarryHigh) : 0), 3);
  if (decoder.take("sat")) {
    if (!high || type != ScalarType::S32)
      decoder.refuse("only mad.hi.sat.s32 saturates");
    return simple(decoder, type, {type, type, type},
                  ternaryHandler<int32_t, int32_t, int32_t, int32_t, MadHighSaturated>);
  }
  simple(decoder, type, {type, type, type},
         high ? integerTernary<MadHigh>(decoder, type) : integerTernary<MadLow>(decoder, type));
}
void decodeMadCarry(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  bool high = decoder.take("hi");
  if (!high && !decoder.take("lo"))
    decoder.refuse("integers are multiplied .lo or .hi");
  uint32_t flags =
      CarryMultiply | CarryIn | (high ? uint32_t(CarryHigh) : 0) | (decoder.take("cc") ? uint32_t(CarryOut) : 0);
  decodeCarry(decoder, type, flags, 3);
}
void decodeFma(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (!decodeAnyFloat(decoder, FloatOperation::Fma, type))
    decoder.refuse("fma is for floats");
}

template <bool mad> void decode24(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  bool high = decoder.take("hi");
  if (!high && !decoder.take("lo"))
    decoder.refuse("it is .lo or .hi");
  if (type != ScalarType::U32 && type != ScalarType::S32)
    decoder.refuse("it is for .u32 and .s32");
  bool isSigned = type == ScalarType::S32;
  if constexpr (mad) {
    if (decoder.take("sat")) {
      if (!high || !isSigned)
        decoder.refuse(".sat is for .hi.s32");
      return simple(decoder, type, {type, type, type},
                    ternaryHandler<int32_t, int32_t, int32_t, int32_t, SaturatedMad24>);
    }
    simple(decoder, type, {type, type, type},
           isSigned ? (high ? (Handler)ternaryHandler<int32_t, int32_t, int32_t, int32_t, Mad24<int32_t, true>>
                            : (Handler)ternaryHandler<int32_t, int32_t, int32_t, int32_t, Mad24<int32_t, false>>)
                    : (high ? (Handler)ternaryHandler<uint32_t, uint32_t, uint32_t, uint32_t, Mad24<uint32_t, true>>
                            : (Handler)ternaryHandler<uint32_t, uint32_t, uint32_t, uint32_t, Mad24<uint32_t, false>>));
  } else {
    simple(decoder, type, {type, type},
           isSigned ? (high ? (Handler)binaryHandler<int32_t, int32_t, int32_t, Multiply24<int32_t, true>>
                            : (Handler)binaryHandler<int32_t, int32_t, int32_t, Multiply24<int32_t, false>>)
                    : (high ? (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, Multiply24<uint32_t, true>>
                            : (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, Multiply24<uint32_t, false>>));
  }
}

void decodeRemainder(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  simple(decoder, type, {type, type}, integerBinary<Remainder>(decoder, type));
}
void decodeSad(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  simple(decoder, type, {type, type, type}, integerTernary<Sad>(decoder, type));
}
void decodeAbsolute(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (decodeAnyFloat(decoder, FloatOperation::Absolute, type))
    return;
  if (!isSigned(type))
    decoder.refuse("abs is for signed integers and floats");
  simple(decoder, type, {type}, integerUnary<Absolute>(decoder, type));
}
void decodeNegate(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (decodeAnyFloat(decoder, FloatOperation::Negate, type))
    return;
  simple(decoder, type, {type}, integerUnary<Negate>(decoder, type));
}

template <bool maximum> void decodeExtreme(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (decodeAnyFloat(decoder, maximum ? FloatOperation::Maximum : FloatOperation::Minimum, type))
    return;
  bool relu = decoder.take("relu");
  if (type == ScalarType::U16x2 || type == ScalarType::S16x2) {
    Handler handler;
    if (type == ScalarType::U16x2) {
      if (relu)
        decoder.refuse(".relu is for signed types");
      handler = maximum ? (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, PairOf<uint16_t, Maximum>>
                        : (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, PairOf<uint16_t, Minimum>>;
    } else if (relu) {
      handler = maximum ? (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, PairOf<int16_t, MaximumRelu>>
                        : (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, PairOf<int16_t, MinimumRelu>>;
    } else {
      handler = maximum ? (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, PairOf<int16_t, Maximum>>
                        : (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, PairOf<int16_t, Minimum>>;
    }
    return simple(decoder, type, {type, type}, handler);
  }
  if (relu) {
    if (type != ScalarType::S32)
      decoder.refuse(".relu is for .s32 and .s16x2");
    return simple(decoder, type, {type, type},
                  maximum ? (Handler)binaryHandler<int32_t, int32_t, int32_t, MaximumRelu<int32_t>>
                          : (Handler)binaryHandler<int32_t, int32_t, int32_t, MinimumRelu<int32_t>>);
  }
  simple(decoder, type, {type, type},
         maximum ? integerBinary<Maximum>(decoder, type) : integerBinary<Minimum>(decoder, type));
}

// --- dot products of bytes ---
enum DotFlag : uint32_t { DotASigned = 1, DotBSigned = 2, DotHigh = 4 };
int32_t byteOf(uint32_t value, unsigned index, bool isSigned) {
  uint32_t byte = value >> (index * 8) & 0xFF;
  return isSigned ? int32_t(int8_t(byte)) : int32_t(byte);
}
Status dp4aHandler(Warp &warp, const Op &op, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(op.a), *b = warp.at<uint32_t>(op.b), *c = warp.at<uint32_t>(op.c);
  bool aSigned = op.flags & DotASigned, bSigned = op.flags & DotBSigned;
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) {
    uint32_t sum = c[i];
    for (unsigned k = 0; k < 4; ++k)
      sum += static_cast<uint32_t>(byteOf(a[i], k, aSigned) * byteOf(b[i], k, bSigned));
    return sum;
  });
  return Status::Next;
}
Status dp2aHandler(Warp &warp, const Op &op, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(op.a), *b = warp.at<uint32_t>(op.b), *c = warp.at<uint32_t>(op.c);
  bool aSigned = op.flags & DotASigned, bSigned = op.flags & DotBSigned;
  unsigned first = op.flags & DotHigh ? 2 : 0;
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) {
    uint32_t sum = c[i];
    for (unsigned k = 0; k < 2; ++k) {
      uint32_t half = a[i] >> (k * 16) & 0xFFFF;
      int64_t x = aSigned ? int64_t(int16_t(half)) : int64_t(half);
      sum += static_cast<uint32_t>(x * byteOf(b[i], first + k, bSigned));
    }
    return sum;
  });
  return Status::Next;
}
template <bool four> void decodeDot(Decoder &decoder) {
  if (!four) {
    bool high = decoder.take("hi");
    if (!high && !decoder.take("lo"))
      decoder.refuse("it is .lo or .hi");
    decoder.op.flags |= high ? uint32_t(DotHigh) : 0;
  }
  for (uint32_t flag : {uint32_t(DotASigned), uint32_t(DotBSigned)}) {
    std::string_view word = decoder.nextWord();
    if (word != "u32" && word != "s32")
      decoder.refuse("its types are .u32 or .s32");
    decoder.op.flags |= word == "s32" ? flag : 0;
  }
  simple(decoder, ScalarType::U32, {ScalarType::U32, ScalarType::U32, ScalarType::U32},
         four ? dp4aHandler : dp2aHandler);
}

void decodeDivide(Decoder &decoder);

} // namespace

void decodeFloatDivide(Decoder &decoder, ScalarType type); // Math.cpp

namespace {
void decodeDivide(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (isWideFloat(type))
    return decodeFloatDivide(decoder, type);
  simple(decoder, type, {type, type}, integerBinary<Divide>(decoder, type));
}
} // namespace

const std::vector<DecoderEntry> arithmeticDecoders = {
    {"add", decodeAdd},           {"sub", decodeSubtract},   {"addc", decodeAddCarry},  {"subc", decodeSubtractCarry},
    {"mul", decodeMultiply},      {"mad", decodeMad},        {"madc", decodeMadCarry},  {"fma", decodeFma},
    {"mul24", decode24<false>},   {"mad24", decode24<true>}, {"div", decodeDivide},     {"rem", decodeRemainder},
    {"sad", decodeSad},           {"abs", decodeAbsolute},   {"neg", decodeNegate},     {"min", decodeExtreme<false>},
    {"max", decodeExtreme<true>}, {"dp4a", decodeDot<true>}, {"dp2a", decodeDot<false>}};

} // namespace nacre::simulator
