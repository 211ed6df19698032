// Video instructions: scalars of a byte, a half or a word of each operand (vadd, vsub, vabsdiff, vmin, vmax, vshl,
// vshr, vset, vmad), and two halves or four bytes side by side (vadd2 to vset4).
#include "simulator/Execute.h"
#include <algorithm>
#include <array>

namespace nacre::simulator {
namespace {

enum class Operation : uint8_t {
  Add,
  Subtract,
  AbsoluteDifference,
  Minimum,
  Maximum,
  ShiftLeft,
  ShiftRight,
  Average,
  Set,
  Multiply
};
enum class Second : uint8_t { None, Add, Minimum, Maximum };
enum class Comparison : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

struct VideoPlan {
  Operation operation = Operation::Add;
  Second second = Second::None;
  Comparison comparison = Comparison::Equal;
  unsigned parts = 1; // 1, 2 or 4 values of 32 / parts bits
  bool dSigned = false, aSigned = false, bSigned = false;
  bool saturate = false, wrap = false;
  // Which of the parts of both registers each part takes; of scalars: the first bit and the width.
  std::array<uint8_t, 4> selectA = {0, 1, 2, 3}, selectB = {0, 1, 2, 3};
  unsigned startA = 0, widthA = 32, startB = 0, widthB = 32;
  unsigned mask = 15;  // of the parts that are computed, or that are summed
  bool merges = false; // the result goes to a part of c, from startD on
  unsigned startD = 0, widthD = 32;
  bool plusOne = false;
  unsigned scale = 0; // vmad: bits shifted out
};

int64_t field(uint64_t bits, unsigned start, unsigned width, bool isSigned) {
  auto value = static_cast<int64_t>(bits >> start & ((uint64_t(1) << width) - 1));
  return isSigned && (value >> (width - 1) & 1) ? value - (int64_t(1) << width) : value;
}
int64_t clamped(int64_t value, unsigned width, bool isSigned) {
  int64_t least = isSigned ? -(int64_t(1) << (width - 1)) : 0;
  int64_t most = isSigned ? (int64_t(1) << (width - 1)) - 1 : (int64_t(1) << width) - 1;
  return std::clamp(value, least, most);
}

int64_t computed(const VideoPlan &plan, int64_t a, int64_t b) {
  switch (plan.operation) {
  case Operation::Add:
    return a + b;
  case Operation::Subtract:
    return a - b;
  case Operation::AbsoluteDifference:
    return a < b ? b - a : a - b;
  case Operation::Minimum:
    return std::min(a, b);
  case Operation::Maximum:
    return std::max(a, b);
  case Operation::Average: // rounded away from zero
    return a + b >= 0 ? (a + b + 1) >> 1 : -((-a - b + 1) >> 1);
  case Operation::ShiftLeft:
  case Operation::ShiftRight: {
    auto by = static_cast<unsigned>(plan.wrap ? b & 31 : std::min<int64_t>(static_cast<uint32_t>(b), 32));
    // A result of 34 bits is what the hardware saturates.
    return plan.operation == Operation::ShiftLeft ? static_cast<int64_t>(static_cast<uint64_t>(a) << by << 30) >> 30
                                                  : a >> by;
  }
  case Operation::Set:
    switch (plan.comparison) {
    case Comparison::Equal:
      return a == b;
    case Comparison::NotEqual:
      return a != b;
    case Comparison::Less:
      return a < b;
    case Comparison::LessEqual:
      return a <= b;
    case Comparison::Greater:
      return a > b;
    case Comparison::GreaterEqual:
      return a >= b;
    }
    return 0;
  case Operation::Multiply:
    return a * b;
  }
  return 0;
}

// Four bytes or two halves: each part of a and b is any of the parts of both registers; parts that the mask leaves out
// come from c, or are left out of the sum.
uint32_t packed(const VideoPlan &plan, uint32_t a, uint32_t b, uint32_t c) {
  unsigned width = 32 / plan.parts;
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t result = c;
  int64_t sum = 0;
  for (unsigned part = 0; part < plan.parts; ++part) {
    if (!(plan.mask >> part & 1))
      continue;
    int64_t value = computed(plan, field(both, plan.selectA[part] * width, width, plan.aSigned),
                             field(both, plan.selectB[part] * width, width, plan.bSigned));
    if (plan.saturate)
      value = clamped(value, width, plan.dSigned);
    if (plan.second == Second::Add) {
      sum += value;
      continue;
    }
    uint32_t ones = static_cast<uint32_t>((uint64_t(1) << width) - 1) << (part * width);
    result = (result & ~ones) | (static_cast<uint32_t>(value) << (part * width) & ones);
  }
  return plan.second == Second::Add ? c + static_cast<uint32_t>(sum) : result;
}

uint32_t scalar(const VideoPlan &plan, uint32_t a, uint32_t b, uint32_t c) {
  int64_t left = field(a, plan.startA, plan.widthA, plan.aSigned),
          right = field(b, plan.startB, plan.widthB, plan.bSigned);
  int64_t value = computed(plan, left, right);
  if (plan.operation == Operation::Multiply) {
    bool isSigned = plan.aSigned || plan.bSigned;
    value += (isSigned ? int64_t(int32_t(c)) : int64_t(c)) + plan.plusOne;
    value = isSigned ? value >> plan.scale : static_cast<int64_t>(static_cast<uint64_t>(value) >> plan.scale);
    if (plan.saturate)
      value = clamped(value, 32, isSigned);
    return static_cast<uint32_t>(value);
  }
  // Of results that go to a part of c the ISA says otherwise, but this is what ptxas makes of it: shifts saturate all
  // 32 bits, negative values of others to the largest one, and the upper half takes the result's upper half.
  bool shifts = plan.operation == Operation::ShiftLeft || plan.operation == Operation::ShiftRight;
  if (plan.saturate && plan.merges && !shifts && value < 0)
    value = INT64_MAX;
  if (plan.saturate)
    value = clamped(value, shifts ? 32 : plan.widthD, plan.dSigned);
  auto word = static_cast<uint32_t>(value);
  if (plan.merges) {
    uint32_t ones = static_cast<uint32_t>((uint64_t(1) << plan.widthD) - 1) << plan.startD;
    bool isUpperHalf = plan.startD == 16 && plan.widthD == 16;
    return (c & ~ones) | (word << (isUpperHalf ? 0 : plan.startD) & ones);
  }
  auto less = [&](uint32_t x, uint32_t y) { return plan.dSigned ? int32_t(x) < int32_t(y) : x < y; };
  switch (plan.second) {
  case Second::Add:
    return word + c;
  case Second::Minimum:
    return less(word, c) ? word : c;
  case Second::Maximum:
    return less(word, c) ? c : word;
  default:
    return word;
  }
}

template <uint32_t compute(const VideoPlan &, uint32_t, uint32_t, uint32_t)>
Status videoHandler(Warp &warp, const Op &op, uint32_t mask) {
  const auto &plan = *static_cast<const VideoPlan *>(op.plan);
  const uint32_t *a = warp.at<uint32_t>(op.a), *b = warp.at<uint32_t>(op.b), *c = warp.at<uint32_t>(op.c);
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) { return compute(plan, a[i], b[i], c[i]); });
  return Status::Next;
}

void chooseScalar(Decoder &decoder, std::string_view selector, unsigned &start, unsigned &width) {
  if (selector.empty())
    return;
  unsigned index = static_cast<unsigned>(selector.back() - '0');
  width = selector[0] == 'b' ? 8 : 16;
  if (selector.size() != 2 || (selector[0] != 'b' && selector[0] != 'h') || index * width >= 32)
    decoder.refuse("there is no part ." + std::string(selector) + " of a word");
  start = index * width;
}
// .h10 and .b3210: the digit of the highest part comes first.
void chooseParts(Decoder &decoder, std::string_view selector, unsigned parts, std::array<uint8_t, 4> &select) {
  bool good = selector.size() == parts + 1 && selector[0] == (parts == 2 ? 'h' : 'b');
  for (unsigned i = 0; good && i < parts; ++i) {
    unsigned digit = static_cast<unsigned>(selector[parts - i] - '0');
    good = digit < 2 * parts;
    select[i] = static_cast<uint8_t>(digit);
  }
  if (!good)
    decoder.refuse("there are no parts ." + std::string(selector));
}
unsigned maskOf(Decoder &decoder, std::string_view selector, unsigned parts) {
  unsigned mask = 0;
  for (char c : selector.substr(1)) {
    auto part = static_cast<unsigned>(c - '0');
    if (part >= parts)
      decoder.refuse("there are no parts ." + std::string(selector));
    mask |= 1u << part;
  }
  return mask;
}

void decodeVideo(Decoder &decoder) {
  Op &op = decoder.op;
  std::string_view name = decoder.instruction->words[0];
  auto *plan = decoder.plan<VideoPlan>();
  if (name.back() == '2' || name.back() == '4') {
    plan->parts = static_cast<unsigned>(name.back() - '0');
    name.remove_suffix(1);
  }
  static constexpr std::pair<std::string_view, Operation> operations[] = {
      {"vadd", Operation::Add},        {"vsub", Operation::Subtract}, {"vabsdiff", Operation::AbsoluteDifference},
      {"vmin", Operation::Minimum},    {"vmax", Operation::Maximum},  {"vshl", Operation::ShiftLeft},
      {"vshr", Operation::ShiftRight}, {"vavrg", Operation::Average}, {"vset", Operation::Set},
      {"vmad", Operation::Multiply}};
  for (auto &[text, operation] : operations)
    if (text == name)
      plan->operation = operation;
  // The types stand in order, d, a and b; vset has none of d.
  bool set = plan->operation == Operation::Set;
  std::vector<bool> isSigned(set ? 1 : 0);
  for (std::string_view word : decoder.instruction->words)
    if ((word == "u32" || word == "s32") && decoder.take(word))
      isSigned.push_back(word == "s32");
  if (isSigned.size() != 3)
    decoder.refuse("its types are missing");
  plan->dSigned = isSigned[0], plan->aSigned = isSigned[1], plan->bSigned = isSigned[2];
  plan->saturate = decoder.take("sat");
  if (plan->operation == Operation::ShiftLeft || plan->operation == Operation::ShiftRight) {
    std::string_view mode = decoder.takeOneOf({"clamp", "wrap"});
    if (mode.empty())
      decoder.refuse("it needs .clamp or .wrap");
    plan->wrap = mode == "wrap";
  }
  if (set) {
    static constexpr std::string_view names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    bool found = false;
    for (size_t i = 0; i < std::size(names) && !found; ++i)
      if ((found = decoder.take(names[i])))
        plan->comparison = static_cast<Comparison>(i);
    if (!found)
      decoder.refuse("its comparison is missing");
  }
  if (plan->operation == Operation::Multiply) {
    plan->plusOne = decoder.take("po");
    std::string_view scale = decoder.takeOneOf({"shr7", "shr15"});
    plan->scale = scale == "shr7" ? 7 : scale == "shr15" ? 15 : 0;
  } else {
    std::string_view second = decoder.takeOneOf({"add", "min", "max"});
    plan->second = second == "add"   ? Second::Add
                   : second == "min" ? Second::Minimum
                   : second == "max" ? Second::Maximum
                                     : Second::None;
    if (plan->parts > 1 && plan->second > Second::Add)
      decoder.refuse("its second operation is .add");
  }
  decoder.finishModifiers();
  decoder.expectOperands(3, 4);
  const Operand &d = decoder.operand(0), &a = decoder.operand(1), &b = decoder.operand(2);
  if (plan->parts > 1) {
    if (!d.selector.empty())
      plan->mask = maskOf(decoder, d.selector, plan->parts);
    for (unsigned i = 0; i < plan->parts; ++i)
      plan->selectB[i] = static_cast<uint8_t>(plan->parts + i);
    if (!a.selector.empty())
      chooseParts(decoder, a.selector, plan->parts, plan->selectA);
    if (!b.selector.empty())
      chooseParts(decoder, b.selector, plan->parts, plan->selectB);
  } else {
    chooseScalar(decoder, a.selector, plan->startA, plan->widthA);
    chooseScalar(decoder, b.selector, plan->startB, plan->widthB);
    plan->merges = !d.selector.empty();
    chooseScalar(decoder, d.selector, plan->startD, plan->widthD);
  }
  op.d = decoder.destination(d, 4);
  op.a = decoder.valueOf(a, ScalarType::U32);
  op.b = decoder.valueOf(b, ScalarType::U32);
  bool needsThird =
      plan->merges || plan->second != Second::None || plan->parts > 1 || plan->operation == Operation::Multiply;
  if (decoder.operandCount() == 4)
    op.c = decoder.valueOf(decoder.operand(3), ScalarType::U32);
  else if (needsThird)
    decoder.refuse("its operand c is missing");
  op.plan = plan;
  decoder.emit(plan->parts > 1 ? (Handler)videoHandler<packed> : (Handler)videoHandler<scalar>,
               InstructionClass::Integer);
}

} // namespace

const std::vector<DecoderEntry> videoDecoders = {
    {"vadd", decodeVideo},      {"vsub", decodeVideo},  {"vabsdiff", decodeVideo}, {"vmin", decodeVideo},
    {"vmax", decodeVideo},      {"vshl", decodeVideo},  {"vshr", decodeVideo},     {"vset", decodeVideo},
    {"vmad", decodeVideo},      {"vadd2", decodeVideo}, {"vsub2", decodeVideo},    {"vavrg2", decodeVideo},
    {"vabsdiff2", decodeVideo}, {"vmin2", decodeVideo}, {"vmax2", decodeVideo},    {"vset2", decodeVideo},
    {"vadd4", decodeVideo},     {"vsub4", decodeVideo}, {"vavrg4", decodeVideo},   {"vabsdiff4", decodeVideo},
    {"vmin4", decodeVideo},     {"vmax4", decodeVideo}, {"vset4", decodeVideo}};

} // namespace nacre::simulator
