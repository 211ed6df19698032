// Packed dot operands that later programs on the same thread use again.
//
// Programs of a grid share operands: those of one column of a matrix product read the same panels of B, those of one
// head the same keys and values. An operand that depends only on scalars and on memory is identified by the scalars
// that differ between programs and iterations. Each loop iteration has a slot that remembers the scalars it was last
// asked for: asked again, the operand is packed into the slot; asked a third time, it is there.
//
// Legal because no program may read what another writes in the same launch, save through atomics, and a kernel that has
// any, or stores before the dot, is left alone.
#pragma once

#include "compiler/passes/cpu/Lowering.h"

namespace nacre::cpu {

class PackCache {
public:
  // None when the operand may not be kept.
  static std::optional<PackCache> find(Lowering &lowering, tile::DotOp dot, mlir::Value operand);

  // Emits the look-up, `pack` under it, and returns where the operand is. `temporary` takes it when it is not kept.
  mlir::Value emit(mlir::Value temporary, int64_t bytes, llvm::function_ref<void(mlir::Value target)> pack);

private:
  PackCache(Lowering &lowering, tile::DotOp dot, llvm::SmallVector<mlir::Value> key)
      : lowering(lowering), dot(dot), key(std::move(key)) {}
  mlir::Value slotNumber(int64_t slots);

  Lowering &lowering;
  tile::DotOp dot;
  llvm::SmallVector<mlir::Value> key; // scalars of the kernel
};

} // namespace nacre::cpu
