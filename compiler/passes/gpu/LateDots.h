// A product that ends an iteration, and runs on into the next one. Part of pipeline.
//
//   scf.for ... iter_args(%sums = %zero) {
//     %scores = gpu.dot %q, %keys, %none               // attention
//     ... %weights and %decay from %scores ...
//     %scaled = arith.mulf %sums, %decay
//     %next = gpu.dot %weights, %values, %scaled
//     scf.yield %next
//   }
//     ==>
//   scf.for ... iter_args(%late = %zero) {
//     %started = gpu.dot async %q, %keys, %none        // behind the product of the iteration before
//     %scores, %sums = gpu.wait_dots 0, %started, %late
//     ...
//     %next = gpu.dot async %weights, %values, %scaled
//     scf.yield %next
//   }
//   %result = gpu.wait_dots 0, %late
//
// The threads come to the next iteration, and start its first product, while the last one of the iteration before runs:
// the matrix units go from one to the other. (Measured on an H200, and slower: the last product started behind the
// first one of the next iteration, so that it runs while that one's result is worked on; and a branch around factors
// of 1.)
//
// Legal, decided in `find` and nowhere else, when
// - the loop has two products, both of instructions that run while the threads go on, in its body itself;
// - the last one's result is handed on by the loop and used for nothing else in it, and what is handed on is looked at
//   behind the first product only;
// - what the last one reads in shared memory is not overwritten before the wait: it lies in `slots`, which the caller
//   fills behind the wait and a barrier: before the last product.
#pragma once

#include "compiler/ir/gpu/Gpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>

namespace nacre::gpu {

struct LateDots {
  DotOp first, last;
  unsigned sum = 0; // which of the loop's values the last product adds to

  // `isAsync`: whether dots by the instruction of that name run while the threads go on.
  static std::optional<LateDots> find(mlir::scf::ForOp loop, const llvm::DenseSet<mlir::Value> &slots,
                                      const std::function<bool(llvm::StringRef)> &isAsync);
  // The loop may be another by now, with the same body and the same values first.
  void apply(mlir::scf::ForOp loop);
};

// The tile that a tile in shared memory is a view of.
mlir::Value viewed(mlir::Value tile);

} // namespace nacre::gpu
