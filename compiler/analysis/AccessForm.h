// Addresses and masks taken apart by axis.
//
// An integer tile, or a tile of pointers, as a base plus a sum of terms, each of which depends on one axis at most:
//
//   p + rows[:, None] * stride + (start + cols)[None, :]      rows, cols = tl.arange(0, 64), tl.arange(0, 32)
//     base p;  start;  axis 0: stride * i0;  axis 1: i1
//
// and a mask as conditions that all hold, each of one axis:
//
//   (rows < M)[:, None] & (cols < N)[None, :]     axis 0: rows < M;  axis 1: cols < N
//
// A term is affine, or the elements of a tile that varies along one axis only (a remainder, indices read from memory).
// Vectorized accesses, boxes of a descriptor and hoisted address arithmetic are read off it.
#pragma once

#include "compiler/analysis/AxisInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace nacre {

// constant * scalars... * (1, the place along the axis, or an element of a tile)
struct AccessTerm {
  int64_t constant = 1;
  llvm::SmallVector<mlir::Value, 2> scalars;
  int axis = -1;     // the axis it varies along; none: the same for every element
  mlir::Value tile;  // null: affine in the place along the axis
  int tileAxis = -1; // the axis of `tile` that `axis` is

  bool isAffine() const { return !tile; }
  // All but the constant.
  bool isLike(const AccessTerm &other) const;
};

struct AccessForm {
  // The address, in elements, is `base` + the sum; null for numbers. A scalar, or a tile that varies along `baseAxis`
  // only.
  mlir::Value base;
  int baseAxis = -1;
  int baseTileAxis = -1;
  llvm::SmallVector<AccessTerm, 4> terms;
  // Sum and value are equal as whole numbers, whatever the kernel's arguments. Else they are equal where no operation
  // on the way wraps. What addresses two elements of one array by offsets of 32 or more bits may rely on that, see
  // AxisFacts::contiguity.
  bool isWhole = true;

  // The terms along an axis (-1: the scalar ones).
  llvm::SmallVector<const AccessTerm *> along(int axis) const;
  void print(llvm::raw_ostream &stream, mlir::AsmState &names) const;
};

// One of the conditions of a mask.
struct MaskCondition {
  mlir::Value condition; // a tile (or scalar) of i1
  int axis = -1;         // the axis it varies along; -1: none
  int conditionAxis = -1;
  // A bound on places: `low < high`, or `low <= high` where `isStrict` is false, of which one side is the same for
  // every element. None where it is another condition.
  std::optional<AccessForm> low, high;
  bool isStrict = true;
};

struct MaskForm {
  llvm::SmallVector<MaskCondition, 4> conditions; // all hold
  llvm::SmallVector<mlir::Value, 1> others;       // and these, which vary along several axes
  bool isSeparable() const { return others.empty(); }
  void print(llvm::raw_ostream &stream, mlir::AsmState &names) const;
};

// A comparison of signed numbers as low < high, or low <= high; none where it is another one.
struct SignedBound {
  mlir::Value low, high;
  bool isStrict;
};
std::optional<SignedBound> asSignedBound(mlir::arith::CmpIOp op);

// Forms of the values of a kernel, each worked out once.
class AccessForms {
public:
  explicit AccessForms(AxisAnalysis &axes) : axes(axes) {}

  // Null where the value is no such sum: it varies along several axes at once.
  const AccessForm *form(mlir::Value value);
  MaskForm mask(mlir::Value mask);
  // The axes the tile varies along.
  llvm::SmallVector<int> axesOf(mlir::Value value);

  static constexpr size_t mostTerms = 16; // longer sums are kept as tiles

private:
  std::optional<AccessForm> compute(mlir::Value value);
  std::optional<AccessForm> computeOperation(mlir::Operation *op);
  // The value as one term: where it varies along one axis at most.
  std::optional<AccessForm> opaque(mlir::Value value);
  using Visited = llvm::DenseSet<std::pair<mlir::Value, uint64_t>>; // conjunctions, with where their axes are
  void collect(mlir::Value mask, llvm::ArrayRef<int> axisOf, MaskForm &result, Visited &visited);

  AxisAnalysis &axes;
  llvm::DenseMap<mlir::Value, std::unique_ptr<AccessForm>> forms; // null: none
};

} // namespace nacre
