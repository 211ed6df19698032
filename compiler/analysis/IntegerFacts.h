// What is proved about a kernel's integers before it runs: the range each lies in, and which operations never wrap.
//
// Integers of the language wrap. Whoever wants to treat index arithmetic as arithmetic on whole numbers (an address
// that grows from lane to lane, a bound check that holds for the first lanes) asks here whether that is proved. Facts
// hold for every element of a tile; they come from constants, arange, program ids, loop bounds, the types, the
// divisibility that a launch's arguments are specialized on, and assumptions that stand in the block that makes the
// value.
#pragma once

#include "compiler/analysis/LaunchCheck.h"
#include "compiler/ir/tile/Tile.h"
#include "llvm/ADT/DenseMap.h"

namespace nacre {

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

  llvm::DenseMap<mlir::Value, IntegerRange> ranges;
};

// The check that none of the values is negative. None where their ranges do not follow from arguments, the grid and
// numbers alone.
std::optional<LaunchCheck> launchCheckOf(llvm::ArrayRef<mlir::Value> notNegative);

} // namespace nacre
