// Products of a loop that work on each other's results: when each is started, and when it is waited for. Part of
// pipeline.
//
//   scf.for ... iter_args(%sums = %zero) {
//     %scores = simt.dot %q, %keys, %none               // attention
//     ... %weights and %decay from %scores ...
//     %scaled = arith.mulf %sums, %decay
//     %next = simt.dot %weights, %values, %scaled
//     scf.yield %next
//   }
//     ==>
//   scf.for ... iter_args(%late = %zero) {
//     %started = simt.dot async %q, %keys, %none        // behind the product of the iteration before
//     %scores, %sums = simt.wait_dots 0, %started, %late
//     ...
//     %next = simt.dot async %weights, %values, %scaled
//     scf.yield %next
//   }
//   %result = simt.wait_dots 0, %late
//
// Matrix units do one product after the other, so a wait for one is a wait for all before it.
// - A product that needs no other one's result (`early`) is started right behind the first, with what it is made from:
//   it runs while that one's result is worked on.
// - A product is waited for where its result is first looked at; those that were started behind it go on.
// - One that is only handed on to the next iteration (`late`) runs on into that. The threads come there, and start its
//   first products, while it runs: the matrix units go from one to the other. (Measured on an H200, and slower: the
//   last product of attention started behind the first one of the next iteration, so that it runs while that one's
//   result is worked on; and a branch around factors of 1.)
//
// Legal, decided in `find` and nowhere else, when
// - all products of the loop are in its body itself, of instructions that run while the threads go on;
// - at least one result is looked at in the body, and one is late: it is handed on and used for nothing else there, and
//   what is handed on is looked at behind the first wait only;
// - an operand of a late product in registers is made from another one's result: its registers are written again behind
//   the first wait only;
// - what products read in shared memory is not overwritten while they are under way: it is from outside of the loop, or
//   lies in `slots`, which the caller fills behind a barrier that comes behind the first wait: before the last product.
#pragma once

#include "compiler/ir/simt/Simt.h"
#include "compiler/passes/gpu/SoftwarePipeline.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace nacre::simt {

struct LateDots {
  // Loads that go into slots, and the slots.
  struct Slots {
    llvm::DenseSet<mlir::Operation *> loads;
    llvm::DenseSet<mlir::Value> tiles;
  };

  llvm::SmallVector<DotOp> dots;            // in the order in which they are started
  llvm::SmallVector<unsigned> late;         // which of the loop's values late products make
  llvm::SetVector<mlir::Operation *> moved; // in front of the second one: early products, with what they are made from

  DotOp last() const { return dots.back(); }

  static std::optional<LateDots> find(mlir::scf::ForOp loop, const Slots &slots,
                                      const SoftwarePipelineOptions &options);
  // The loop may be another by now, with the same body and the same values first.
  void apply(mlir::scf::ForOp loop);
};

// The tile that a tile in shared memory is a view of.
mlir::Value viewed(mlir::Value tile);

} // namespace nacre::simt
