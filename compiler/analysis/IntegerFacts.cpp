// See IntegerFacts.h.
#include "compiler/analysis/IntegerFacts.h"

using namespace mlir;
using namespace nacre;

static IntegerRange ofType(Type type) {
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (bits >= 64)
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
}

static bool isInside(IntegerRange inner, IntegerRange outer) {
  return inner.low >= outer.low && inner.high <= outer.high;
}

static std::optional<int64_t> constantOf(Value value) {
  APInt number; // also of a splat
  if (matchPattern(value, m_ConstantInt(&number)) && number.getBitWidth() <= 64)
    return number.getSExtValue();
  return std::nullopt;
}

// ---- Ranges

static IntegerRange rangeOf(tile::ArangeOp op) {
  int64_t start = static_cast<int64_t>(op.getStart());
  return {start, start + op.getType().getShape()[0] - 1};
}

std::optional<IntegerRange> IntegerFacts::wholeResult(Operation *op) {
  auto operand = [&](unsigned i) { return range(op->getOperand(i)); };
  IntegerRange result;
  if (isa<arith::AddIOp>(op)) {
    if (__builtin_add_overflow(operand(0).low, operand(1).low, &result.low) ||
        __builtin_add_overflow(operand(0).high, operand(1).high, &result.high))
      return std::nullopt;
    return result;
  }
  if (isa<arith::SubIOp>(op)) {
    if (__builtin_sub_overflow(operand(0).low, operand(1).high, &result.low) ||
        __builtin_sub_overflow(operand(0).high, operand(1).low, &result.high))
      return std::nullopt;
    return result;
  }
  if (isa<arith::MulIOp, arith::ShLIOp>(op)) {
    IntegerRange left = operand(0), right = operand(1);
    if (isa<arith::ShLIOp>(op)) {
      if (right.low < 0 || right.high > 62)
        return std::nullopt;
      right = {int64_t(1) << right.low, int64_t(1) << right.high};
    }
    bool isFirst = true;
    for (int64_t a : {left.low, left.high})
      for (int64_t b : {right.low, right.high}) {
        int64_t corner;
        if (__builtin_mul_overflow(a, b, &corner))
          return std::nullopt;
        result = isFirst ? IntegerRange{corner, corner}
                         : IntegerRange{std::min(result.low, corner), std::max(result.high, corner)};
        isFirst = false;
      }
    return result;
  }
  if (isa<arith::TruncIOp>(op))
    return operand(0);
  return std::nullopt;
}

bool IntegerFacts::neverWraps(Operation *op) {
  std::optional<IntegerRange> whole = wholeResult(op);
  return whole && isInside(*whole, ofType(op->getResult(0).getType()));
}

IntegerRange IntegerFacts::compute(Value value) {
  IntegerRange any = ofType(value.getType());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar() || loop.getUnsignedCmp())
      return any;
    // A loop counts up, whatever its step: it runs over nothing otherwise.
    IntegerRange lower = range(loop.getLowerBound()), upper = range(loop.getUpperBound());
    return lower.low < upper.high ? IntegerRange{lower.low, upper.high - 1} : any;
  }
  Operation *op = value.getDefiningOp();
  if (auto number = constantOf(value))
    return {*number, *number};
  if (auto arange = dyn_cast<tile::ArangeOp>(op))
    return rangeOf(arange);
  if (isa<tile::ProgramIdOp>(op))
    return {0, any.high};
  if (isa<tile::NumProgramsOp>(op))
    return {1, any.high};
  if (isa<tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp, tile::HintOp,
          arith::ExtSIOp>(op)) {
    Value source = op->getOperand(0);
    // An i1 widened is 0 or -1, as its range says.
    return isa<IntegerType>(getElementTypeOrSelf(source.getType())) ? range(source) : any;
  }
  if (isa<arith::ExtUIOp>(op)) {
    unsigned bits = getElementTypeOrSelf(op->getOperand(0).getType()).getIntOrFloatBitWidth();
    IntegerRange source = range(op->getOperand(0));
    return source.low >= 0 ? source : IntegerRange{0, (int64_t(1) << bits) - 1}; // at most 32 bits widen
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp, arith::TruncIOp>(op)) {
    std::optional<IntegerRange> whole = wholeResult(op);
    return whole && isInside(*whole, any) ? *whole : any;
  }
  auto operand = [&](unsigned i) { return range(op->getOperand(i)); };
  if (isa<arith::MinSIOp>(op))
    return {std::min(operand(0).low, operand(1).low), std::min(operand(0).high, operand(1).high)};
  if (isa<arith::MaxSIOp>(op))
    return {std::max(operand(0).low, operand(1).low), std::max(operand(0).high, operand(1).high)};
  if (isa<arith::SelectOp>(op) && isa<IntegerType>(getElementTypeOrSelf(value.getType())))
    return {std::min(operand(1).low, operand(2).low), std::max(operand(1).high, operand(2).high)};
  if (isa<arith::AndIOp>(op)) { // not negative where either side is not
    int64_t high = any.high;
    bool known = false;
    for (unsigned i : {0, 1})
      if (operand(i).low >= 0) {
        high = std::min(high, operand(i).high);
        known = true;
      }
    return known ? IntegerRange{0, high} : any;
  }
  if (isa<arith::RemSIOp, arith::DivSIOp, arith::ShRSIOp>(op)) {
    IntegerRange left = operand(0), right = operand(1);
    if (isa<arith::ShRSIOp>(op)) // toward zero or minus one
      return {std::min<int64_t>(left.low, 0), std::max<int64_t>(left.high, -1)};
    if (right.low <= 0) { // by zero it is -1, or the left side
      if (left.low < 0)
        return any;
      return isa<arith::DivSIOp>(op) ? IntegerRange{std::min<int64_t>(-left.high, -1), left.high}
                                     : IntegerRange{0, left.high};
    }
    if (isa<arith::DivSIOp>(op))
      return {std::min<int64_t>(left.low, 0), std::max<int64_t>(left.high, 0)};
    return {left.low >= 0 ? 0 : std::max(left.low, -(right.high - 1)),
            left.high <= 0 ? 0 : std::min(left.high, right.high - 1)};
  }
  if (isa<arith::RemUIOp, arith::DivUIOp, arith::ShRUIOp>(op) && operand(0).low >= 0) {
    bool mayBeZero = isa<arith::DivUIOp>(op) && operand(1).low <= 0 && operand(1).high >= 0;
    return {mayBeZero ? -1 : 0, operand(0).high};
  }
  return any;
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
  ranges[value] = ofType(value.getType()); // for whoever asks on the way round
  IntegerRange result = compute(value);
  if (isa<IntegerType>(value.getType()) && result.low != result.high)
    result = promised(value, result);
  ranges[value] = result;
  return result;
}

int64_t IntegerFacts::powerOfTwoIn(int64_t number) {
  return number == 0 ? mostDivisor : std::min(mostDivisor, number & -number);
}
