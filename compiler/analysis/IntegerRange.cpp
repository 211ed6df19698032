// See IntegerRange.h. The arithmetic is in C, where programs with kernels compiled ahead of time use it too.
#include "compiler/analysis/IntegerRange.h"
#include "compiler/analysis/nacre_ranges.h"

using namespace nacre;

// The rules have the same numbers in both languages.
static_assert(static_cast<int>(RangeRule::Known) == nacre_range_known);
static_assert(static_cast<int>(RangeRule::Argument) == nacre_range_argument);
static_assert(static_cast<int>(RangeRule::ProgramId) == nacre_range_program_id);
static_assert(static_cast<int>(RangeRule::ProgramCount) == nacre_range_program_count);
static_assert(static_cast<int>(RangeRule::Index) == nacre_range_index);
static_assert(static_cast<int>(RangeRule::Same) == nacre_range_same);
static_assert(static_cast<int>(RangeRule::ZeroExtend) == nacre_range_zero_extend);
static_assert(static_cast<int>(RangeRule::Truncate) == nacre_range_truncate);
static_assert(static_cast<int>(RangeRule::Add) == nacre_range_add);
static_assert(static_cast<int>(RangeRule::Subtract) == nacre_range_subtract);
static_assert(static_cast<int>(RangeRule::Multiply) == nacre_range_multiply);
static_assert(static_cast<int>(RangeRule::ShiftLeft) == nacre_range_shift_left);
static_assert(static_cast<int>(RangeRule::Minimum) == nacre_range_minimum);
static_assert(static_cast<int>(RangeRule::Maximum) == nacre_range_maximum);
static_assert(static_cast<int>(RangeRule::Either) == nacre_range_either);
static_assert(static_cast<int>(RangeRule::And) == nacre_range_and);
static_assert(static_cast<int>(RangeRule::Quotient) == nacre_range_quotient);
static_assert(static_cast<int>(RangeRule::Remainder) == nacre_range_remainder);
static_assert(static_cast<int>(RangeRule::ShiftRight) == nacre_range_shift_right);
static_assert(static_cast<int>(RangeRule::UnsignedQuotient) == nacre_range_unsigned_quotient);
static_assert(static_cast<int>(RangeRule::UnsignedRemainder) == nacre_range_unsigned_remainder);
static_assert(static_cast<int>(RangeRule::UnsignedShiftRight) == nacre_range_unsigned_shift_right);

static nacre_range inC(IntegerRange range) { return nacre_range_from(range.low, range.high); }

IntegerRange IntegerRange::ofBits(unsigned bits) {
  nacre_range range = nacre_range_of_bits(bits);
  return {range.low, range.high};
}

std::optional<IntegerRange> nacre::wholeRange(RangeRule rule, llvm::ArrayRef<IntegerRange> operands) {
  nacre_range result;
  if (!nacre_range_whole(static_cast<nacre_range_rule>(rule), inC(operands[0]), inC(operands.back()), &result))
    return std::nullopt;
  return IntegerRange{result.low, result.high};
}

IntegerRange nacre::rangeBy(RangeRule rule, unsigned bits, unsigned sourceBits, llvm::ArrayRef<IntegerRange> operands) {
  nacre_range result =
      nacre_range_by(static_cast<nacre_range_rule>(rule), bits, sourceBits, inC(operands[0]), inC(operands.back()));
  return {result.low, result.high};
}
