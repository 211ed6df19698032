// What is proved about a kernel's integers before it runs: the range each lies in, and which operations never wrap.
//
// Integers of the language wrap. Whoever wants to treat index arithmetic as arithmetic on whole numbers (an address
// that grows from lane to lane, a bound check that holds for the first lanes) asks here whether that is proved. Facts
// hold for every element of a tile; they come from constants, arange, program ids, loop bounds, the types, the
// divisibility that a launch's arguments are specialised on, and assumptions that stand in the block that makes the
// value.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "llvm/ADT/DenseMap.h"

namespace nacre {

// Signed bounds, both included.
struct IntegerRange {
  int64_t low, high;
  bool operator==(const IntegerRange &) const = default;
};

class IntegerFacts {
public:
  // Of an integer scalar, or of every element of an integer tile, read as signed.
  IntegerRange range(mlir::Value value);
  // The operation (addi, subi, muli, shli, trunci) gives what it would give on whole numbers, for every element.
  bool neverWraps(mlir::Operation *op);

  // A power of two that an assumption, `assume(x % 16 == 0)`, promises to divide the scalar.
  static int64_t promisedDivisor(mlir::Value scalar);

  // Divisors are powers of two up to this one: divisibility by those outlives wrapping.
  static constexpr int64_t mostDivisor = int64_t(1) << 30;
  // The largest power of two in a number, up to that bound.
  static int64_t powerOfTwoIn(int64_t number);
  // The product of two such divisors.
  static int64_t product(int64_t left, int64_t right) {
    return left > mostDivisor / right ? mostDivisor : left * right;
  }

private:
  IntegerRange compute(mlir::Value value);
  // The part of the range that assumptions about the scalar leave.
  IntegerRange promised(mlir::Value scalar, IntegerRange range);
  // Of the result on whole numbers; none where not even 64 bits hold it, or the operation is another.
  std::optional<IntegerRange> wholeResult(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, IntegerRange> ranges;
};

} // namespace nacre
