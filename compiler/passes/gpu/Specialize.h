// specialize: the loads of loops get warps of their own, which run ahead as far as there are slots.
//
//   %x = ...                                            // whatever is before the loop
//   scf.for %i = %begin to %end step %one {             // num_stages = 3, tile.warp_specialize
//     %a = simt.load_box %map[%i, %zero] : ...
//     ... %a ...
//   }
//     ==>
//   %ring = simt.allocate : !simt.shared<..., 3>
//   %full = simt.allocate_barriers : !simt.barriers<3>
//   %empty = simt.allocate_barriers released : !simt.barriers<3>
//   simt.producer {                                     // one thread of another group of warps
//     scf.for %i = %begin to %end step %one iter_args(%slot = %zero) {
//       simt.await %empty[%slot]
//       simt.copy_box %map[%i, %zero], %ring[%slot], %full[%slot]
//     }
//   }
//   %x = ...                                            // from here on the kernel's own warps
//   scf.for %i = %begin to %end step %one iter_args(%slot = %zero) {
//     simt.await %full[%slot]
//     ... %ring[%slot] ...
//     simt.release %empty[%slot]                        // each warp for itself: no barrier of the block
//   }
//
// The producer runs what the copies' coordinates are made of: the scalar part of the loops and branches around them. A
// loop that is run again begins again in the first slot; the barriers' waits count phases for themselves, so that both
// sides go on where they were, and the producer may be in the next run already. Loops with the same loads share rings.
//
// Dots that run while the threads go on are treated as in SoftwarePipeline.h: a slot is released when what reads it has
// been waited for, if need be in the next iteration. A product that takes what is made of another one's result ends in
// the next iteration (LateDots.h), or is started there behind that iteration's first one, and runs while the warps work
// on what that one gave (OverlapDots.h).
//
// A kernel is specialized where one of its loops asks for it (`tile.warp_specialize`). Measured on an H200, in one
// rotated run with cuBLAS and cuDNN: attention with heads of 128, blocks of 128 x 128 and 8 warps goes from 0.74 to
// 0.98 of cuDNN (causal: from 0.77 to 0.99; of 16384 rows: from 0.71 to 1.01, causal from 0.78 to 1.05). Without
// overlapped products it stays at 0.78 and 0.82. A matmul of bf16 in blocks of 128 x 256 is within 1% of the pipelined
// one, at 2048 up to 3% slower. It loses where several blocks of the pipelined kernel share a multiprocessor anyway:
// with heads of 64 and blocks of 64 x 128, 4 warps, 1.02 becomes 0.95.
//
// Legal, decided in `Specialization::make` and nowhere else, when for all loops of the kernel that software-pipeline
// would make copies ahead in, by the rules of LoopPlan.h,
// - all copies are of boxes, and the machine has warps to spare: the kernel's own are whole groups of four;
// - their coordinates, the loops around them and the branches are made of arguments, numbers and what scalar operations
//   without effects give: nothing of what the warps compute on tiles;
// - nothing that comes before a loop, or stands in a loop around it, writes memory, synchronizes or may not end: copies
//   may be made as soon as the kernel begins;
// - no operand of a dot is read into registers an iteration ahead, or in parts;
// - rings and all that is in use beside them have room in shared memory, with two slots at least;
// - the kernel has no checks and no marks, which have all threads of a block leave, or write.
// Where a kernel asks for it and may not have it, its loops say why (`simt.together`), and are pipelined.
//
// Needs: layouts, and simt.load_box not staged. Gives: at most one simt.producer, first in the kernel, and the number
// of its warps on the module (`simt.producer_warps`).
#pragma once

#include "compiler/passes/gpu/SoftwarePipeline.h"

namespace nacre::simt {

// The pass's options, and their names in text; those of software-pipeline besides.
struct SpecializeOptions {
  SoftwarePipelineOptions pipeline;
  bool hasProducers = true; // has-producers: the machine can do it
  bool always = false;      // always: where no loop asks for it, too
  bool overlapDots = true;  // overlap-dots: as OverlapDots.h says, where that is legal
};

std::unique_ptr<mlir::Pass> createSpecialize(const SpecializeOptions &options = {});

} // namespace nacre::simt
