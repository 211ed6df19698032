// setp, set, selp, slct.
#include "simulator/FloatOps.h"

namespace nacre::simulator {
namespace {

enum class Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
constexpr std::pair<std::string_view, Comparison> comparisons[] = {
    {"eq", Comparison::Eq},   {"ne", Comparison::Ne},   {"lt", Comparison::Lt},   {"le", Comparison::Le},
    {"gt", Comparison::Gt},   {"ge", Comparison::Ge},   {"lo", Comparison::Lt},   {"ls", Comparison::Le},
    {"hi", Comparison::Gt},   {"hs", Comparison::Ge},   {"equ", Comparison::Equ}, {"neu", Comparison::Neu},
    {"ltu", Comparison::Ltu}, {"leu", Comparison::Leu}, {"gtu", Comparison::Gtu}, {"geu", Comparison::Geu},
    {"num", Comparison::Num}, {"nan", Comparison::Nan}};

template <typename T> bool compare(Comparison how, T a, T b) {
  bool unordered = a != a || b != b;
  switch (how) {
  case Comparison::Eq:
    return a == b;
  case Comparison::Ne:
    return a != b && !unordered;
  case Comparison::Lt:
    return a < b;
  case Comparison::Le:
    return a <= b;
  case Comparison::Gt:
    return a > b;
  case Comparison::Ge:
    return a >= b;
  case Comparison::Equ:
    return a == b || unordered;
  case Comparison::Neu:
    return a != b || unordered;
  case Comparison::Ltu:
    return a < b || unordered;
  case Comparison::Leu:
    return a <= b || unordered;
  case Comparison::Gtu:
    return a > b || unordered;
  case Comparison::Geu:
    return a >= b || unordered;
  case Comparison::Num:
    return !unordered;
  default:
    return unordered;
  }
}

// flags: comparison, boolean operation with a third predicate, flush, negations
enum CompareFlag : uint32_t {
  ComparisonMask = 15,
  AndFlag = 16,
  OrFlag = 32,
  XorFlag = 64,
  FlushInputs = 128,
  NegatedThird = 256,
  HasSecond = 512,
  FloatResult = 1024,
  ShortResult = 2048
};

template <typename T> uint32_t compareRows(Warp &warp, const Op &op) {
  const Element<T> *a = warp.at<Element<T>>(op.a), *b = warp.at<Element<T>>(op.b);
  auto how = static_cast<Comparison>(op.flags & ComparisonMask);
  uint32_t result = 0;
  auto all = [&](auto test) {
    uint8_t bits[laneCount];
    for (unsigned i = 0; i < laneCount; ++i) {
      T x = fromElement<T>(a[i]), y = fromElement<T>(b[i]);
      if constexpr (std::is_same_v<T, float>)
        if (op.flags & FlushInputs)
          x = flushed(x), y = flushed(y);
      bits[i] = test(x, y);
    }
    for (unsigned i = 0; i < laneCount; ++i)
      result |= uint32_t(bits[i]) << i;
  };
  switch (how) {
  case Comparison::Eq:
    all([](T x, T y) { return x == y; });
    break;
  case Comparison::Lt:
    all([](T x, T y) { return x < y; });
    break;
  case Comparison::Le:
    all([](T x, T y) { return x <= y; });
    break;
  case Comparison::Gt:
    all([](T x, T y) { return x > y; });
    break;
  case Comparison::Ge:
    all([](T x, T y) { return x >= y; });
    break;
  default:
    all([how](T x, T y) { return compare(how, x, y); });
  }
  return result;
}
// 16-bit floats, low or high half of the row's words.
template <bool brain> uint32_t compareHalves(Warp &warp, const Op &op, unsigned shift) {
  const uint32_t *a = warp.at<uint32_t>(op.a), *b = warp.at<uint32_t>(op.b);
  auto how = static_cast<Comparison>(op.flags & ComparisonMask);
  uint32_t result = 0;
  for (unsigned i = 0; i < laneCount; ++i) {
    auto x = static_cast<uint16_t>(a[i] >> shift), y = static_cast<uint16_t>(b[i] >> shift);
    if (op.flags & FlushInputs) {
      x = (x & (brain ? 0x7F80 : 0x7C00)) == 0 ? x & 0x8000 : x;
      y = (y & (brain ? 0x7F80 : 0x7C00)) == 0 ? y & 0x8000 : y;
    }
    result |= uint32_t(compare<float>(how, brain ? bfloatToFloat(x) : halfToFloat(x),
                                      brain ? bfloatToFloat(y) : halfToFloat(y)))
              << i;
  }
  return result;
}

uint32_t combine(Warp &warp, const Op &op, uint32_t result) {
  if (!(op.flags & (AndFlag | OrFlag | XorFlag)))
    return result;
  uint32_t third = warp.predicate(op.c);
  if (op.flags & NegatedThird)
    third = ~third;
  return op.flags & AndFlag ? result & third : op.flags & OrFlag ? result | third : result ^ third;
}
void put(Warp &warp, Slot slot, uint32_t mask, uint32_t value) {
  uint32_t &d = warp.predicate(slot);
  d = (d & ~mask) | (value & mask);
}

template <typename T> Status setpHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t result = compareRows<T>(warp, op), other = 0;
  if (op.flags & HasSecond)
    other = combine(warp, op, ~result);
  put(warp, op.d, mask, combine(warp, op, result));
  if (op.flags & HasSecond)
    put(warp, op.e, mask, other);
  return Status::Next;
}
template <bool brain, bool pair> Status setpHalfHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t low = compareHalves<brain>(warp, op, 0);
  uint32_t second = pair ? combine(warp, op, compareHalves<brain>(warp, op, 16)) : combine(warp, op, ~low);
  put(warp, op.d, mask, combine(warp, op, low));
  if (op.flags & HasSecond)
    put(warp, op.e, mask, second);
  return Status::Next;
}

uint32_t compareAny(Warp &warp, const Op &op) {
  switch (op.type) {
  case ScalarType::U16:
  case ScalarType::B16:
    return compareRows<uint16_t>(warp, op);
  case ScalarType::S16:
    return compareRows<int16_t>(warp, op);
  case ScalarType::U32:
  case ScalarType::B32:
    return compareRows<uint32_t>(warp, op);
  case ScalarType::S32:
    return compareRows<int32_t>(warp, op);
  case ScalarType::U64:
  case ScalarType::B64:
    return compareRows<uint64_t>(warp, op);
  case ScalarType::S64:
    return compareRows<int64_t>(warp, op);
  case ScalarType::F32:
    return compareRows<float>(warp, op);
  case ScalarType::F64:
    return compareRows<double>(warp, op);
  case ScalarType::F16:
  case ScalarType::F16x2:
    return compareHalves<false>(warp, op, 0);
  default:
    return compareHalves<true>(warp, op, 0);
  }
}
// set: the answer as an integer of all ones, or as 1.0.
Status setHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint32_t result = combine(warp, op, compareAny(warp, op)), high = 0;
  bool pair = op.type == ScalarType::F16x2 || op.type == ScalarType::BF16x2;
  if (pair)
    high =
        combine(warp, op,
                op.type == ScalarType::F16x2 ? compareHalves<false>(warp, op, 16) : compareHalves<true>(warp, op, 16));
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) {
    bool yes = result >> i & 1;
    uint32_t one = op.extra;
    if (pair)
      return (yes ? one & 0xFFFF : 0) | ((high >> i & 1) ? one & 0xFFFF0000 : 0);
    return yes ? one : 0u;
  });
  return Status::Next;
}

Comparison takeComparison(Decoder &decoder) {
  for (auto &[name, how] : comparisons)
    if (decoder.take(name))
      return how;
  decoder.refuse("its comparison is missing");
}

void takeBoolean(Decoder &decoder, size_t thirdOperand) {
  Op &op = decoder.op;
  std::string_view word = decoder.takeOneOf({"and", "or", "xor"});
  if (word.empty())
    return;
  op.flags |= word == "and" ? AndFlag : word == "or" ? OrFlag : XorFlag;
  const Operand &third = decoder.operand(thirdOperand);
  op.c = decoder.predicate(third);
  op.flags |= third.negated ? uint32_t(NegatedThird) : 0;
}

void decodeSetp(Decoder &decoder) {
  Op &op = decoder.op;
  op.flags = uint32_t(takeComparison(decoder));
  takeBoolean(decoder, 3);
  op.flags |= decoder.take("ftz") ? uint32_t(FlushInputs) : 0;
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(op.flags & (AndFlag | OrFlag | XorFlag) ? 4 : 3, 4);
  const Operand &destination = decoder.operand(0);
  op.d = decoder.destination(destination, 0);
  if (destination.second) {
    op.e = decoder.destination(*destination.second, 0);
    op.flags |= HasSecond;
  }
  op.a = decoder.valueOf(decoder.operand(1), type);
  op.b = decoder.valueOf(decoder.operand(2), type);
  Handler handler = nullptr;
  switch (type) {
  case ScalarType::U16:
  case ScalarType::B16:
    handler = setpHandler<uint16_t>;
    break;
  case ScalarType::S16:
    handler = setpHandler<int16_t>;
    break;
  case ScalarType::U32:
  case ScalarType::B32:
    handler = setpHandler<uint32_t>;
    break;
  case ScalarType::S32:
    handler = setpHandler<int32_t>;
    break;
  case ScalarType::U64:
  case ScalarType::B64:
    handler = setpHandler<uint64_t>;
    break;
  case ScalarType::S64:
    handler = setpHandler<int64_t>;
    break;
  case ScalarType::F32:
    handler = setpHandler<float>;
    break;
  case ScalarType::F64:
    handler = setpHandler<double>;
    break;
  case ScalarType::F16:
    handler = setpHalfHandler<false, false>;
    break;
  case ScalarType::F16x2:
    handler = setpHalfHandler<false, true>;
    break;
  case ScalarType::BF16:
    handler = setpHalfHandler<true, false>;
    break;
  case ScalarType::BF16x2:
    handler = setpHalfHandler<true, true>;
    break;
  default:
    decoder.refuse(std::string("its type cannot be .") + nameOf(type));
  }
  decoder.emit(handler, InstructionClass::Compare);
}

void decodeSet(Decoder &decoder) {
  Op &op = decoder.op;
  op.flags = uint32_t(takeComparison(decoder));
  takeBoolean(decoder, 3);
  op.flags |= decoder.take("ftz") ? uint32_t(FlushInputs) : 0;
  ScalarType result = decoder.takeType(), type = decoder.takeType();
  decoder.finishModifiers();
  switch (result) {
  case ScalarType::U32:
  case ScalarType::S32:
    op.extra = ~0u;
    break;
  case ScalarType::U16:
  case ScalarType::S16:
    op.extra = 0xFFFF;
    break;
  case ScalarType::F32:
    op.extra = 0x3F800000;
    break;
  case ScalarType::F16:
    op.extra = 0x3C00;
    break;
  case ScalarType::F16x2:
    op.extra = 0x3C003C00;
    break;
  case ScalarType::BF16:
    op.extra = 0x3F80;
    break;
  case ScalarType::BF16x2:
    op.extra = 0x3F803F80;
    break;
  default:
    decoder.refuse(std::string("its result cannot be .") + nameOf(result));
  }
  op.type = type;
  op.d = decoder.destination(decoder.operand(0), 4);
  op.a = decoder.valueOf(decoder.operand(1), type);
  op.b = decoder.valueOf(decoder.operand(2), type);
  decoder.emit(setHandler, InstructionClass::Compare);
}

template <typename E> Status selpHandler(Warp &warp, const Op &op, uint32_t mask) {
  const E *a = warp.at<E>(op.a), *b = warp.at<E>(op.b);
  uint32_t choice = warp.predicate(op.c);
  if (op.flags)
    choice = ~choice;
  keepActive(mask, warp.at<E>(op.d), [&](unsigned i) { return (choice >> i & 1) ? a[i] : b[i]; });
  return Status::Next;
}
void decodeSelp(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(4, 4);
  if (rowBytesOf(type) != 4 && rowBytesOf(type) != 8)
    decoder.refuse(std::string("its type cannot be .") + nameOf(type));
  Op &op = decoder.op;
  op.d = decoder.destination(decoder.operand(0), rowBytesOf(type));
  op.a = decoder.valueOf(decoder.operand(1), type);
  op.b = decoder.valueOf(decoder.operand(2), type);
  op.c = decoder.predicate(decoder.operand(3));
  op.flags = decoder.operand(3).negated;
  decoder.emit(rowBytesOf(type) == 8 ? (Handler)selpHandler<uint64_t> : (Handler)selpHandler<uint32_t>,
               InstructionClass::Move);
}

template <typename E, bool isFloatTest> Status slctHandler(Warp &warp, const Op &op, uint32_t mask) {
  const E *a = warp.at<E>(op.a), *b = warp.at<E>(op.b);
  const uint32_t *c = warp.at<uint32_t>(op.c);
  bool flush = op.flags;
  keepActive(mask, warp.at<E>(op.d), [&](unsigned i) {
    float test = std::bit_cast<float>(c[i]);
    bool first = isFloatTest ? (flush ? flushed(test) : test) >= 0.0f : int32_t(c[i]) >= 0;
    return first ? a[i] : b[i];
  });
  return Status::Next;
}
void decodeSlct(Decoder &decoder) {
  Op &op = decoder.op;
  op.flags = decoder.take("ftz");
  ScalarType type = decoder.takeType(), test = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(4, 4);
  if (test != ScalarType::S32 && test != ScalarType::F32)
    decoder.refuse("what it looks at is .s32 or .f32");
  op.d = decoder.destination(decoder.operand(0), rowBytesOf(type));
  op.a = decoder.valueOf(decoder.operand(1), type);
  op.b = decoder.valueOf(decoder.operand(2), type);
  op.c = decoder.valueOf(decoder.operand(3), test);
  bool wide = rowBytesOf(type) == 8, isFloatTest = test == ScalarType::F32;
  decoder.emit(wide ? (isFloatTest ? (Handler)slctHandler<uint64_t, true> : (Handler)slctHandler<uint64_t, false>)
                    : (isFloatTest ? (Handler)slctHandler<uint32_t, true> : (Handler)slctHandler<uint32_t, false>),
               InstructionClass::Move);
}

} // namespace

const std::vector<DecoderEntry> compareDecoders = {
    {"setp", decodeSetp}, {"set", decodeSet}, {"selp", decodeSelp}, {"slct", decodeSlct}};

} // namespace nacre::simulator
