// mbarrier objects: arrivals, transactions, phases.
#pragma once

#include "simulator/Memory.h"
#include "simulator/Races.h"

namespace nacre::simulator {

// The object at a shared address, which may lie in another block of the cluster; null (and reported) if there is none.
struct MbarrierAt {
  Mbarrier *object = nullptr;
  Block *block = nullptr;
};
// Who will touch it: the thread itself, now; or what completes on it later, a st.async or a copy by the async proxy.
enum class MbarrierUser : uint8_t { Thread, Store, Copy };
MbarrierAt findMbarrier(Warp &warp, uint32_t lane, uint64_t address, const char *what,
                        MbarrierUser user = MbarrierUser::Thread);
// The object at an address of shared memory; null: there is none. Reports nothing.
Mbarrier *mbarrierAt(Warp &warp, uint64_t address);
// For reports: "phase 3, 2 of 4 arrivals are missing, 128 bytes are outstanding".
std::string stateOf(const Mbarrier &object);
void arrive(Warp &warp, uint32_t lane, const MbarrierAt &at, uint32_t count, bool releases, bool drops);
void expectTransactions(Warp &warp, uint32_t lane, const MbarrierAt &at, int64_t bytes);
// What asynchronous copies write is ordered before the phase that they complete in.
void completeTransactions(Warp &warp, uint32_t lane, const MbarrierAt &at, int64_t bytes);

} // namespace nacre::simulator
