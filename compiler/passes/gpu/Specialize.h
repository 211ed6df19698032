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
// A kernel is specialized where one of its loops asks for it (`tile.warp_specialize`), and where it pays unasked: a loop
// has two products of which the second takes what is made of the first, overlapped; the pipelined kernel would leave
// only one block to a multiprocessor, by its shared memory or by its registers; and the tiles of both products fit
// into a thread's registers. A thread is taken to need the products' results, their left operands and 32 registers.
//
// Measured on an H200, the tutorial's attention in blocks of BLOCK_M x BLOCK_N, beside cuDNN in one rotated run, full
// and causal, 2048 and 16384 rows. `alone`: one block a multiprocessor; `tiles`: registers of a thread for its tiles.
//
//   head  block    warps  tiles  alone  pipelined     specialized
//   128   128x128  8      160    yes    0.77 to 0.95  1.07 to 1.19
//   128   128x64   8      112    yes    0.65 to 0.85  0.87 to 1.07
//   128   64x128   4      160    yes    0.58 to 0.71  0.72 to 0.86
//   128   128x64   4      224    yes    0.64 to 0.82  0.57 to 0.77  (spills)
//   128   64x64    4      112    yes    0.84 to 1.07  0.87 to 1.12
//   64    256x64   8      160    yes    0.76 to 1.04  0.86 to 1.18
//   64    128x64   8      80     no     0.88 to 1.20  0.81 to 1.08
//   64    128x64   4      160    no     0.92 to 1.33  0.91 to 1.32
//   64    64x64    4      80     no     0.95 to 1.41  0.84 to 1.26
//
// Without overlapped products heads of 128 in 128x128 stay at 0.78 and 0.82. A matmul of bf16 in blocks of 128 x 256 is
// within 1% of the pipelined one, at 2048 up to 3% slower: it is specialized where it asks for it alone.
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
  bool always = false;      // always: where no loop asks for it and it may not pay, too
  bool overlapDots = true;  // overlap-dots: as OverlapDots.h says, where that is legal
};

std::unique_ptr<mlir::Pass> createSpecialize(const SpecializeOptions &options = {});

} // namespace nacre::simt
