// order-accesses: an element's accesses in global memory happen in the order of the text, also where one thread reads
// it and another writes it.
//
//   tile.store %p, %x : ..., #a            // thread 1 writes what thread 2 reads
//   %y = tile.load %p : ... -> ..., #b
//     ==>  tile.store %p, %x : ..., #a
//          tile.barrier
//          %y = tile.load %p : ... -> ..., #b
//
// Needs: layouts. Gives: a tile.barrier between accesses that may meet, one of them a write, in layouts that give
// elements to different threads; outside of loops where that orders them. Copies by the hardware see what threads wrote
// only behind a simt.fence too: a barrier alone, the kernel's own or one within an operation, is not enough for them.
// All threads have waited for a simt.load_box behind it; simt.store_box has a barrier within, and one thread has waited
// for it when it ends.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::simt {

std::unique_ptr<mlir::Pass> createOrderAccesses();

} // namespace nacre::simt
