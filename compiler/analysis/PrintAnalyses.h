// print-axis-info and print-access-forms: passes that write what the analyses found beside the operations, as string
// attributes. For tests, and for whoever wonders why an access was not vectorized.
//
//   %x = arith.addi %a, %b {axis_info = "axis 0: contiguity 64 constancy 1 divisibility 16"} : tensor<64xi32>
//   %v = tile.load %p mask %m ... {access = "%arg0 + 64 * %0 + i0", mask_form = "64 * %0 + i0 < %arg1"} : ...
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

void registerPrintAnalyses();

} // namespace nacre
