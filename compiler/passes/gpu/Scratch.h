// The shared memory that operations use for themselves while they run.
#pragma once

#include "compiler/ir/gpu/Gpu.h"

namespace nacre::gpu {

struct ScratchUse {
  int64_t bytes = 0;
  // Every warp uses bytes of its own, and no barrier of the block stands within the operation. Otherwise the operation
  // writes first, all threads meet, and then it reads.
  bool byWarp = false;
};

// By the layouts of its operands and results; no bytes: none.
ScratchUse scratchOf(mlir::Operation *op);

} // namespace nacre::gpu
