// Which operations bring data from one block of a cluster to another, by their layouts.
//
// A program of several blocks (launch option num_ctas) is run by a cluster. Layouts say which block has which part of a
// tile, by the bases of Place::Block. Most operations are a block's own business: elementwise ones, accesses, and all
// that exchange data along axes of which each block has all. They are planned by the layout of one block, and lowered as
// without clusters. What is left exchanges data across blocks: it is planned as if the threads of all blocks were one
// block's (LinearLayout::withBlocksAsWarps), its scratch memory lies in the cluster's first block, which the others reach
// by distributed shared memory, and the cluster meets where a block would. It begins and ends with such a barrier, so
// that nobody ends, or uses the memory for something else, while others read it.
#pragma once

#include "compiler/ir/simt/Simt.h"

namespace nacre::simt {

// Of an operation in a kernel that clusters of so many blocks run.
bool reachesAcrossBlocks(mlir::Operation *op, int64_t ctas);

// By which an operation along an axis is planned: what one block has, where each has all of the axis; else that of all
// threads of the cluster. The registers are the same.
LinearLayout planningLayout(const LinearLayout &layout, unsigned axis);

// ---- Parts: which block has which part of a tile (LinearLayout::parts)

// What a product needs of its operand (0 or 1) where its result is shared out like this: all along k.
LinearLayout partsOfOperand(const LinearLayout &result, unsigned operand);
// The padded extents of what one block has, as logarithms.
llvm::SmallVector<unsigned> ownBits(llvm::ArrayRef<unsigned> axisBits, const LinearLayout &parts);
// Which block has which part of a tile, each bit of their number halving the first of the axes that is long enough;
// blocks that are too many hold copies. `count` neighbours along the axis `fastest` stay together.
LinearLayout blockParts(llvm::ArrayRef<unsigned> axisBits, llvm::ArrayRef<unsigned> axes, unsigned fastest,
                        int64_t count, int64_t ctas);

} // namespace nacre::simt
