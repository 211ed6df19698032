// stage-boxes: copies of boxes go through tiles in shared memory.
//
//   %x = simt.load_box %map[%i, %j] : ...
//     ==>  %tile = simt.allocate : !simt.shared<64x32xf16, #s>
//          %full = simt.allocate_barriers : !simt.barriers<1>
//          simt.copy_box %map[%i, %j], %tile, %full[%zero] : ...
//          simt.await %full[%zero] : !simt.barriers<1>
//          %x = simt.read %tile : ...
//
//   simt.store_box %map[%i, %j], %x : ...
//     ==>  simt.write %x, %tile : ...
//          simt.fence global                     // without `global` where the kernel's threads write no global memory
//          simt.barrier
//          simt.copy_out %map[%i, %j], %tile : ...
//
// A copy begins where the load stood, and is waited for at once: legal wherever the load is. Needs: layouts. Gives: no
// simt.load_box or simt.store_box.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::simt {

std::unique_ptr<mlir::Pass> createStageBoxes();

} // namespace nacre::simt
