// print-plan: writes beside each operation of a kernel where the CPU target computes it (Plan.h), as a string
// attribute. Of kernels that lower-to-loops could take: after pack-dots.
//
//   %v = tile.load %p {plan = "deferred"} : ...          read while an operand is packed
//   %w = arith.mulf %x, %y {plan = "pinned, in memory"}  in a loop of its own place, and a tile in scratch memory
#pragma once

#include "mlir/Pass/Pass.h"

namespace nacre::cpu {

void registerPrintPlan();

} // namespace nacre::cpu
