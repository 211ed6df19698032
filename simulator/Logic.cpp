// Bits: and, or, xor, not, cnot, lop3, shifts, fields, counts, prmt.
#include "simulator/Execute.h"

namespace nacre::simulator {
namespace {

struct And {
  template <typename T> T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
struct Or {
  template <typename T> T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
struct Xor {
  template <typename T> T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};
struct Not {
  template <typename T> T operator()(T a) const { return static_cast<T>(~a); }
};
struct CNot {
  template <typename T> T operator()(T a) const { return static_cast<T>(a == 0); }
};

template <typename F> Status predicateBinary(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t a = warp.predicate(op.a), b = warp.predicate(op.b);
  uint32_t result = F()(op.flags & 1 ? ~a : a, op.flags & 2 ? ~b : b);
  uint32_t &d = warp.predicate(op.d);
  d = (d & ~mask) | (result & mask);
  return Status::Next;
}
Status predicateNot(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t result = ~warp.predicate(op.a);
  uint32_t &d = warp.predicate(op.d);
  d = (d & ~mask) | (result & mask);
  return Status::Next;
}

void sources(Decoder &decoder, ScalarType result, std::initializer_list<ScalarType> types, Handler handler) {
  decoder.finishModifiers();
  decoder.expectOperands(1 + types.size(), 1 + types.size());
  Op &op = decoder.op;
  op.d = decoder.destination(decoder.operand(0), rowBytesOf(result));
  Slot *slots[] = {&op.a, &op.b, &op.c, &op.e};
  size_t i = 0;
  for (ScalarType type : types) {
    *slots[i] = decoder.valueOf(decoder.operand(i + 1), type);
    ++i;
  }
  decoder.emit(handler, InstructionClass::Logic);
}

template <typename F> void decodeBinary(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (type == ScalarType::Predicate) {
    decoder.finishModifiers();
    decoder.expectOperands(3, 3);
    Op &op = decoder.op;
    op.d = decoder.destination(decoder.operand(0), 0);
    op.a = decoder.predicate(decoder.operand(1));
    op.b = decoder.predicate(decoder.operand(2));
    op.flags = uint32_t(decoder.operand(1).negated) | uint32_t(decoder.operand(2).negated) << 1;
    return decoder.emit(predicateBinary<F>, InstructionClass::Logic);
  }
  sources(decoder, type, {type, type}, forBits(decoder, type, [](auto t) -> Handler {
            using T = decltype(t);
            return binaryHandler<T, T, T, F>;
          }));
}
template <typename F> void decodeUnary(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (type == ScalarType::Predicate) {
    decoder.finishModifiers();
    decoder.expectOperands(2, 2);
    decoder.op.d = decoder.destination(decoder.operand(0), 0);
    decoder.op.a = decoder.predicate(decoder.operand(1));
    return decoder.emit(predicateNot, InstructionClass::Logic);
  }
  sources(decoder, type, {type}, forBits(decoder, type, [](auto t) -> Handler {
            using T = decltype(t);
            return unaryHandler<T, T, F>;
          }));
}

uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (table >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}
Status lop3Handler(Warp &warp, const Op &op, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(op.a), *b = warp.at<uint32_t>(op.b), *c = warp.at<uint32_t>(op.c);
  uint32_t table = op.extra & 0xFF;
  uint32_t result[laneCount];
  for (unsigned i = 0; i < laneCount; ++i)
    result[i] = lop3(a[i], b[i], c[i], table);
  if (op.flags) { // d|p = ... BoolOp q
    uint32_t nonzero = 0, q = warp.predicate(op.e);
    if (op.extra >> 8 & 1)
      q = ~q;
    for (unsigned i = 0; i < laneCount; ++i)
      nonzero |= uint32_t(result[i] != 0) << i;
    uint32_t combined = op.flags == 1 ? nonzero | q : nonzero & q;
    uint32_t &p = warp.predicate(warp.program->parts[op.first].slot);
    p = (p & ~mask) | (combined & mask);
  }
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) { return result[i]; });
  return Status::Next;
}
void decodeLop3(Decoder &decoder) {
  Op &op = decoder.op;
  std::string_view boolean = decoder.takeOneOf({"or", "and"});
  decoder.take("b32");
  decoder.finishModifiers();
  decoder.expectOperands(boolean.empty() ? 5 : 6, boolean.empty() ? 5 : 6);
  const Operand &destination = decoder.operand(0);
  op.d = decoder.destination(destination, 4);
  op.a = decoder.valueOf(decoder.operand(1), ScalarType::B32);
  op.b = decoder.valueOf(decoder.operand(2), ScalarType::B32);
  op.c = decoder.valueOf(decoder.operand(3), ScalarType::B32);
  op.extra = static_cast<uint32_t>(decoder.immediate(decoder.operand(4)) & 0xFF);
  if (!boolean.empty()) {
    if (!destination.second)
      decoder.refuse("its second destination is missing");
    op.flags = boolean == "or" ? 1 : 2;
    op.e = decoder.predicate(decoder.operand(5));
    op.extra |= uint32_t(decoder.operand(5).negated) << 8;
    decoder.addParts(*destination.second, true);
  }
  decoder.emit(lop3Handler, InstructionClass::Logic);
}

template <typename T> struct ShiftLeft {
  T operator()(T a, uint32_t b) const { return b >= sizeof(T) * 8 ? T(0) : static_cast<T>(a << b); }
};
template <typename T> struct ShiftRight {
  T operator()(T a, uint32_t b) const {
    if (b >= sizeof(T) * 8)
      return static_cast<T>(std::is_signed_v<T> && a < 0 ? -1 : 0);
    return static_cast<T>(a >> b);
  }
};
void decodeShiftLeft(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  sources(decoder, type, {type, ScalarType::U32}, forBits(decoder, type, [](auto t) -> Handler {
            using T = decltype(t);
            return binaryHandler<T, T, uint32_t, ShiftLeft<T>>;
          }));
}
void decodeShiftRight(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (type == ScalarType::B16 || type == ScalarType::B32 || type == ScalarType::B64)
    return sources(decoder, type, {type, ScalarType::U32}, forBits(decoder, type, [](auto t) -> Handler {
                     using T = decltype(t);
                     return binaryHandler<T, T, uint32_t, ShiftRight<T>>;
                   }));
  sources(decoder, type, {type, ScalarType::U32}, forInteger(decoder, type, [](auto t) -> Handler {
            using T = decltype(t);
            return binaryHandler<T, T, uint32_t, ShiftRight<T>>;
          }));
}

template <bool left, bool wrap> struct Funnel {
  uint32_t operator()(uint32_t low, uint32_t high, uint32_t count) const {
    uint64_t both = uint64_t(high) << 32 | low;
    uint32_t n = wrap ? count & 31 : (count > 32 ? 32 : count);
    return left ? static_cast<uint32_t>((both << n) >> 32) : static_cast<uint32_t>(both >> n);
  }
};
void decodeFunnel(Decoder &decoder) {
  bool left = decoder.take("l");
  if (!left && !decoder.take("r"))
    decoder.refuse("it is .l or .r");
  bool wrap = decoder.take("wrap");
  if (!wrap && !decoder.take("clamp"))
    decoder.refuse("it is .wrap or .clamp");
  decoder.take("b32");
  ScalarType word = ScalarType::B32;
  Handler handler =
      left ? (wrap ? (Handler)ternaryHandler<uint32_t, uint32_t, uint32_t, uint32_t, Funnel<true, true>>
                   : (Handler)ternaryHandler<uint32_t, uint32_t, uint32_t, uint32_t, Funnel<true, false>>)
           : (wrap ? (Handler)ternaryHandler<uint32_t, uint32_t, uint32_t, uint32_t, Funnel<false, true>>
                   : (Handler)ternaryHandler<uint32_t, uint32_t, uint32_t, uint32_t, Funnel<false, false>>);
  sources(decoder, word, {word, word, word}, handler);
}

template <typename T> struct ExtractField {
  T operator()(T a, uint32_t position, uint32_t length) const {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t width = sizeof(T) * 8;
    position &= 0xFF, length &= 0xFF;
    if (length == 0)
      return 0;
    uint32_t top = std::min(position + length - 1, width - 1);
    bool sign = std::is_signed_v<T> && (U(a) >> top & 1);
    U field = position >= width ? U(0) : U(a) >> position;
    if (length < width) {
      U keep = (U(1) << length) - 1;
      field = field & keep;
    }
    // Bits beyond the source are copies of the sign.
    uint32_t have = position >= width ? 0 : std::min(length, width - position);
    if (sign && have < width)
      field |= have == 0 ? ~U(0) : ~U(0) << have;
    return static_cast<T>(field);
  }
};
void decodeExtract(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (bitsOf(type) < 32)
    decoder.refuse("its type has 32 or 64 bits");
  sources(decoder, type, {type, ScalarType::U32, ScalarType::U32}, forInteger(decoder, type, [](auto t) -> Handler {
            using T = decltype(t);
            return ternaryHandler<T, T, uint32_t, uint32_t, ExtractField<T>>;
          }));
}
template <typename T> Status insertHandler(Warp &warp, const Op &op, uint32_t mask) {
  const T *a = warp.at<T>(op.a), *b = warp.at<T>(op.b);
  const uint32_t *position = warp.at<uint32_t>(op.c), *length = warp.at<uint32_t>(op.e);
  constexpr uint32_t width = sizeof(T) * 8;
  keepActive(mask, warp.at<T>(op.d), [&](unsigned i) {
    uint32_t at = position[i] & 0xFF, count = length[i] & 0xFF;
    if (at >= width || count == 0)
      return b[i];
    T field = count >= width ? ~T(0) : (T(1) << count) - 1;
    field = static_cast<T>(field << at);
    return static_cast<T>((b[i] & ~field) | ((a[i] << at) & field));
  });
  return Status::Next;
}
void decodeInsert(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  sources(decoder, type, {type, type, ScalarType::U32, ScalarType::U32},
          rowBytesOf(type) == 8 ? (Handler)insertHandler<uint64_t> : (Handler)insertHandler<uint32_t>);
}

template <typename T> struct PopulationCount {
  uint32_t operator()(T a) const { return static_cast<uint32_t>(std::popcount(a)); }
};
template <typename T> struct LeadingZeros {
  uint32_t operator()(T a) const { return static_cast<uint32_t>(std::countl_zero(a)); }
};
template <typename T> struct Reverse {
  T operator()(T a) const {
    T result = 0;
    for (unsigned i = 0; i < sizeof(T) * 8; ++i)
      result |= static_cast<T>((a >> i & 1) << (sizeof(T) * 8 - 1 - i));
    return result;
  }
};
template <typename T, bool shift> struct FindTop {
  uint32_t operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    U bits = std::is_signed_v<T> && a < 0 ? static_cast<U>(~U(a)) : U(a);
    if (bits == 0)
      return ~0u;
    auto zeros = static_cast<uint32_t>(std::countl_zero(bits));
    return shift ? zeros : static_cast<uint32_t>(sizeof(T) * 8 - 1) - zeros;
  }
};
template <template <typename> class F> void decodeCount(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  sources(decoder, ScalarType::U32, {type},
          rowBytesOf(type) == 8 ? (Handler)unaryHandler<uint32_t, uint64_t, F<uint64_t>>
                                : (Handler)unaryHandler<uint32_t, uint32_t, F<uint32_t>>);
}
void decodeReverse(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  sources(decoder, type, {type},
          rowBytesOf(type) == 8 ? (Handler)unaryHandler<uint64_t, uint64_t, Reverse<uint64_t>>
                                : (Handler)unaryHandler<uint32_t, uint32_t, Reverse<uint32_t>>);
}
void decodeFind(Decoder &decoder) {
  bool shift = decoder.take("shiftamt");
  ScalarType type = decoder.takeType();
  sources(decoder, ScalarType::U32, {type}, forInteger(decoder, type, [&](auto t) -> Handler {
            using T = decltype(t);
            return shift ? (Handler)unaryHandler<uint32_t, T, FindTop<T, true>>
                         : (Handler)unaryHandler<uint32_t, T, FindTop<T, false>>;
          }));
}

struct FindNth { // fns: the n-th set bit from a base on
  uint32_t operator()(uint32_t mask, uint32_t base, int32_t offset) const {
    base &= 31;
    if (offset == 0)
      return mask >> base & 1 ? base : ~0u;
    int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step)
      if ((mask >> position & 1) && --left == 0)
        return static_cast<uint32_t>(position);
    return ~0u;
  }
};
void decodeFindNth(Decoder &decoder) {
  decoder.take("b32");
  sources(decoder, ScalarType::B32, {ScalarType::B32, ScalarType::B32, ScalarType::S32},
          ternaryHandler<uint32_t, uint32_t, uint32_t, int32_t, FindNth>);
}

template <bool isSigned, bool wrap> struct Extend {
  uint32_t operator()(uint32_t a, uint32_t count) const {
    uint32_t n = wrap ? count & 31 : (count > 32 ? 32 : count);
    if (n == 0)
      return 0;
    if (n >= 32)
      return a;
    return isSigned ? static_cast<uint32_t>(int32_t(a << (32 - n)) >> (32 - n)) : a & ((1u << n) - 1);
  }
};
void decodeExtend(Decoder &decoder) {
  bool wrap = decoder.take("wrap");
  if (!wrap && !decoder.take("clamp"))
    decoder.refuse("it is .wrap or .clamp");
  ScalarType type = decoder.takeType();
  bool isSignedType = type == ScalarType::S32;
  sources(decoder, type, {type, ScalarType::U32},
          isSignedType ? (wrap ? (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, Extend<true, true>>
                               : (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, Extend<true, false>>)
                       : (wrap ? (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, Extend<false, true>>
                               : (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, Extend<false, false>>));
}
template <bool wrap> struct MakeMask {
  uint32_t operator()(uint32_t position, uint32_t count) const {
    if (wrap)
      position &= 31, count &= 31;
    if (position >= 32)
      return 0;
    uint32_t bits = count >= 32 ? ~0u : (1u << count) - 1;
    return bits << position;
  }
};
void decodeMask(Decoder &decoder) {
  bool wrap = decoder.take("wrap");
  if (!wrap && !decoder.take("clamp"))
    decoder.refuse("it is .wrap or .clamp");
  decoder.take("b32");
  sources(decoder, ScalarType::B32, {ScalarType::B32, ScalarType::B32},
          wrap ? (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, MakeMask<true>>
               : (Handler)binaryHandler<uint32_t, uint32_t, uint32_t, MakeMask<false>>);
}

// --- prmt ---
enum class Permute : uint8_t { Default, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };
uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector, Permute mode) {
  uint64_t both = uint64_t(b) << 32 | a;
  auto byteAt = [&](unsigned index) { return static_cast<uint32_t>(both >> (index * 8) & 0xFF); };
  uint32_t result = 0;
  unsigned low = selector & 3;
  static constexpr uint8_t ecl[4][4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
  static constexpr uint8_t ecr[4][4] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t value;
    switch (mode) {
    case Permute::F4e:
      value = byteAt((low + i) & 7);
      break;
    case Permute::B4e:
      value = byteAt((low - i) & 7);
      break;
    case Permute::Rc8:
      value = byteAt(low);
      break;
    case Permute::Ecl:
      value = byteAt(ecl[low][i]);
      break;
    case Permute::Ecr:
      value = byteAt(ecr[low][i]);
      break;
    case Permute::Rc16:
      value = byteAt((low & 1) * 2 + (i & 1));
      break;
    default: {
      uint32_t nibble = selector >> (i * 4) & 15;
      value = byteAt(nibble & 7);
      if (nibble & 8)
        value = value & 0x80 ? 0xFF : 0;
    }
    }
    result |= value << (i * 8);
  }
  return result;
}
Status permuteHandler(Warp &warp, const Op &op, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(op.a), *b = warp.at<uint32_t>(op.b), *c = warp.at<uint32_t>(op.c);
  keepActive(mask, warp.at<uint32_t>(op.d),
             [&](unsigned i) { return permuted(a[i], b[i], c[i], static_cast<Permute>(op.flags)); });
  return Status::Next;
}
void decodePermute(Decoder &decoder) {
  decoder.take("b32");
  std::string_view mode = decoder.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  decoder.op.flags = mode == "f4e"    ? 1
                     : mode == "b4e"  ? 2
                     : mode == "rc8"  ? 3
                     : mode == "ecl"  ? 4
                     : mode == "ecr"  ? 5
                     : mode == "rc16" ? 6
                                      : 0;
  sources(decoder, ScalarType::B32, {ScalarType::B32, ScalarType::B32, ScalarType::B32}, permuteHandler);
}

} // namespace

const std::vector<DecoderEntry> logicDecoders = {{"and", decodeBinary<And>},
                                                 {"or", decodeBinary<Or>},
                                                 {"xor", decodeBinary<Xor>},
                                                 {"not", decodeUnary<Not>},
                                                 {"cnot", decodeUnary<CNot>},
                                                 {"lop3", decodeLop3},
                                                 {"shl", decodeShiftLeft},
                                                 {"shr", decodeShiftRight},
                                                 {"shf", decodeFunnel},
                                                 {"bfe", decodeExtract},
                                                 {"bfi", decodeInsert},
                                                 {"popc", decodeCount<PopulationCount>},
                                                 {"clz", decodeCount<LeadingZeros>},
                                                 {"brev", decodeReverse},
                                                 {"bfind", decodeFind},
                                                 {"fns", decodeFindNth},
                                                 {"szext", decodeExtend},
                                                 {"bmsk", decodeMask},
                                                 {"prmt", decodePermute}};

} // namespace nacre::simulator
