// widen-small-floats: arithmetic on floats that the target does not compute with is done in f32 and rounded once.
//
//   %z = arith.addf %x, %y : tensor<8xf16>
//     ==>  %z = truncf(addf(extf %x, extf %y : tensor<8xf32>) to tensor<8xf16>)
//
// Comparisons, conversions between small floats and integers, and elementary functions likewise, inside combine regions
// too. Loads, stores, shapes, selects, bit casts, dots and conversions between floats work on small floats as they are.
// Afterwards no operation of arith or math computes with one.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

// What a target computes with by itself; fp8 none does.
struct SmallFloatArithmetic {
  bool f16 = false, bf16 = false;
};

// Whether the operation computes with a small float that the target does not.
bool isSmallFloatArithmetic(mlir::Operation *op, SmallFloatArithmetic kept = {});

std::unique_ptr<mlir::Pass> createWidenSmallFloats(SmallFloatArithmetic kept = {});
void registerWidenSmallFloats();

} // namespace nacre
