// Ranges of integers, and what the operations of the language make of them. Integers wrap: an operation whose result
// may lie outside of its type gives anything. Free of MLIR: a launch works them out with its own numbers too
// (LaunchCheck.h).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>

namespace nacre {

// Signed bounds, both included.
struct IntegerRange {
  int64_t low, high;
  bool operator==(const IntegerRange &) const = default;
  bool isInside(const IntegerRange &outer) const { return low >= outer.low && high <= outer.high; }

  // All numbers of so many bits, read as signed.
  static IntegerRange ofBits(unsigned bits);
};

// What a range follows from.
enum class RangeRule : uint8_t {
  Known,        // a number, or numbers that count up
  Argument,     // of the kernel
  ProgramId,    // along an axis of the grid
  ProgramCount, // the same
  Index,        // of a loop: its lower and upper bound
  Same,
  ZeroExtend,
  Truncate,
  Add,
  Subtract,
  Multiply,
  ShiftLeft,
  Minimum,
  Maximum,
  Either,
  And,
  Quotient, // toward zero, by zero -1; the remainder by zero is the left side
  Remainder,
  ShiftRight,
  UnsignedQuotient,
  UnsignedRemainder,
  UnsignedShiftRight,
};
inline constexpr auto lastRangeRule = RangeRule::UnsignedShiftRight;

// Of a result of `bits` bits; `sourceBits` are the operand's where the two differ. Not of the first four rules, whose
// ranges their user knows.
IntegerRange rangeBy(RangeRule rule, unsigned bits, unsigned sourceBits, llvm::ArrayRef<IntegerRange> operands);

// On whole numbers; none where not even 64 bits hold the result, or the rule is none that can wrap.
std::optional<IntegerRange> wholeRange(RangeRule rule, llvm::ArrayRef<IntegerRange> operands);

} // namespace nacre
