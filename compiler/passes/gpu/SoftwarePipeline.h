// software-pipeline: loads of later iterations are under way while an iteration computes.
//
//   scf.for %i = %lb to %ub step %one iter_args(%p = %start) {           // num_stages = 3
//     %x = tile.load %p : ...                                            // feeds a dot
//     ... %x ...
//     %next = tile.addptr %p, %step
//   }
//     ==>
//   %ring = simt.allocate : !simt.shared<..., 3>
//   for two iterations ahead, as far as there are so many: simt.copy %p, %ring[...] ; simt.commit_copies
//   scf.for ... iter_args(%p..., %ahead = ..., %slot = ..., %free = ...) {
//     simt.wait_copies 1                     // the copy for this iteration is done
//     simt.barrier                           // everybody's is, and everybody has read the slot that is filled next
//     simt.copy %ahead, %ring[%free] if there is such an iteration ; simt.commit_copies
//     %x = simt.read %ring[%slot]
//     ... %x ...
//   }
//
// simt.load_box likewise, with simt.copy_box and a ring of barriers in place of groups. The loop's body is not
// repeated; only the addresses are computed once more, ahead of it. Places in the ring, phases of barriers and whether
// there is an iteration ahead are values that the loop carries: a part of it that runs apart from the rest (in warps of
// its own) can take them along.
//
// Legal, decided in `LoopPlan::make` and nowhere else, when
// - nothing in the loop writes memory, synchronizes or may not end: what is loaded earlier is what would be loaded;
// - the address, mask or coordinates of the load are made in the loop's body, by operations without effects, from
// values
//   of outside, the induction variable, and carried values for which the same holds: not from what the loop loads;
// - the load stands in the body itself, is not volatile, and gives 0 where it is masked;
// - words: a thread's neighbours are 4, 8 or 16 bytes; boxes: any.
// Worth it when the load feeds a dot, or the loop asks for stages itself. The number of stages is the loop's, else the
// launch's; fewer where shared memory has no room for so many.
//
// Dots that the machine does while the threads go on, with operands in the rings and results that the loop only hands
// on, are waited for an iteration later. The copies then stand behind them:
//     %sum = simt.dot async %ring[%slot] ...
//     simt.wait_dots 1                       // those of the iteration before are done
//     simt.barrier                           // everybody's are: their slot is free
//     simt.copy %ahead, %ring[%free] ...
// An operand that such a dot takes from registers, and that lies in a slot, is read from there in two parts, each while
// the instructions that take the other are under way. One that is made from what lies in slots is read and made an
// iteration before, while the dot before is under way; that dot is waited for in its own iteration then, as its
// operand's registers are needed again.
//
// A product that ends an iteration and takes what is made of another one (attention) runs on into the next: LateDots.h.
//
// Needs: layouts, and simt.load_box not staged. Gives: rings, whose accesses are ordered among themselves; with what
// else uses the same bytes before and after the loop they are by place-barriers.
#pragma once

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLExtras.h"
#include <memory>
#include <string>
#include <vector>

namespace nacre::simt {

class Machine;

// The pass's options, and their names in text.
struct SoftwarePipelineOptions {
  bool copiesWords = true;            // copies-words: asynchronously, as simt.copy
  int64_t sharedBytes = 227 * 1024;   // shared-bytes: that a block may have
  std::vector<std::string> asyncDots; // async-dots: instructions of dots that run while the threads go on

  static SoftwarePipelineOptions of(const Machine &machine);
  bool isAsync(llvm::StringRef instruction) const { return llvm::is_contained(asyncDots, instruction); }
};

std::unique_ptr<mlir::Pass> createSoftwarePipeline(const SoftwarePipelineOptions &options = {});

} // namespace nacre::simt
