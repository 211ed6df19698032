// place-barriers: orders what the threads of a block do to shared memory.
//
// Needs: place-shared. Gives: the attribute simt.ordered on each operation with scratch that may write it at once (all
// others begin with a barrier of the block), and simt.barrier before each operation on a shared tile that must wait for
// what other threads did to its bytes; simt.fence before that where the async proxy reads what threads have written, or
// writes what threads have written or read. A barrier alone does not do for the latter: a load that was issued before
// it may get its value after it, and a copy that another thread starts then is not behind it in the same queue.
//
// An operation with scratch writes it, has its threads meet, and reads it. What other warps may still be reading
// afterwards is pending until all threads meet again: in a barrier, or within the next such operation. An operation
// whose bytes are not pending is ordered. One forward dataflow over the structured code: a state is the set of pending
// accesses; both ways of an `if` are joined; a loop's body begins with what is pending before it and at its own end, to
// a fixed point. Tiles are told apart by their allocations. Among themselves the accesses of a ring with several stages
// are ordered by whoever made it.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::simt {

std::unique_ptr<mlir::Pass> createPlaceBarriers();

} // namespace nacre::simt
