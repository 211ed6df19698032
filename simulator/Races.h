// Races: every access to shared and to global memory, compared with what came before.
#pragma once

#include "simulator/Machine.h"

namespace nacre::simulator {

// An earlier plain write of a place that is plainly written now, and nothing orders the two: a race if the value
// changes.
struct Overwrite {
  enum class By : uint8_t { Nobody, Lane, Warp, Block } by = By::Nobody;
  uint32_t op = 0;
  bool shared = false; // in shared memory
};

struct SharedAccess {
  bool write = false;
  bool strong = false;     // atomic, volatile or with an order: does not race with its like
  bool asyncProxy = false; // bulk copies and wgmma
  uint32_t agent = 0;
  Clock clock = 0;
  uint32_t lane = 0;
  bool updates = false;             // reads what it writes
  Overwrite *overwritten = nullptr; // told of unordered plain writes, which are a race if the values differ
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
// What was last done to a granule: the last plain write, the last strong write since and reads since, each between
// blocks and by the warps of one block.
struct GlobalShadow {
  std::atomic<uint64_t> write, strongWrite, read;
  std::atomic<uint64_t> writer, strongWriter, firstReader, lastReader;
  std::atomic<uint32_t> readersBlock; // + 1
  std::atomic<uint32_t> readerLanes;  // of the last plain read: which lanes of which warp
};
struct MemoryShadow {
  GlobalShadow *entries = nullptr;
  uint32_t shift = 2;
  size_t mapped = 0;
  explicit MemoryShadow(uint64_t bytes, uint32_t shift);
  ~MemoryShadow();
  MemoryShadow(const MemoryShadow &) = delete;
};
// Returns an unordered plain write of the same place that is a race only if the value differs.
Overwrite trackGlobal(Warp &warp, const Allocation &allocation, uint64_t address, uint32_t bytes,
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
