// place-shared: every tile in shared memory and every operation's scratch gets its place there.
//
//   %t = simt.allocate : ...     ==>   %t = simt.allocate {simt.offset = 0 : i64} : ...
//   %y = simt.convert %x : ...   ==>   %y = simt.convert %x {simt.offset = 8192 : i64, simt.scratch = 4096 : i64} : ...
//
// Needs: layouts that are final. Gives: simt.offset on allocations, simt.offset and simt.scratch on each operation that
// uses shared memory for itself, and simt.shared, all bytes, on the module.
//
// Allocations that are in use at the same time lie beside each other: from the operation that makes one to the last
// that uses it, whole loops where it is made outside of them. Scratch is dead when its operation is done, so all of it
// could begin behind the tiles that are in use; but then all threads had to meet before each use. Of two operations in
// a row the second gets the bytes beside the first's, as long as that costs no more than the largest use, or is little.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::simt {

std::unique_ptr<mlir::Pass> createPlaceShared();

} // namespace nacre::simt
