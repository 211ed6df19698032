// mbarrier objects: arrivals, transactions, phases.
#pragma once

#include "simulator/Memory.h"
#include "simulator/Races.h"

namespace nacre::simulator {

// The object at a shared address, which may lie in another block of the cluster; null (and reported) if there is none.
// `asynchronous`: it is used by the async proxy.
struct MbarrierAt {
  Mbarrier *object = nullptr;
  Block *block = nullptr;
};
MbarrierAt findMbarrier(Warp &warp, uint32_t lane, uint64_t address, const char *what, bool asynchronous = false);
void arrive(Warp &warp, uint32_t lane, const MbarrierAt &at, uint32_t count, bool releases, bool drops);
void expectTransactions(Warp &warp, uint32_t lane, const MbarrierAt &at, int64_t bytes);
// What asynchronous copies write is ordered before the phase that they complete in.
void completeTransactions(Warp &warp, uint32_t lane, const MbarrierAt &at, int64_t bytes);

} // namespace nacre::simulator
