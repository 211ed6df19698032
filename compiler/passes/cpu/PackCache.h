// Packed operands of products that later programs on the same thread use again: what `kept` and the key of cpu.rows and
// cpu.panels ask for (OperandReuse.h says when that is legal).
//
// Each loop iteration has a slot that remembers the key it was last asked for: asked again, the operand is packed into
// the slot; asked a third time, it is there.
#pragma once

#include "compiler/passes/cpu/Lowering.h"

namespace nacre::cpu {

class PackCache {
public:
  // Of an operand that the operation `packs`; the key is scalars of the kernel.
  PackCache(Lowering &lowering, mlir::Operation *packs, mlir::ValueRange key)
      : lowering(lowering), packs(packs), key(key.begin(), key.end()) {}

  // Emits the look-up, `pack` under it, and returns where the operand is. `temporary` takes it when it is not kept.
  mlir::Value emit(mlir::Value temporary, int64_t bytes, llvm::function_ref<void(mlir::Value target)> pack);

private:
  mlir::Value slotNumber(int64_t slots);

  Lowering &lowering;
  mlir::Operation *packs;
  llvm::SmallVector<mlir::Value> key;
};

} // namespace nacre::cpu
