// A loop with two products, of which the second takes what is made of the first one's result and adds it up: the second
// is started an iteration later, right behind that iteration's first one, and runs while the warps work on what that
// one gave. Part of specialize.
//
//   scf.for ... iter_args(%sums = %zero) {
//     %scores = simt.dot %q, %keys, %none
//     ... %weights and %decay from %scores ...
//     %scaled = arith.mulf %sums, %decay
//     %next = simt.dot %weights, %values, %scaled
//     scf.yield %next
//   }
//     ==>
//   the first iteration up to %weights and %scaled
//   scf.for the others, iter_args(%scaled, %weights) {
//     %started = simt.dot async %q, %keys, %none
//     %late = simt.dot async %weights, %values of the iteration before, %scaled
//     %scores = simt.wait_dots 1, %started
//     ... %weights and %decay from %scores ...
//     simt.await %full[%slot] {simt.again}
//     %sums = simt.wait_dots 0, %late
//     %scaled = arith.mulf %sums, %decay
//     scf.yield %scaled, %weights
//   }
//   %next = simt.dot %weights, %values of the last iteration, %scaled
//
// An assembler takes a wait for products for free, and moves it in front of all that needs nothing of them: the work
// that was to be beside the product would begin behind it. (Measured with ptxas 13.) It moves nothing past a loop. So
// the barrier that the second product's slot was awaited at is looked at once more, by the same loop, which ends at
// once.
//
// Legal, decided in `find` and nowhere else, when LateDots has found these two products, and
// - the second one's left operand is in registers, the right one in a slot that nothing else reads and that has
//   barriers of its own;
// - what is made of the sums in an iteration is for the second product alone.
#pragma once

#include "compiler/passes/gpu/LoopPlan.h"

namespace nacre::simt {

// On simt.await: waits for the phase that was waited for last.
inline constexpr llvm::StringLiteral againAttribute = "simt.again";

class OverlapDots {
public:
  // Of a plan whose loop is as it was, and has its rings.
  static std::optional<OverlapDots> find(const LoopPlan &plan);
  // `loop` is the plan's by now: its loads are slots that are awaited and released as if each product was waited for at
  // once. The last value that it carries is the slot. Gives what has taken its place.
  mlir::Operation *apply(mlir::scf::ForOp loop);

private:
  DotOp first, second;
  unsigned sums = 0;                         // which of the loop's values the second one makes
  llvm::SetVector<mlir::Operation *> scales; // what is made of the sums before
};

} // namespace nacre::simt
