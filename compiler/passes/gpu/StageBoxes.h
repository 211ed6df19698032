// stage-boxes: copies of boxes go through tiles in shared memory.
//
//   %x = gpu.load_box %map[%i, %j] : ...
//     ==>  %tile = gpu.allocate : !gpu.shared<64x32xf16, #s>
//          %full = gpu.allocate_barriers : !gpu.barriers<1>
//          gpu.copy_box %map[%i, %j], %tile, %full[%zero] : ...
//          gpu.await %full[%zero] : !gpu.barriers<1>
//          %x = gpu.read %tile : ...
//
//   gpu.store_box %map[%i, %j], %x : ...
//     ==>  gpu.write %x, %tile : ...
//          gpu.fence global                     // without `global` where the kernel's threads write no global memory
//          gpu.barrier
//          gpu.copy_out %map[%i, %j], %tile : ...
//
// A copy begins where the load stood, and is waited for at once: legal wherever the load is. Needs: layouts. Gives: no
// gpu.load_box or gpu.store_box.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::gpu {

std::unique_ptr<mlir::Pass> createStageBoxes();

} // namespace nacre::gpu
