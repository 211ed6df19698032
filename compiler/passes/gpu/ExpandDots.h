// expand-dots: products that the machine's matrix instructions do not have become products that they do have.
//
//   %c = tile.dot %a, %b, %acc precision tf32x3 : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
//     ==>  the sum of three products of parts of %a and %b, each exact in the instruction's type
//
// - Sums in f16 are made in f32 and rounded once.
// - fp8 operands that no instruction multiplies become f16, which holds every one of them.
// - f32 by tf32x3, bf16x3, bf16x6: each operand is the sum of two or three parts, each what is left by the parts
// before,
//   rounded; the products of parts are summed, the smallest first. A part of an infinity or NaN beyond the first is 0,
//   so that the first part alone decides.
//
// Needs: scaled products expanded. Gives: dots that choose-dots has an instruction for, but for those that are left to
// plain arithmetic: f32 by ieee, and what the machine has nothing for. A product is expanded only if its parts are then
// multiplied by instructions.
#pragma once

#include "compiler/passes/gpu/Machine.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::simt {

// The machine outlives the pass.
std::unique_ptr<mlir::Pass> createExpandDots(const Machine &machine);

} // namespace nacre::simt
