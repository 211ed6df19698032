// Which packed operands of products later programs on the same thread may use again, and what tells them apart.
//
// Programs of a grid share operands: those of one column of a matrix product read the same panels of B, those of one
// head the same keys and values. An operand that depends only on scalars and on memory is identified by the scalars
// that differ between programs and iterations: its key.
//
// Legal because no program may read what another writes in the same launch, save through atomics, and a kernel that has
// any, or stores before the dot, is left alone.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace nacre::cpu {

class OperandReuse {
public:
  explicit OperandReuse(mlir::func::FuncOp kernel);
  // The key of an operand that is packed where the dot stands; none when it may not be kept.
  std::optional<llvm::SmallVector<mlir::Value>> key(tile::DotOp dot, mlir::Value operand);

private:
  bool runsBeforeWrites(tile::DotOp dot) const;
  bool isLaunchInvariant(mlir::Value value);

  bool isAllowed = true;                             // nothing in the kernel learns of other programs' writes
  llvm::DenseSet<mlir::Operation *> beforeStores;    // dots that no store stands before
  llvm::DenseSet<mlir::Operation *> storingLoops;    // loops that hold a store
  llvm::DenseMap<mlir::Value, bool> launchInvariant; // of scalars
};

} // namespace nacre::cpu
