// Which tiles in shared memory an operation reads and writes, for the passes that place memory and barriers: its effects on
// the resources SharedMemory and AsyncSharedMemory (Simt.td), where each operation states them.
#pragma once

#include "compiler/ir/simt/Simt.h"

namespace nacre::simt {

struct SharedAccess {
  mlir::Value tile;
  bool writes = false;
  // Not by the threads' own loads and stores: what threads have written is seen after a simt.fence of theirs.
  bool isPastThreads = false;
  // Whoever uses the tile afterwards has waited for it: what the async proxy writes completes on a barrier (simt.await).
  bool isAwaited() const { return writes && isPastThreads; }
};

llvm::SmallVector<SharedAccess, 2> sharedAccessesOf(mlir::Operation *op);

// What a tile is a part or a view of. Null: it comes from a loop or a branch.
AllocateOp allocationOf(mlir::Value tile);

// The operations that use the memory of an allocation: through views of it, and those that wait for dots which read it.
llvm::SmallVector<mlir::Operation *> usersOf(AllocateOp allocation);

} // namespace nacre::simt
