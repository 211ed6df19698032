// Races: every access to shared and to global memory, compared with what came before.
#pragma once

#include "simulator/Machine.h"

namespace nacre::simulator {

struct SharedAccess {
  bool write = false;
  bool strong = false;     // atomic, volatile or with an order: does not race with its like
  bool asyncProxy = false; // bulk copies and wgmma
  uint32_t agent = 0;
  Clock clock = 0;
  uint32_t lane = 0;
};
void trackShared(Warp &issuer, Block &owner, uint32_t offset, uint32_t bytes, const SharedAccess &access);
// The generic accesses of a warp's lanes.
inline SharedAccess genericAccess(Warp &warp, uint32_t lane, bool write, bool strong) {
  return {write, strong, false, warp.agent, warp.ownClock(), lane};
}

void reportEarlyReads(Block &block); // reads of what nothing has written

// --- global memory (GlobalRaces.cpp) ---
struct GlobalAccess {
  bool write = false;
  bool strong = false;
  uint32_t stream = GenericStream; // or of bulk copies
  Clock clock = 0;
  uint32_t lane = 0;
};
// What was last done to a granule: between blocks, and by the warps of one block.
struct GlobalShadow {
  std::atomic<uint64_t> write, read;
  std::atomic<uint64_t> writer, firstReader, lastReader;
  std::atomic<uint32_t> readersBlock; // + 1
};
struct MemoryShadow {
  GlobalShadow *entries = nullptr;
  uint32_t shift = 2;
  size_t mapped = 0;
  explicit MemoryShadow(uint64_t bytes, uint32_t shift);
  ~MemoryShadow();
  MemoryShadow(const MemoryShadow &) = delete;
};
// Returns the op of an unordered write to the same place that only matters if the value differs; ~0: none.
uint32_t trackGlobal(Warp &warp, const Allocation &allocation, uint64_t address, uint32_t bytes,
                     const GlobalAccess &access);
void joinBlocks(BlockTimes &into, const BlockTimes &from);
void releaseBlock(Block &block, BlockTimes &into); // what the block did so far is ordered before what acquires it
void fenceBlock(Block &block);

// Synchronisation through memory: strong operations and fences.
inline bool isRelease(MemoryOrder order) {
  return order == MemoryOrder::Release || order == MemoryOrder::AcquireRelease;
}
inline bool isAcquire(MemoryOrder order) {
  return order == MemoryOrder::Acquire || order == MemoryOrder::AcquireRelease;
}
void synchroniseAt(Warp &warp, std::unordered_map<uint64_t, Clocks> &table, uint64_t address, bool reads, bool writes,
                   MemoryOrder order);
void synchroniseGlobal(Warp &warp, uint64_t address, bool reads, bool writes, MemoryOrder order);
void fence(Warp &warp, Scope scope);
// What the warp did so far is ordered before what comes after: it releases into `clocks`.
void release(Warp &warp, Clocks &clocks);
void acquire(Warp &warp, const Clocks &clocks);

} // namespace nacre::simulator
