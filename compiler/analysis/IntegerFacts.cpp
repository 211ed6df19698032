// See IntegerFacts.h.
#include "compiler/analysis/IntegerFacts.h"
#include "compiler/support/PlantedBugs.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nacre;

static unsigned bitsOf(Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); }

static std::optional<int64_t> constantOf(Value value) {
  APInt number; // also of a splat
  if (matchPattern(value, m_ConstantInt(&number)) && number.getBitWidth() <= 64)
    return number.getSExtValue();
  return std::nullopt;
}

// ---- Ranges

namespace {
// What the range of a value follows from.
struct RangeSource {
  RangeRule rule;
  SmallVector<Value, 2> operands;
  IntegerRange known = {0, 0}; // as LaunchCheck::Step has it
};
} // namespace

static std::optional<RangeRule> ruleOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<RangeRule>>(op)
      .Case<tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp, tile::HintOp,
            arith::ExtSIOp>([](auto) { return RangeRule::Same; })
      .Case<arith::ExtUIOp>([](auto) { return RangeRule::ZeroExtend; })
      .Case<arith::TruncIOp>([](auto) { return RangeRule::Truncate; })
      .Case<arith::AddIOp>([](auto) { return RangeRule::Add; })
      .Case<arith::SubIOp>([](auto) { return RangeRule::Subtract; })
      .Case<arith::MulIOp>([](auto) { return RangeRule::Multiply; })
      .Case<arith::ShLIOp>([](auto) { return RangeRule::ShiftLeft; })
      .Case<arith::MinSIOp>([](auto) { return RangeRule::Minimum; })
      .Case<arith::MaxSIOp>([](auto) { return RangeRule::Maximum; })
      .Case<arith::SelectOp>([](auto) { return RangeRule::Either; })
      .Case<arith::AndIOp>([](auto) { return RangeRule::And; })
      .Case<arith::DivSIOp>([](auto) { return RangeRule::Quotient; })
      .Case<arith::RemSIOp>([](auto) { return RangeRule::Remainder; })
      .Case<arith::ShRSIOp>([](auto) { return RangeRule::ShiftRight; })
      .Case<arith::DivUIOp>([](auto) { return RangeRule::UnsignedQuotient; })
      .Case<arith::RemUIOp>([](auto) { return RangeRule::UnsignedRemainder; })
      .Case<arith::ShRUIOp>([](auto) { return RangeRule::UnsignedShiftRight; })
      .Default([](Operation *) { return std::nullopt; });
}

// One or two; not the condition of a select.
static SmallVector<Value, 2> rangeOperands(Operation *op) {
  return SmallVector<Value, 2>(op->getOperands().take_back(std::min(2u, op->getNumOperands())));
}

// None: nothing is known of it, but its type.
static std::optional<RangeSource> sourceOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    int64_t number = argument.getArgNumber();
    if (argument.getOwner()->getParentOp()->hasAttr(tile::kernelAttribute))
      return RangeSource{RangeRule::Argument, {}, {number, number}};
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar() || loop.getUnsignedCmp())
      return std::nullopt;
    return RangeSource{RangeRule::Index, {loop.getLowerBound(), loop.getUpperBound()}};
  }
  Operation *op = value.getDefiningOp();
  if (auto number = constantOf(value))
    return RangeSource{RangeRule::Known, {}, {*number, *number}};
  if (auto arange = dyn_cast<tile::ArangeOp>(op)) {
    auto start = static_cast<int64_t>(arange.getStart());
    return RangeSource{RangeRule::Known, {}, {start, start + arange.getType().getShape()[0] - 1}};
  }
  if (auto program = dyn_cast<tile::ProgramIdOp>(op))
    return RangeSource{RangeRule::ProgramId, {}, {program.getAxis(), program.getAxis()}};
  if (auto programs = dyn_cast<tile::NumProgramsOp>(op))
    return RangeSource{RangeRule::ProgramCount, {}, {programs.getAxis(), programs.getAxis()}};
  std::optional<RangeRule> rule = ruleOf(op);
  if (!rule)
    return std::nullopt;
  SmallVector<Value, 2> operands = rangeOperands(op);
  bool areIntegers =
      llvm::all_of(operands, [](Value operand) { return isa<IntegerType>(getElementTypeOrSelf(operand.getType())); });
  return areIntegers ? std::optional(RangeSource{*rule, operands}) : std::nullopt;
}

bool IntegerFacts::neverWraps(Operation *op) {
  std::optional<RangeRule> rule = ruleOf(op);
  if (!rule)
    return false;
  SmallVector<IntegerRange, 2> operands;
  for (Value operand : rangeOperands(op))
    operands.push_back(range(operand));
  std::optional<IntegerRange> whole = wholeRange(*rule, operands);
  if (whole && whole->isInside(IntegerRange::ofBits(bitsOf(op->getResult(0)))))
    return true;
  return (isa<arith::AddIOp, arith::SubIOp>(op) && planted(PlantedBug::SumNeverWraps)) ||
         (isa<arith::TruncIOp>(op) && planted(PlantedBug::TruncationFits));
}

IntegerRange IntegerFacts::compute(Value value) {
  IntegerRange any = IntegerRange::ofBits(bitsOf(value));
  std::optional<RangeSource> source = sourceOf(value);
  if (!source || source->rule == RangeRule::Argument)
    return any;
  if (source->rule == RangeRule::Known)
    return source->known;
  if (source->rule == RangeRule::ProgramId)
    return {0, any.high};
  if (source->rule == RangeRule::ProgramCount)
    return {1, any.high};
  SmallVector<IntegerRange, 2> operands;
  for (Value operand : source->operands)
    operands.push_back(range(operand));
  return rangeBy(source->rule, bitsOf(value), bitsOf(source->operands.front()), operands);
}

// ---- Checks at a launch

namespace {
class CheckWriter {
public:
  std::optional<uint32_t> stepFor(Value value) {
    auto found = made.find(value);
    if (found != made.end())
      return found->second;
    made[value] = std::nullopt; // for whoever asks on the way round
    std::optional<RangeSource> source = sourceOf(value);
    if (!source || bitsOf(value) > 64)
      return std::nullopt;
    LaunchCheck::Step step{.rule = source->rule, .bits = static_cast<uint8_t>(bitsOf(value)), .known = source->known};
    for (Value operand : source->operands) {
      std::optional<uint32_t> earlier = stepFor(operand);
      if (!earlier)
        return std::nullopt;
      step.operands[step.operandCount++] = *earlier;
    }
    if (step.operandCount)
      step.sourceBits = static_cast<uint8_t>(bitsOf(source->operands.front()));
    check.steps.push_back(step);
    return made[value] = static_cast<uint32_t>(check.steps.size() - 1);
  }

  LaunchCheck check;

private:
  llvm::DenseMap<Value, std::optional<uint32_t>> made;
};
} // namespace

std::optional<LaunchCheck> nacre::launchCheckOf(ArrayRef<Value> notNegative) {
  CheckWriter writer;
  for (Value value : notNegative) {
    std::optional<uint32_t> step = writer.stepFor(value);
    if (!step)
      return std::nullopt;
    writer.check.notNegative.push_back(*step);
  }
  return std::move(writer.check);
}

// ---- Assumptions

// Whether the condition is promised in the block: whoever runs the block runs the assumption, so what it says of values
// made in the block holds of them everywhere.
static bool isPromised(Value condition, Block *block) {
  SmallVector<Value> pending{condition}; // it, and conjunctions it is part of
  llvm::SmallPtrSet<Operation *, 4> seen;
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (isa<tile::AssumeOp>(user) && user->getBlock() == block)
        return true;
      if (isa<arith::AndIOp>(user) && seen.insert(user).second)
        pending.push_back(user->getResult(0));
    }
  return false;
}

// The same comparison with its sides exchanged; of signed ones, and those that are symmetric.
static arith::CmpIPredicate turnedRound(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::slt:
    return Predicate::sgt;
  case Predicate::sle:
    return Predicate::sge;
  case Predicate::sgt:
    return Predicate::slt;
  case Predicate::sge:
    return Predicate::sle;
  default:
    return predicate;
  }
}

IntegerRange IntegerFacts::promised(Value scalar, IntegerRange known) {
  using Predicate = arith::CmpIPredicate;
  for (Operation *user : scalar.getUsers()) {
    auto compare = dyn_cast<arith::CmpIOp>(user);
    if (!compare || compare.getLhs() == compare.getRhs() || !isPromised(compare, scalar.getParentBlock()))
      continue;
    bool isLeft = compare.getLhs() == scalar;
    Predicate predicate = isLeft ? compare.getPredicate() : turnedRound(compare.getPredicate());
    IntegerRange other = range(isLeft ? compare.getRhs() : compare.getLhs());
    constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
    IntegerRange left = known;
    if (predicate == Predicate::slt && other.high != least)
      left.high = std::min(left.high, other.high - 1);
    else if (predicate == Predicate::sle || predicate == Predicate::eq)
      left.high = std::min(left.high, other.high);
    if (predicate == Predicate::sgt && other.low != most)
      left.low = std::max(left.low, other.low + 1);
    else if (predicate == Predicate::sge || predicate == Predicate::eq)
      left.low = std::max(left.low, other.low);
    if (left.low <= left.high) // else the promise is false
      known = left;
  }
  return known;
}

int64_t IntegerFacts::promisedDivisor(Value scalar) {
  int64_t divisor = 1;
  for (Operation *user : scalar.getUsers()) {
    if (!isa<arith::RemSIOp, arith::RemUIOp, arith::AndIOp>(user) || user->getOperand(0) != scalar)
      continue;
    std::optional<int64_t> number = constantOf(user->getOperand(1));
    if (!number || *number <= 0 || (isa<arith::AndIOp>(user) && *number == std::numeric_limits<int64_t>::max()))
      continue;
    bool isLowBits = isa<arith::AndIOp>(user) && llvm::isPowerOf2_64(static_cast<uint64_t>(*number) + 1);
    if (isa<arith::AndIOp>(user) && !isLowBits)
      continue;
    for (Operation *reader : user->getUsers())
      if (auto compare = dyn_cast<arith::CmpIOp>(reader))
        if (compare.getPredicate() == arith::CmpIPredicate::eq && constantOf(compare.getRhs()) == 0 &&
            isPromised(compare, scalar.getParentBlock()))
          divisor = std::max(divisor, powerOfTwoIn(isLowBits ? *number + 1 : *number));
  }
  return divisor;
}

IntegerRange IntegerFacts::range(Value value) {
  auto found = ranges.find(value);
  if (found != ranges.end())
    return found->second;
  ranges[value] = IntegerRange::ofBits(bitsOf(value)); // for whoever asks on the way round
  IntegerRange result = compute(value);
  if (isa<IntegerType>(value.getType()) && result.low != result.high)
    result = promised(value, result);
  ranges[value] = result;
  return result;
}

int64_t IntegerFacts::powerOfTwoIn(int64_t number) {
  uint64_t bits = static_cast<uint64_t>(number); // the least number has no negative of its own type
  return number == 0 ? mostDivisor : static_cast<int64_t>(std::min<uint64_t>(mostDivisor, bits & -bits));
}
