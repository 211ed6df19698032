// The tile dialect: a kernel as operations on whole tiles.
//
// A tile is a builtin ranked tensor of any static shape, its elements numbers or `!tile.ptr`; it may carry an encoding,
// which says how a target lays it out and changes no meaning. Elementwise arithmetic is `arith` and `math` on those
// tensors, control flow is `scf`; this dialect adds what they lack: the grid, pointers, descriptors and memory, shapes, dot,
// reductions, and debugging. A kernel is a `func.func` with the unit attribute `tile.kernel`.
#ifndef NACRE_TILE_TD
#define NACRE_TILE_TD

include "compiler/ir/tile/TileShapes.td"
include "compiler/ir/tile/TileMemory.td"
include "compiler/ir/tile/TileDescriptors.td"
include "compiler/ir/tile/TileCompute.td"
include "compiler/ir/tile/TileDebugging.td"

#endif // NACRE_TILE_TD
