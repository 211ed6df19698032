// place-barriers: where threads need not meet before they use shared memory again.
//
// Needs: place-shared. Gives: the attribute gpu.ordered on each operation with scratch that may write it at once. All
// others begin with a barrier of the block.
//
// An operation writes its scratch, has its threads meet, and reads it. What other warps may still be reading afterwards
// is pending until all threads meet again: in a barrier, or within the next such operation. An operation whose bytes
// are not pending is ordered. One forward dataflow over the structured code: a state is the set of pending ranges; both
// ways of an `if` are joined; a loop's body begins with what is pending before it and at its own end, to a fixed point.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::gpu {

std::unique_ptr<mlir::Pass> createPlaceBarriers();

} // namespace nacre::gpu
