// Tiles in shared memory that the hardware copies as boxes: their layout follows from the recipe of the tensor map.
#pragma once

#include "compiler/ir/simt/Simt.h"
#include "compiler/ir/simt/TensorMapRecipe.h"

namespace nacre::simt {

// Of a tensor map, which is an argument of a kernel.
TensorMapRecipe recipeOf(mlir::Value map);

// A box lies in shared memory in row-major order, its pieces of 16 bytes exchanged by the swizzle. A tile of several
// boxes has them one after the other: first along the axes but the last, from the last of these on, then along the last
// axis. With boxes of one swizzled row each, that is sharedInRows (ir/layout/SharedAccess.h).
LinearLayout boxLayout(const TensorMapRecipe &recipe, llvm::ArrayRef<int64_t> shape);
// The tile of the map in that layout. Of a cluster, each block has all of it; or the part that it has in the registers'
// layout, where that is whole boxes.
SharedType boxTile(mlir::Value map);
SharedType boxTile(mlir::Value map, const LinearLayout &registers);
// The extents of what one block has of a tile, which are powers of two.
llvm::SmallVector<int64_t> ownShape(SharedType tile);

// The boxes of a tile: where each begins in the tile, and at which offset in shared memory, in elements.
struct BoxPiece {
  llvm::SmallVector<int64_t> coordinates;
  int64_t offset;
};
llvm::SmallVector<BoxPiece> boxPieces(const TensorMapRecipe &recipe, llvm::ArrayRef<int64_t> shape);

} // namespace nacre::simt
