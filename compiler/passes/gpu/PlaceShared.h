// place-shared: every operation's scratch gets a place in shared memory.
//
//   %y = gpu.convert %x : ...   ==>   %y = gpu.convert %x {gpu.offset = 0 : i64, gpu.scratch = 4096 : i64} : ...
//
// Needs: layouts that are final. Gives: gpu.offset and gpu.scratch on each operation that uses shared memory for
// itself, and gpu.shared, all bytes, on the module. Scratch is dead when its operation is done, so all of it could
// begin at 0; but then all threads had to meet before each use. Of two operations in a row the second gets the bytes
// beside the first's, as long as that costs no more than the largest use, or is little.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::gpu {

std::unique_ptr<mlir::Pass> createPlaceShared();

} // namespace nacre::gpu
