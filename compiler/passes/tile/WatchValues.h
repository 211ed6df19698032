// watch-values: operations tell the tiles that they gave to whoever watches the launch, for the visualizer: loads,
// products, reductions, scans, gathers, atomics and the like, and what a line of the kernel's text computes last.
//
//   %s = tile.reduce %x axis 0 {...} : (tensor<8xf32>) -> f32
//     ==>  %s = tile.reduce %x axis 0 {...} : (tensor<8xf32>) -> f32
//          tile.tell "value" "sum axis 0" %x, %s
//
// Products and reductions tell their operands first, then the result. Functions of single elements are left alone.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

std::unique_ptr<mlir::Pass> createWatchValues();
void registerWatchValues();

} // namespace nacre
