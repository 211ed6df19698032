// scalarize-carried: a tile that a loop only moves along by the same amount in every element is carried as that amount.
//
//   %p = scf.for ... iter_args(%t = %init) { ... yield tile.addptr %t, splat(%s) }
//     ==>  %o = scf.for ... iter_args(%o = 0) { %t = tile.addptr %init, splat(%o) ... yield %o + %s }
//
// The pointers of the usual matmul (`a_ptrs += BLOCK_K * stride`) then are scalars plus one function per axis, which
// lowerings see through, and no tile of pointers is kept in memory. Integer tiles (`offsets += BLOCK`) alike.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

std::unique_ptr<mlir::Pass> createScalarizeCarried();
void registerScalarizeCarried();

} // namespace nacre
