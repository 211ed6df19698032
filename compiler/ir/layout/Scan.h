// How running combinations along an axis are made, planned from the layout alone.
//
// The bits of the axis are done from the lowest on. The lowest, as long as registers have them, make chunks: registers
// of a thread that are neighbours. Every further bit joins two blocks of elements, within the thread, between two
// lanes, or, for a run of bits that warps have, through shared memory. passes/gpu/LowerScan.cpp says what is combined
// then.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"

namespace nacre {

struct ScanPlan {
  struct InputBit {
    Place place;
    unsigned bit;
  };
  LinearLayout layout;
  unsigned axis = 0;
  // For each bit of the axis the one input bit that moves along it, and along nothing else.
  llvm::SmallVector<InputBit> inputs;
  // How many of them are within chunks; the register bits that number the chunks.
  unsigned chunkBits = 0;
  llvm::SmallVector<unsigned> chunkRegisters;

  uint32_t chunkCount() const { return uint32_t(1) << chunkRegisters.size(); }
  // The registers of a chunk, in the order of the axis.
  llvm::SmallVector<uint32_t> registersOf(uint32_t chunk) const;

  // The exchange of chunks' totals between warps, when the lowest `doneBits` bits of the axis are done: each total has
  // an offset, a linear function of chunk (as register), lane and warp. Threads that only repeat the totals of others
  // have one of the silent bits set. So many chunks, counted from a multiple of it on, are in memory at once.
  struct WarpExchange {
    LinearLayout offsets;
    uint32_t silentLanes = 0, silentWarps = 0, chunksAtOnce = 1;
    uint32_t count() const { return uint32_t(1) << offsets.outputBits(); }
  };
  // With no more totals at once than `mostTotals`, or one of each thread where that is more.
  WarpExchange warpExchange(unsigned doneBits, uint64_t mostTotals = ~uint64_t(0)) const;
  // How many axis bits from `first` on are warps'.
  unsigned warpRun(unsigned first) const;
  // The most elements that an exchange needs; 0 if there is none.
  uint32_t exchangeCount(uint64_t mostTotals = ~uint64_t(0)) const;
};

// None: a bit of the axis is not one input bit. A layout for which there is a plan is `scanLayout`'s.
std::optional<ScanPlan> planScan(const LinearLayout &layout, unsigned axis);
LinearLayout scanLayout(const LinearLayout &layout, unsigned axis);

} // namespace nacre
