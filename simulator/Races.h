// Races: every access to shared and to global memory, compared with what came before.
#pragma once

#include "simulator/Machine.h"
#include <cstdlib>

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
// The same for lanes of the warp and memory of its own block; returns the lanes that `before` is told of.
uint32_t trackShared(Warp &warp, uint32_t lanes, const uint64_t *address, uint32_t bytes, SharedAccess access,
                     Overwrite *before);
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
};
// What was last done to a granule of an allocation: the last plain write and the last read, between blocks and by the
// warps of one block; where there was more than that, strong writes, and one more reader and strong writer of a block.
// Each lies in an array of its own, of pages that cost nothing until they are touched.
struct GlobalWrite {
  std::atomic<uint64_t> write, writer;
};
struct GlobalRead {
  std::atomic<uint64_t> read, reader;
};
struct GlobalMoreReaders {
  std::atomic<uint64_t> reader;
  std::atomic<uint32_t> block; // + 1
};
struct MemoryShadow { // of a stretch of an allocation
  GlobalWrite *writes = nullptr, *strongWrites = nullptr, *moreStrongWrites = nullptr;
  GlobalRead *reads = nullptr;
  GlobalMoreReaders *moreReaders = nullptr;
  // Something is in strongWrites, in moreReaders, in moreStrongWrites.
  std::atomic<bool> hasStrong = false, hasMore = false, hasMoreStrong = false;
  size_t granules = 0, mapped = 0;
  explicit MemoryShadow(size_t granules);
  ~MemoryShadow();
  MemoryShadow(const MemoryShadow &) = delete;
};
// Of a whole allocation, which may be most of the address space of a process: a stretch is made when it is first
// accessed.
class AllocationShadow {
public:
  static constexpr uint32_t stretchBits = 20; // granules
  const uint32_t shift;                       // of bytes to granules
  AllocationShadow(uint64_t bytes, uint32_t shift);
  MemoryShadow &stretch(uint64_t index) {
    MemoryShadow *found = stretches.get()[index].load(std::memory_order_acquire);
    return found ? *found : made(index);
  }

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  const uint64_t granules;
  std::unique_ptr<std::atomic<MemoryShadow *>, Free> stretches; // null: not accessed yet
  std::mutex mutex;
  std::vector<std::unique_ptr<MemoryShadow>> owned;
  MemoryShadow &made(uint64_t index);
};
// Accesses of lanes to one allocation, `bytes` each. `before`, by lane, is told of unordered plain writes of the same
// places, which are a race only if the value differs; the lanes told of are returned.
uint32_t trackGlobal(Warp &warp, const Allocation &allocation, uint32_t lanes, const uint64_t *address, uint32_t bytes,
                     const GlobalAccess &access, Overwrite *before);
void joinBlocks(BlockTimes &into, const BlockTimes &from);
void acquireBlocks(Block &block, const BlockTimes &from); // what others released is ordered before what it does next
void releaseBlock(Block &block, BlockTimes &into); // what the block did so far is ordered before what acquires it
void fenceBlock(Block &block);

// Synchronization through memory: strong operations and fences.
inline bool isRelease(MemoryOrder order) {
  return order == MemoryOrder::Release || order == MemoryOrder::AcquireRelease;
}
inline bool isAcquire(MemoryOrder order) {
  return order == MemoryOrder::Acquire || order == MemoryOrder::AcquireRelease;
}
// No access of this kind orders anything yet: nothing was released or fenced.
bool synchronizesNothing(const Warp &warp, MemoryOrder order, bool global);
void synchronizeAt(Warp &warp, std::unordered_map<uint64_t, Clocks> &table, uint64_t address, bool reads, bool writes,
                   MemoryOrder order);
void synchronizeGlobal(Warp &warp, uint64_t address, bool reads, bool writes, MemoryOrder order);
void fence(Warp &warp, Scope scope);
// What the warp did so far is ordered before what comes after: it releases into `clocks`.
void release(Warp &warp, Clocks &clocks);
void acquire(Warp &warp, const Clocks &clocks);

} // namespace nacre::simulator
