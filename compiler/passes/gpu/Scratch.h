// The shared memory that operations use for themselves while they run.
#pragma once

#include "compiler/ir/simt/Simt.h"

namespace nacre::simt {

struct ScratchUse {
  int64_t bytes = 0;
  // The operation writes first, then all threads of the block meet, then it reads. Otherwise every warp uses bytes of
  // its own, and no barrier of the block stands within the operation.
  bool meetsWithin = true;
  // Depending on values, it may use nothing and have no barrier at all, not even the one before it.
  bool mayBeIdle = false;
};

// Bytes that may be spent so that operations in a row have scratch side by side, where the largest of them needs less.
constexpr int64_t scratchBesideOne = 16 << 10;

// By the layouts of its operands and results; no bytes: none.
ScratchUse scratchOf(mlir::Operation *op);

} // namespace nacre::simt
