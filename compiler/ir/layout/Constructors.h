// The layouts that hardware asks for, made of their bases. Nothing after construction asks of which kind a layout is.
//
// Fragments are those of one instruction: one warp, or the four of a warpgroup. `tileOver` repeats one over a tile.
// Axes of fragments: A is (m, k), B is (k, n), C and D are (m, n); all of them hold perRegister elements in 32 bits.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"

namespace nacre {

// How threads are dealt out over a tile: along each axis so many (as logarithms) registers, lanes and warps. `order`
// has the axes from the fastest on: the first is the one that neighbouring registers and lanes walk along.
struct Blocking {
  llvm::SmallVector<unsigned> order;
  llvm::SmallVector<unsigned> registerBits, laneBits, warpBits;
};

// The tile dealt out by a blocking: the block that all threads cover at once is repeated, in higher registers, over a
// larger tile; over a smaller one the lanes and warps beyond it hold copies.
LinearLayout blocked(llvm::ArrayRef<unsigned> axisBits, const Blocking &blocking);
// The blocking of so many lanes and warps with 2^vectorBits neighbours a thread along the fastest axis, lanes then
// warps filling each axis in turn.
Blocking blockingFor(llvm::ArrayRef<unsigned> axisBits, llvm::ArrayRef<unsigned> order, unsigned vectorBits,
                     unsigned laneBits, unsigned warpBits);

// An instruction's layout repeated over a tile, first by warps along the axes `warpAxes` (one entry for each warp bit,
// an axis that is used up gives copies; `copyAxis` always does), then by registers, axes in `order`.
inline constexpr unsigned copyAxis = ~0u;
LinearLayout tileOver(const LinearLayout &instruction, llvm::ArrayRef<unsigned> axisBits,
                      llvm::ArrayRef<unsigned> warpAxes, llvm::ArrayRef<unsigned> order);

// mma.sync, m 16 or 8, and the wgmma forms, m 64. A of wgmma is held by registers as here or lies in shared memory.
LinearLayout fragmentA(unsigned m, unsigned k, unsigned perRegister);
LinearLayout fragmentB(unsigned k, unsigned n, unsigned perRegister);
// n a power of two from 8 on. (Other n of wgmma are made of several of these.)
LinearLayout fragmentC(unsigned m, unsigned n);

// One 8 x 16-byte matrix of ldmatrix and stmatrix as lanes hold it, axes (row, column); `transposed` is for 16-bit
// elements only. Further matrices are further register bits.
LinearLayout matrixLoad(unsigned perRegister, bool transposed);

// Shared tiles. Axes from the fastest on, no swizzle.
LinearLayout sharedInOrder(llvm::ArrayRef<unsigned> axisBits, llvm::ArrayRef<unsigned> order);
// The swizzle of the asynchronous copies and matrix instructions: rows of 2^spanBits bytes (5, 6 or 7) along the
// fastest axis, whose 16-byte pieces are exchanged by the address bits above bit 6. An axis longer than a row gives
// several panels one after the other. elementBits is the logarithm of the bytes of an element.
LinearLayout sharedSwizzled(llvm::ArrayRef<unsigned> axisBits, llvm::ArrayRef<unsigned> order, unsigned spanBits,
                            unsigned elementBits);

// What sharedSwizzled was made with, of a tile of two axes; none of other layouts.
struct SwizzledRows {
  unsigned fastest; // the axis that rows lie along
  unsigned spanBits;
};
std::optional<SwizzledRows> matchSwizzledRows(const LinearLayout &shared, unsigned elementBits);

} // namespace nacre
