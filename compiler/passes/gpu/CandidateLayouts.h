// Layouts that suit an access to memory, and what an access costs in a layout.
#pragma once

#include "compiler/passes/gpu/DescribeAccesses.h"

namespace nacre::simt {

// A tile spread over a block: `count` neighbours along the first axis of `order` in registers, then lanes along the
// axes in order, then warps along them (from the last axis of the order backwards when `warpsOutside`), the rest in
// registers. Threads that are too many hold copies. The blocks of a cluster have equal parts of the last axis of the
// order, or of those before it where it is too short.
LinearLayout spreadLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order, int64_t count,
                          bool warpsOutside, const BlockShape &block);

// The same where blocks have these parts (Clusters.h) of a tile of so many elements, as logarithms.
LinearLayout spreadOverParts(llvm::ArrayRef<unsigned> bits, const LinearLayout &parts, llvm::ArrayRef<unsigned> order,
                             int64_t count, bool warpsOutside, const BlockShape &block);

// The layouts to choose from for an access, the one that it alone would choose first.
llvm::SmallVector<LinearLayout> candidatesFor(const AccessDescription &access, const BlockShape &block);
// For tiles that nothing else decides; at least `pack` neighbours of the last axis in registers.
LinearLayout defaultLayout(mlir::RankedTensorType type, const BlockShape &block, int64_t pack = 1);

// In cycles of issue of one warp times the warps: instructions, and memory sectors beyond those that hold the data.
double accessCost(const AccessDescription &access, const LinearLayout &layout);
double reduceCost(const LinearLayout &layout, unsigned axis);
// Of a change between layouts; none within registers.
double convertCost(const LinearLayout &from, const LinearLayout &to, int64_t elementBytes);

} // namespace nacre::simt
