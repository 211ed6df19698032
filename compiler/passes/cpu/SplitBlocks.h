// split-blocks: a very long block becomes calls of functions that hold its parts.
//
//   ... 20,000 operations ...     ==>     %a = call @kernel.part(%p, %n)
//                                         %b = call @kernel.part_0(%p, %a)
//                                         ...
//
// LLVM's code generator takes more than linear time in the length of a block and in the number of blocks of a function
// (combining, scheduling, live ranges). Unrolled loops and generated kernels are that long; cut in parts of a fixed
// size, the time of a compile grows with the kernel and no faster.
//
// Always legal: the operations of a block run in order, and a part gets all that it reads as arguments, but for
// constants and addresses at constant distances from others, which it has copies of. A part begins and ends where few
// values are alive, so that a call costs little beside the hundreds of operations in it; where there is no such place
// the block stays whole. To make such places, loads and what has no effects moves down to its only user first, past no
// operation that writes memory.
//
// A block is very long when it holds twice as many operations as a part, or six times as many with those in its loops
// and branches, each of which counts as eight more: far more than kernels that are written by hand. Loops and branches
// that stand 12 levels deep in one another are cut likewise: LLVM asks at every level what is known of all levels
// around it.
//
// Before: kernels with their entry (kernel-entry), simplified. After: private functions that are never inlined.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::cpu {

std::unique_ptr<mlir::Pass> createSplitBlocks(int64_t operations = 500);
void registerSplitBlocks();

} // namespace nacre::cpu
