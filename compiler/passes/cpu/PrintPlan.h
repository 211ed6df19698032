// print-plan: writes beside each operation of a kernel where the CPU target computes it (Plan.h), as a string
// attribute, and what the lowering decides of it: the loops it shares with others, the axis of their lanes, and how its
// value is kept for later readers. Of kernels that lower-to-loops could take: after pack-dots.
//
//   %v = tile.load %p {plan = "deferred"} : ...   read while an operand is packed
//   %w = arith.mulf %x, %y {plan = "pinned, loops 0 along axis 1, in memory"}
//                                                 in the first loops, with lanes along the columns, and a tile in
//                                                 scratch memory; `in place` over the carried tile that it replaces;
//                                                 `read again` from the caller's memory
#pragma once

#include "mlir/Pass/Pass.h"

namespace nacre::cpu {

void registerPrintPlan();

} // namespace nacre::cpu
