// Stores move behind the arithmetic that follows them.
//
// A loaded row that is read by several loops is read again from the caller's memory, if nothing was written since
// (Lowering::canReadAgain); else it is copied to scratch memory first. Kernels often store a row before they add it to
// their running sums; with the store behind those sums the row needs no copy:
//
//   %x = tile.load ...                           %x = tile.load ...
//   tile.store %p, %scaled            ==>        %next = arith.addf %sum, %x
//   %next = arith.addf %sum, %x                  tile.store %p, %scaled
//   scf.yield %next                              scf.yield %next
//
// Legal always: a store moves behind operations without effects on memory and without regions, of its own block. It
// stops before tiles of another shape and before what is computed as a whole (reductions, products, scans), which would
// part it from the loops that compute its value.
#pragma once

#include "compiler/ir/tile/Tile.h"

namespace nacre::cpu {

void sinkStores(mlir::func::FuncOp kernel);

} // namespace nacre::cpu
