// See IntegerRange.h.
#include "compiler/analysis/IntegerRange.h"
#include <algorithm>
#include <limits>

using namespace nacre;

IntegerRange IntegerRange::ofBits(unsigned bits) {
  if (bits >= 64)
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
}

static std::optional<IntegerRange> product(IntegerRange left, IntegerRange right) {
  IntegerRange result{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (int64_t a : {left.low, left.high})
    for (int64_t b : {right.low, right.high}) {
      int64_t corner;
      if (__builtin_mul_overflow(a, b, &corner))
        return std::nullopt;
      result = {std::min(result.low, corner), std::max(result.high, corner)};
    }
  return result;
}

std::optional<IntegerRange> nacre::wholeRange(RangeRule rule, llvm::ArrayRef<IntegerRange> operands) {
  IntegerRange left = operands[0], right = operands.back(), result;
  switch (rule) {
  case RangeRule::Truncate:
    return left;
  case RangeRule::Add:
    if (__builtin_add_overflow(left.low, right.low, &result.low) ||
        __builtin_add_overflow(left.high, right.high, &result.high))
      return std::nullopt;
    return result;
  case RangeRule::Subtract:
    if (__builtin_sub_overflow(left.low, right.high, &result.low) ||
        __builtin_sub_overflow(left.high, right.low, &result.high))
      return std::nullopt;
    return result;
  case RangeRule::Multiply:
    return product(left, right);
  case RangeRule::ShiftLeft:
    if (right.low < 0 || right.high > 62)
      return std::nullopt;
    return product(left, {int64_t(1) << right.low, int64_t(1) << right.high});
  default:
    return std::nullopt;
  }
}

static IntegerRange quotient(IntegerRange left, IntegerRange right, IntegerRange any) {
  if (right.low <= 0) { // by zero it is -1
    if (left.low < 0)
      return any;
    return {std::min<int64_t>(-left.high, -1), left.high};
  }
  return {left.low / (left.low < 0 ? right.low : right.high), left.high / (left.high < 0 ? right.high : right.low)};
}

static IntegerRange remainder(IntegerRange left, IntegerRange right, IntegerRange any) {
  if (right.low <= 0) // by zero it is the left side
    return left.low < 0 ? any : IntegerRange{0, left.high};
  if (left.low >= 0 && left.high < right.low)
    return left;
  return {left.low >= 0 ? 0 : std::max(left.low, -(right.high - 1)),
          left.high <= 0 ? 0 : std::min(left.high, right.high - 1)};
}

IntegerRange nacre::rangeBy(RangeRule rule, unsigned bits, unsigned sourceBits, llvm::ArrayRef<IntegerRange> operands) {
  IntegerRange any = IntegerRange::ofBits(bits), left = operands[0], right = operands.back();
  switch (rule) {
  case RangeRule::Known:
  case RangeRule::Argument:
  case RangeRule::ProgramId:
  case RangeRule::ProgramCount:
    return any;
  case RangeRule::Index: // a loop counts up, whatever its step: it runs over nothing otherwise
    return left.low < right.high ? IntegerRange{left.low, right.high - 1} : any;
  case RangeRule::Same: // an i1 widened is 0 or -1, as its range says
    return left;
  case RangeRule::ZeroExtend: // at most 32 bits widen
    return left.low >= 0 ? left : IntegerRange{0, (int64_t(1) << sourceBits) - 1};
  case RangeRule::Truncate:
  case RangeRule::Add:
  case RangeRule::Subtract:
  case RangeRule::Multiply:
  case RangeRule::ShiftLeft: {
    std::optional<IntegerRange> whole = wholeRange(rule, operands);
    return whole && whole->isInside(any) ? *whole : any;
  }
  case RangeRule::Minimum:
    return {std::min(left.low, right.low), std::min(left.high, right.high)};
  case RangeRule::Maximum:
    return {std::max(left.low, right.low), std::max(left.high, right.high)};
  case RangeRule::Either:
    return {std::min(left.low, right.low), std::max(left.high, right.high)};
  case RangeRule::And: // not negative where either side is not
    if (left.low < 0 && right.low < 0)
      return any;
    return {0, std::min(left.low < 0 ? any.high : left.high, right.low < 0 ? any.high : right.high)};
  case RangeRule::Quotient:
    return quotient(left, right, any);
  case RangeRule::Remainder:
    return remainder(left, right, any);
  case RangeRule::ShiftRight: // toward zero or minus one
    return {std::min<int64_t>(left.low, 0), std::max<int64_t>(left.high, -1)};
  case RangeRule::UnsignedQuotient:
    if (left.low < 0)
      return any;
    return {right.low <= 0 && right.high >= 0 ? -1 : 0, left.high}; // by zero it is -1
  case RangeRule::UnsignedRemainder:
  case RangeRule::UnsignedShiftRight:
    return left.low < 0 ? any : IntegerRange{0, left.high};
  }
  return any;
}
