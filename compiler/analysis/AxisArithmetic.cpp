// What arithmetic makes of axis information; see AxisRules.h.
//
// The one idea behind most rules: a group of elements that starts at a multiple of a power of two, counts up by one and
// ends before the next multiple passes no multiple of it on the way: it does not wrap, `//` gives it one quotient, `%`
// leaves it contiguous, and a comparison with a multiple is the same for all of it.
#include "compiler/analysis/AxisRules.h"
#include "compiler/support/PlantedBugs.h"
#include <numeric>

using namespace mlir;
using namespace nacre;

static unsigned bitsOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

// The part of a group of `contiguity` that starts at a multiple of `divisor` and ends before the next one.
static int64_t alignedPart(int64_t contiguity, int64_t extent, int64_t divisor) {
  if (contiguity >= extent && divisor >= extent)
    return extent;
  return std::min(IntegerFacts::powerOfTwoIn(contiguity), divisor);
}

// Divisors beyond half the range of a type say nothing of where its numbers wrap.
static int64_t withinType(int64_t divisor, unsigned bits) {
  return bits > 31 ? divisor : std::min(divisor, int64_t(1) << (bits - 1));
}

std::optional<int64_t> AxisRules::constantOf(Value value) {
  IntegerRange range = integers.range(value);
  return range.low == range.high ? std::optional(range.low) : std::nullopt;
}

bool AxisRules::isNonNegative(Value value) {
  if (integers.range(value).low >= 0)
    return true;
  // A launch can prove it of what follows from its arguments and its grid.
  if (!trusted || !launchCheckOf(value))
    return false;
  trusted->insert(value);
  return true;
}

AxisInfo AxisRules::function(Type type, Operands operands) {
  AxisInfo info = AxisInfo::unknown(type);
  for (auto [index, axis] : llvm::enumerate(info.facts)) {
    axis.constancy = axis.extent;
    for (const AxisInfo *operand : operands)
      if (operand->rank() == info.rank()) // a scalar is the same for all
        axis.constancy = std::gcd(axis.constancy, operand->facts[index].constancy);
  }
  return info;
}

// ---- Sums and products

AxisInfo AxisRules::sum(Operation *op, const AxisInfo &left, const AxisInfo &right) {
  bool isPointer = isa<tile::AddPtrOp>(op), isDifference = isa<arith::SubIOp>(op);
  AxisInfo info = function(op->getResult(0).getType(), {&left, &right});
  int64_t scale = isPointer ? info.unit : 1; // offsets count elements
  unsigned bits = bitsOf(op->getOperand(1).getType());
  bool isWhole = !isPointer && integers.neverWraps(op);
  info.every = std::min(left.every, IntegerFacts::product(right.every, scale));
  for (auto [index, axis] : llvm::enumerate(info.facts)) {
    const AxisFacts &a = left.facts[index], &b = right.facts[index];
    // One side counts up, the other stays. Narrow offsets are widened before they are added to an address.
    int64_t ofOffset = isPointer && bits < 32 ? b.run : b.contiguity;
    axis.contiguity = std::max(std::gcd(a.contiguity, b.constancy), isDifference ? 1 : std::gcd(a.constancy, ofOffset));
    int64_t run = std::max(std::gcd(a.run, b.constancy), isDifference ? 1 : std::gcd(a.constancy, b.run));
    auto divisorAt = [&, index = index](int64_t group) {
      int64_t ofLeft = left.divisibilityAt(index, group);
      int64_t ofRight = IntegerFacts::product(right.divisibilityAt(index, group), scale);
      return ofLeft != ofRight && planted(PlantedBug::SumDivides) ? std::max(ofLeft, ofRight)
                                                                  : std::min(ofLeft, ofRight);
    };
    axis.divisibility = divisorAt(axis.contiguity);
    if (isPointer) {
      axis.run = axis.contiguity;
      continue;
    }
    int64_t base = bits > 32 ? run : axis.contiguity; // contiguous modulo 2^bits
    axis.run = std::max(isWhole ? run : 1, alignedPart(base, axis.extent, withinType(divisorAt(base), bits)));
  }
  return info;
}

AxisInfo AxisRules::product(Operation *op, const AxisInfo &left, const AxisInfo &right) {
  if (constantOf(op->getOperand(1)) == 1)
    return left;
  if (constantOf(op->getOperand(0)) == 1)
    return right;
  AxisInfo info = function(op->getResult(0).getType(), {&left, &right});
  info.every = IntegerFacts::product(left.every, right.every);
  return info;
}

AxisInfo AxisRules::shiftLeft(Operation *op, Operands operands) {
  AxisInfo info = function(op->getResult(0).getType(), operands);
  info.every = operands[0]->every; // zero where the shift is too wide
  if (std::optional<int64_t> shift = constantOf(op->getOperand(1)); shift && *shift >= 0) {
    if (*shift == 0)
      return *operands[0];
    info.every = IntegerFacts::product(info.every, int64_t(1) << std::min<int64_t>(*shift, 30));
  }
  return info;
}

// ---- Quotients, remainders, comparisons

int64_t AxisRules::groupWithin(const AxisInfo &x, size_t axis, int64_t divisor, int64_t constancy) {
  const AxisFacts &along = x.facts[axis];
  return alignedPart(std::gcd(along.run, constancy), along.extent,
                     std::min(divisor, x.divisibilityAt(axis, along.run)));
}

AxisInfo AxisRules::quotient(Operation *op, Operands operands) {
  const AxisInfo &x = *operands[0], &y = *operands[1];
  if (!isa<arith::ShRSIOp, arith::ShRUIOp>(op) && constantOf(op->getOperand(1)) == 1)
    return x;
  AxisInfo info = function(op->getResult(0).getType(), operands);
  // What is divided by: a multiple of `divisor`, which is a power of two if `isPower`.
  int64_t divisor = y.every;
  bool isPower = false;
  std::optional<int64_t> number = constantOf(op->getOperand(1));
  if (isa<arith::ShRSIOp, arith::ShRUIOp>(op)) {
    if (!number || *number < 0 || *number >= std::min<int64_t>(bitsOf(op->getResult(0).getType()), 31))
      return info;
    if (*number == 0)
      return x;
    divisor = int64_t(1) << *number;
    isPower = true;
  } else if (number) {
    isPower =
        *number > 0 && *number <= IntegerFacts::mostDivisor && llvm::isPowerOf2_64(static_cast<uint64_t>(*number));
  }
  if (isPower)
    info.every = std::max<int64_t>(1, x.every / divisor);
  for (auto [index, axis] : llvm::enumerate(info.facts)) {
    int64_t group = groupWithin(x, index, divisor, y.facts[index].constancy);
    // Toward zero, -1 and 1 have one quotient, and -16 and -15 have not.
    if (group <= 1 || (isa<arith::DivSIOp>(op) && !isNonNegative(op->getOperand(0)) &&
                       !planted(PlantedBug::QuotientOfNegative)))
      continue;
    axis.constancy = std::max(axis.constancy, group);
    if (isPower) // that of the group's start
      axis.divisibility = std::max<int64_t>(1, x.divisibilityAt(index, group) / divisor);
  }
  return info;
}

AxisInfo AxisRules::remainder(Operation *op, Operands operands) {
  const AxisInfo &x = *operands[0], &y = *operands[1];
  AxisInfo info = function(op->getResult(0).getType(), operands);
  info.every = std::min(x.every, y.every); // by zero it is x
  for (auto [index, axis] : llvm::enumerate(info.facts)) {
    int64_t group = groupWithin(x, index, y.every, y.facts[index].constancy);
    if (group <= 1 || (isa<arith::RemSIOp>(op) && !isNonNegative(op->getOperand(0)) &&
                       !planted(PlantedBug::RemainderOfNegative)))
      continue;
    axis.contiguity = axis.run = group;
    axis.divisibility = std::min(x.divisibilityAt(index, group), y.every);
  }
  return info;
}

// With 2^k - 1 it is the remainder of 2^k, whatever the sign; with -2^k it clears what is below.
AxisInfo AxisRules::bitAnd(Operation *op, Operands operands) {
  AxisInfo info = function(op->getResult(0).getType(), operands);
  info.every = std::max(operands[0]->every, operands[1]->every);
  for (unsigned side : {0u, 1u}) {
    std::optional<int64_t> number = constantOf(op->getOperand(1 - side));
    if (!number || *number == std::numeric_limits<int64_t>::max())
      continue;
    const AxisInfo &x = *operands[side];
    bool keepsLow = *number > 0 && llvm::isPowerOf2_64(static_cast<uint64_t>(*number) + 1);
    bool keepsHigh = *number < 0 && llvm::isPowerOf2_64(-static_cast<uint64_t>(*number));
    int64_t period = keepsLow ? IntegerFacts::powerOfTwoIn(*number + 1) : IntegerFacts::powerOfTwoIn(*number);
    for (auto [index, axis] : llvm::enumerate(info.facts)) {
      int64_t group = groupWithin(x, index, period, axis.extent);
      if (group <= 1)
        continue;
      if (keepsLow) {
        axis.contiguity = axis.run = group;
        axis.divisibility = std::min(x.divisibilityAt(index, group), period);
      } else if (keepsHigh) {
        axis.constancy = std::max(axis.constancy, group);
      }
    }
  }
  return info;
}

AxisInfo AxisRules::compare(arith::CmpIOp op, Operands operands) {
  using Predicate = arith::CmpIPredicate;
  AxisInfo info = function(op.getType(), operands);
  Predicate predicate = op.getPredicate();
  // x < y and x >= y change at a multiple, y, as x counts up: between two of its groups.
  for (unsigned side : {0u, 1u}) {
    bool changesAtMultiple =
        side == 0 ? llvm::is_contained({Predicate::slt, Predicate::sge, Predicate::ult, Predicate::uge}, predicate)
                  : llvm::is_contained({Predicate::sgt, Predicate::sle, Predicate::ugt, Predicate::ule}, predicate);
    if (!changesAtMultiple && !planted(PlantedBug::CompareAtMultiple))
      continue;
    const AxisInfo &x = *operands[side], &y = *operands[1 - side];
    for (auto [index, axis] : llvm::enumerate(info.facts))
      axis.constancy = std::max(axis.constancy, groupWithin(x, index, y.every, y.facts[index].constancy));
  }
  return info;
}

AxisInfo AxisRules::select(Operation *op, Operands operands) {
  AxisInfo info = AxisInfo::join(*operands[1], *operands[2]);
  if (operands[0]->rank() == 0)
    return info;
  for (auto [index, axis] : llvm::enumerate(info.facts)) {
    int64_t same = planted(PlantedBug::SelectConstancy) ? axis.extent : operands[0]->facts[index].constancy;
    axis.contiguity = std::gcd(axis.contiguity, same);
    axis.run = std::gcd(axis.run, same);
    axis.constancy = std::gcd(axis.constancy, same);
    axis.divisibility = std::min(operands[1]->divisibilityAt(index, axis.contiguity),
                                 operands[2]->divisibilityAt(index, axis.contiguity));
  }
  return info;
}

// ---- Conversions

AxisInfo AxisRules::extend(Operation *op, const AxisInfo &source) {
  unsigned bits = bitsOf(op->getOperand(0).getType());
  if (bits == 1)
    return function(op->getResult(0).getType(), {&source});
  AxisInfo info = source;
  bool isUnsigned = isa<arith::ExtUIOp>(op) && integers.range(op->getOperand(0)).low < 0;
  for (auto [index, axis] : llvm::enumerate(info.facts)) {
    if (isUnsigned) // from -1 to 0 it does not count up
      axis.run = alignedPart(axis.run, axis.extent, withinType(source.divisibilityAt(index, axis.run), bits));
    if (bits < 32)
      axis.contiguity = axis.run;
    axis.divisibility = source.divisibilityAt(index, axis.contiguity);
  }
  return info;
}

AxisInfo AxisRules::truncate(Operation *op, const AxisInfo &source) {
  unsigned bits = bitsOf(op->getResult(0).getType());
  if (bits == 1)
    return function(op->getResult(0).getType(), {&source});
  AxisInfo info = source;
  if (!integers.neverWraps(op))
    for (AxisFacts &axis : info.facts)
      axis.run = alignedPart(axis.contiguity, axis.extent, withinType(axis.divisibility, bits));
  return info;
}

// Between pointers and numbers, and pointers to other elements: bytes of the address stay.
AxisInfo AxisRules::castAddress(Operation *op, const AxisInfo &source) {
  AxisInfo info = function(op->getResult(0).getType(), {&source});
  info.every = source.every;
  for (auto [index, axis] : llvm::enumerate(info.facts)) {
    if (info.unit == source.unit)
      axis.contiguity = source.facts[index].contiguity;
    axis.divisibility = source.divisibilityAt(index, axis.contiguity);
    bool isPointer = tile::isPointerLike(op->getResult(0).getType());
    axis.run = isPointer ? axis.contiguity : 1;
  }
  return info;
}

AxisInfo AxisRules::elementwise(OpResult result, Operands operands) {
  Operation *op = result.getOwner();
  Type type = result.getType();
  if (isa<tile::AddPtrOp>(op))
    return sum(op, *operands[0], *operands[1]);
  if (isa<arith::SelectOp>(op))
    return select(op, operands);
  if (auto comparison = dyn_cast<arith::CmpIOp>(op); comparison && !tile::isPointerLike(comparison.getLhs().getType()))
    return compare(comparison, operands);
  if (isa<tile::PtrToIntOp, tile::IntToPtrOp>(op))
    return castAddress(op, *operands[0]);
  if (isa<tile::BitcastOp>(op) && tile::isPointerLike(type) && tile::isPointerLike(op->getOperand(0).getType()))
    return castAddress(op, *operands[0]);
  bool isNumber = isa<IntegerType>(getElementTypeOrSelf(type)) && bitsOf(type) > 1 && bitsOf(type) <= 64;
  if (!isNumber)
    return function(type, operands);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return sum(op, *operands[0], *operands[1]);
  if (isa<arith::MulIOp>(op))
    return product(op, *operands[0], *operands[1]);
  if (isa<arith::ShLIOp>(op))
    return shiftLeft(op, operands);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return quotient(op, operands);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return remainder(op, operands);
  if (isa<arith::AndIOp>(op))
    return bitAnd(op, operands);
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op))
    return extend(op, *operands[0]);
  if (isa<arith::TruncIOp>(op))
    return truncate(op, *operands[0]);
  AxisInfo info = function(type, operands);
  if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::OrIOp, arith::XOrIOp>(op))
    info.every = std::min(operands[0]->every, operands[1]->every);
  return info;
}
