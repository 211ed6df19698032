// How neighbouring elements of a tile relate along each axis: where they count up by one, where they are equal, and
// what divides them. Vector widths of accesses, layouts and masks that hold for whole vectors all follow from it.
//
// The facts of one axis hold for every position along the other axes. An axis is cut into groups from its start on; the
// last group may be shorter, and extents need not be powers of two.
//
//   x = tl.arange(0, 64) + 32                contiguity 64, constancy 1, divisibility 32
//   x // 16                                  contiguity 1, constancy 16, divisibility 1
//   x % 16                                   contiguity 16, constancy 1, divisibility 16
//   x < n      (n a multiple of 16)          constancy 16: all lanes of 16 are in, or none is
//   (tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :])
//                                            axis 0: contiguity 1, divisibility 1; axis 1: contiguity 16, divisibility
//                                            16
//
// An optimistic dataflow analysis over a kernel (MLIR's sparse framework): a value that a loop carries has what its
// initial value and every next one have. Sources of facts are constants, arange, program ids, the divisibility of the
// kernel's arguments, `multiple_of`, `max_contiguous`, `max_constancy` and `assume`.
//
// Every fact is proved for every run of the kernel but one: `contiguity` counts modulo 2^32 (see AxisFacts).
#pragma once

#include "compiler/analysis/IntegerFacts.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "llvm/ADT/SetVector.h"

namespace nacre {

// Of one axis. Divisors are powers of two, at most IntegerFacts::mostDivisor.
struct AxisFacts {
  int64_t extent = 1;
  // Within a group of this many, each element is the one before plus one: modulo 2^32, or modulo 2^bits of a narrower
  // type. For pointers it is the next element in memory, save where an offset of 32 or more bits wraps between two
  // elements; no array holds both of those, so whoever accesses both may rely on it.
  int64_t contiguity = 1;
  // The same on whole numbers, read as signed: no element of the group lies beyond the largest number of its type.
  // Of pointers, as `contiguity`.
  int64_t run = 1;
  // All elements of a group of this many are equal.
  int64_t constancy = 1;
  // Divides the first element of every group of `contiguity`; of pointers, the address in bytes.
  int64_t divisibility = 1;

  bool operator==(const AxisFacts &) const = default;
};

// Of a value: one set of facts an axis, none for a scalar.
class AxisInfo {
public:
  AxisInfo() = default; // nothing reached the value yet
  // What holds of any value of the type.
  static AxisInfo unknown(mlir::Type type);

  bool isReached() const { return reached; }
  llvm::ArrayRef<AxisFacts> axes() const { return facts; }
  const AxisFacts &axis(size_t index) const { return facts[index]; }
  size_t rank() const { return facts.size(); }
  // Divides every element (of pointers: every address); of a scalar, the scalar.
  int64_t divisibility() const { return every; }
  // Divides the elements at the multiples of `group` along the axis.
  int64_t divisibilityAt(size_t axis, int64_t group) const;

  static AxisInfo join(const AxisInfo &left, const AxisInfo &right);
  bool operator==(const AxisInfo &) const = default;
  void print(llvm::raw_ostream &stream) const;

private:
  friend class AxisRules;

  llvm::SmallVector<AxisFacts, 2> facts;
  int64_t every = 1;
  int64_t unit = 1; // by how much contiguous elements differ: 1, or the bytes of what a pointer addresses
  bool reached = false;
};

// Of all values under an operation. Facts stand for the IR as it was when the analysis was made.
class AxisAnalysis {
public:
  // `(pid * BLOCK + arange) % N` counts up within groups that divide N only where the left side is not negative, and a
  // program id times a number may wrap. Proved: what is not proved not to be negative has no such groups. Trusted: it
  // has them where a launch can prove it of the left side, which is listed in trustedNonNegative(). Whoever relies on
  // such facts has every launch checked (launchCheckOf).
  enum class Remainders { Proved, Trusted };
  explicit AxisAnalysis(mlir::Operation *root, Remainders remainders = Remainders::Proved);
  ~AxisAnalysis();

  const AxisInfo &info(mlir::Value value);
  IntegerRange range(mlir::Value value) { return integers.range(value); }
  IntegerFacts &integerFacts() { return integers; }
  llvm::ArrayRef<mlir::Value> trustedNonNegative() const { return trusted.getArrayRef(); }

private:
  IntegerFacts integers;
  llvm::SetVector<mlir::Value> trusted;
  mlir::DataFlowSolver solver;
  llvm::DenseMap<mlir::Value, AxisInfo> others; // of values that no run reaches, or that were made since
};

} // namespace nacre
