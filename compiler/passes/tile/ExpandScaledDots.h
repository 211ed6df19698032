// expand-scaled-dots: products of block-scaled operands become products of their values, for a target that has no such
// instruction.
//
//   %c = tile.dot_scaled e4m3 %a scale %s : tensor<16x2xi8>, bf16 %b, %acc
//          : tensor<16x64xf8E4M3FN>, tensor<64x32xbf16> -> tensor<16x32xf32>
//     ==>  %c = tile.dot %values, %b, %acc : tensor<16x64xbf16>, tensor<64x32xbf16> -> tensor<16x32xf32>
//
// with %values the numbers of %a, unpacked, times their scales. They are bf16 where that holds every one of them, as it
// does those of small floats with scales that are bytes or small floats; else they are f32. What the product means is the language's
// (language/ScaledDot.cpp), so that both this pass and the evaluator say the same.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

std::unique_ptr<mlir::Pass> createExpandScaledDots();
void registerExpandScaledDots();

} // namespace nacre
