// How a tile changes from one register layout to another: the cheapest way, planned from the two maps alone.
//
// 1. Registers: threads and elements stay together, only registers are renamed. Free.
// 2. Shuffles: nothing leaves its warp, and the lanes exchange few enough words.
// 3. Shared memory, within each warp (no thread waits for another warp) or for the whole block; in several rounds where
//    scratch memory is short. A tile that threads cover so that no round of whole registers is small enough goes in
//    parts: in each round some of the threads write, and all read.
//
// A plan is data. It says what each thread does as linear functions of its lane and warp; the lowering emits it, the
// tests execute it on arrays.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"
#include "compiler/ir/layout/Swizzle.h"

namespace nacre {

// Shuffles, in three steps. With x the registers of the source:
//   before:  one after the other, x[r] and x[r ^ registers] are exchanged in the threads whose parity is odd;
//   rounds:  y[to] of each lane = x[from] of lane  laneMap(lane) ^ warpMap(warp) ^ laneFlip;
//   after:   as before, on y.
struct ShufflePlan {
  struct Exchange {
    uint32_t registers;    // the distance of the two
    uint32_t lanes, warps; // the bits of the thread's lane and warp whose parity decides
  };
  // Moves that ask the same lane: narrow values among them can travel in one word.
  struct Round {
    uint32_t laneFlip;
    llvm::SmallVector<std::pair<uint32_t, uint32_t>> moves; // from, to
  };
  llvm::SmallVector<Exchange> before, after;
  llvm::SmallVector<Round> rounds;
  BitMatrix laneMap, warpMap;
  // As many registers as `before` starts with (copies of the source's where it has fewer), and as `after` ends with.
  uint32_t registers = 1;
  // For each register of the destination the one of y; for each of the first `registers` one of the source.
  llvm::SmallVector<uint32_t> fromSource, toDestination;

  // Lanes ask lanes at a fixed distance; a round with distance 0 moves nothing.
  bool isFlip() const;
  // Shuffles of 32-bit words, and selects, in each thread.
  unsigned shuffleCount(unsigned elementBits) const;
  unsigned selectCount() const;
};

// An exchange through shared memory. Offsets count elements; they are exclusive ors of what the register, the lane and
// the warp contribute.
struct MemoryPlan {
  struct Access {
    llvm::SmallVector<uint32_t> registers; // neighbours in memory, from the lowest offset on
    uint32_t offset;                       // the registers' share of it
    uint32_t part = 0;                     // of a write: the part that the thread has to be of, see below
  };
  struct Round {
    llvm::SmallVector<Access> writes, reads;
  };
  // Only the warp's own lanes read what it wrote.
  bool withinWarp = false;
  // Of the writer: only the threads that hold no copy write. Bits of lane and warp that have to be 0.
  uint32_t laneCopies = 0, warpCopies = 0;
  // The thread's share of offsets.
  BitMatrix writeLane, writeWarp, readLane, readWarp;
  // The part that a thread is of as a writer, partLane(lane) ^ partWarp(warp); no bits: all threads write in each round.
  BitMatrix partLane, partWarp;
  unsigned partBits = 0;
  unsigned offsetBits = 0;
  llvm::SmallVector<Round> rounds; // a barrier between writes and reads, and between rounds
  // Registers of the destination that are copies of others: (copy, of).
  llvm::SmallVector<std::pair<uint32_t, uint32_t>> copies;

  uint64_t elements() const { return uint64_t(1) << offsetBits; }
};

struct Conversion {
  enum class Kind : uint8_t { Registers, Shuffles, Memory };
  Kind kind = Kind::Registers;
  // Kind::Registers: for each register of the destination the source's.
  llvm::SmallVector<uint32_t> registers;
  ShufflePlan shuffles;
  MemoryPlan memory;

  // Bytes of shared memory.
  uint64_t scratchBytes(unsigned elementBits) const {
    return kind == Kind::Memory ? memory.elements() << elementBits : 0;
  }
  // Instructions that a warp issues, wavefronts of memory counted one by one and a barrier as some: what a choice
  // between layouts weighs.
  unsigned cost(unsigned elementBits, const SharedMemoryModel &model = {}) const;
};

// What one operation takes at most to bring values from thread to thread; more goes in rounds. The shared memory of the
// smallest GPU. A round needs no more than 16 bytes of each thread, of which a block has at most 2048.
inline constexpr int64_t mostScratchBytes = 64 << 10;

// What a target and the kernel around it allow.
struct ConversionLimits {
  SharedMemoryModel model;
  unsigned shuffles = 16;           // words shuffled by each thread, at most
  // Aimed at by rounds in which each thread writes and reads; and never passed, by parts. Every target has the latter.
  uint64_t scratchBytes = 48 << 10, mostBytes = mostScratchBytes;
};

// Both are register layouts of the same tile, lanes and warps, and cover it; elements have 2^elementBits bytes.
Conversion planConversion(const LinearLayout &source, const LinearLayout &destination, unsigned elementBits,
                          const ConversionLimits &limits = {});

// The single ways, for tests and for those who know that they want one. None: not possible this way.
std::optional<llvm::SmallVector<uint32_t>> planRegisters(const LinearLayout &source, const LinearLayout &destination);
std::optional<ShufflePlan> planShuffles(const LinearLayout &source, const LinearLayout &destination,
                                        unsigned elementBits);
MemoryPlan planMemory(const LinearLayout &source, const LinearLayout &destination, unsigned elementBits,
                      const ConversionLimits &limits);

} // namespace nacre
