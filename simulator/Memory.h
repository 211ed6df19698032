// Access to simulated memory: addresses to host pointers, with bounds, alignment, initialization, races and counters.
#pragma once

#include "simulator/Machine.h"
#include "simulator/Races.h"

namespace nacre::simulator {

enum class AccessKind : uint8_t { Read, Write, Atomic };

struct Access {
  Space space = Space::Generic;
  uint32_t bytes = 4; // of one lane
  uint32_t alignment = 4;
  AccessKind kind = AccessKind::Read;
  MemoryOrder order = MemoryOrder::Weak;
  bool updates = true; // an atomic whose result depends on all of what was there
};

// The host address of each lane's bytes. Lanes whose access is refused (and reported) are missing in the mask returned.
uint32_t resolve(Warp &warp, const Op &op, uint32_t mask, const uint64_t *address, std::byte **host,
                 const Access &access);

// Lanes whose plain store overwrites a plain write that nothing orders before it: reported where the value differs.
struct Overwrites {
  uint32_t mask = 0;
  Overwrite before[laneCount];
};
extern thread_local Overwrites overwrites;
extern thread_local uint32_t undefinedLanes; // lanes whose load read local memory that nothing has written
void reportOverwrites(Warp &warp, uint32_t changed);

// The lanes' addresses of an operand.
void addressesOf(const Warp &warp, Slot base, int64_t offset, bool narrow, uint64_t (&address)[laneCount]);

// One access of an engine beside the lanes (bulk copies, wgmma, matrix loads): a range of shared memory of a block of
// the cluster. Null if it is out of bounds (reported).
struct SharedRange {
  Block *block = nullptr;
  uint32_t offset = 0; // in Block::shared
  std::byte *data = nullptr;
};
SharedRange sharedRange(Warp &warp, uint32_t lane, uint64_t address, uint32_t bytes, const char *what);
// The same for global memory; null if refused.
std::byte *globalRange(Warp &warp, uint32_t lane, uint64_t address, uint64_t bytes, bool write, const char *what,
                       Stream stream = BulkStream);
// The block whose shared memory an address of it names, and where there; null: the cluster has no such block.
Block *sharedOwner(Warp &warp, uint64_t address, uint32_t &offset);
// A generic or shared address as an address of shared memory.
bool toShared(uint64_t &address);

// Counts the wavefronts of an access to shared memory by lanes, `bytes` each; `loads`: to registers.
void countShared(Warp &warp, const uint64_t *address, uint32_t mask, uint32_t bytes, bool loads);

} // namespace nacre::simulator
