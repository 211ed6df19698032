// The rings of slots that a loop's loads go through, and what becomes of the loads: what all have in common who make
// copies ahead (SoftwarePipeline.h, Specialize.h).
#pragma once

#include "compiler/passes/gpu/LoopPlan.h"

namespace nacre::simt {

// A ring for each load of the plan, and one ring of barriers for boxes that are needed at the same time.
void makeRings(LoopPlan &plan, mlir::OpBuilder &b);

// The rings of another loop, whose loads are of the same tiles, for this one too.
void shareRings(LoopPlan &plan, const LoopPlan &other);

// The place after `slot` in a ring; whether it is the first one again.
mlir::Value nextSlot(mlir::OpBuilder &b, mlir::Location location, int64_t slots, mlir::Value slot,
                     mlir::Value *wraps = nullptr);

// Boxes are waited for where the first of those that complete on a barrier is needed: loads may have moved. Without a
// phase the waits count for themselves.
void awaitBoxes(const LoopPlan &plan, mlir::Value slot, mlir::Value phase);

// The load becomes a read of its slot, in every layout that is wanted; or its slot takes the place of the tile that it
// was put into. Gives the slot.
mlir::Value replaceLoad(const Stage &stage, mlir::Value slot);

} // namespace nacre::simt
