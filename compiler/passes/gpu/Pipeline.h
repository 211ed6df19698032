// pipeline: loads of later iterations are under way while an iteration computes.
//
//   scf.for %i = %lb to %ub step %one iter_args(%p = %start) {           // num_stages = 3
//     %x = tile.load %p : ...                                            // feeds a dot
//     ... %x ...
//     %next = tile.addptr %p, %step
//   }
//     ==>
//   %ring = gpu.allocate : !gpu.shared<..., 3>
//   for two iterations ahead, as far as there are so many: gpu.copy %p, %ring[...] ; gpu.commit_copies
//   scf.for ... iter_args(%p..., %ahead = ..., %slot = ..., %free = ...) {
//     gpu.wait_copies 1                     // the copy for this iteration is done
//     gpu.barrier                           // everybody's is, and everybody has read the slot that is filled next
//     gpu.copy %ahead, %ring[%free] if there is such an iteration ; gpu.commit_copies
//     %x = gpu.read %ring[%slot]
//     ... %x ...
//   }
//
// gpu.load_box likewise, with gpu.copy_box and a ring of barriers in place of groups. The loop's body is not repeated;
// only the addresses are computed once more, ahead of it. Places in the ring, phases of barriers and whether there is
// an iteration ahead are values that the loop carries: a part of it that runs apart from the rest (in warps of its own)
// can take them along.
//
// Legal, decided in `LoopPlan::make` and nowhere else, when
// - nothing in the loop writes memory, synchronises or may not end: what is loaded earlier is what would be loaded;
// - the address, mask or coordinates of the load are made in the loop's body, by operations without effects, from
// values
//   of outside, the induction variable, and carried values for which the same holds: not from what the loop loads;
// - the load stands in the body itself, is not volatile, and gives 0 where it is masked;
// - words: a thread's neighbours are 4, 8 or 16 bytes; boxes: any.
// Worth it when the load feeds a dot, or the loop asks for stages itself. The number of stages is the loop's, else the
// launch's; fewer where shared memory has no room for so many.
//
// A dot that is under way past the end of its iteration (gpu.dot async, its result only handed on to the next one) is
// waited for an iteration later; its slot is then filled an iteration later too.
//
// Needs: layouts, and gpu.load_box not staged. Gives: rings, whose accesses are ordered here.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::gpu {

struct PipelineOptions {
  bool copiesWords = true; // asynchronously, as gpu.copy
  int64_t sharedBytes = 227 * 1024;
};

std::unique_ptr<mlir::Pass> createPipeline(const PipelineOptions &options = {});

} // namespace nacre::gpu
