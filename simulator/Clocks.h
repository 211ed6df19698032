// Vector clocks: what a warp has seen of every agent of its cluster.
//
// Agents: each warp; each warp's stream of cp.async copies, of bulk copies, of wgmma; each mbarrier that tensor copies
// complete on. `seen[a] >= t` says: what agent a did at its time t happened before. `proxy` says the same of generic
// writes that were made visible to the async proxy by a fence. `over` says it of generic reads that the async proxy may
// write after: a fence, or the reader's arrival on an mbarrier, waits until they have their values. A barrier of the block alone
// does not, since the loads of its warps may still be on their way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nacre::simulator {

using Clock = uint32_t;

inline Clock clockOf(const std::vector<Clock> &clocks, uint32_t agent) {
  return agent < clocks.size() ? clocks[agent] : 0;
}
inline void raiseClock(std::vector<Clock> &clocks, uint32_t agent, Clock value) {
  if (agent >= clocks.size())
    clocks.resize(agent + 1);
  if (clocks[agent] < value)
    clocks[agent] = value;
}
inline void joinClocks(std::vector<Clock> &into, const std::vector<Clock> &from) {
  if (into.size() < from.size())
    into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    into[i] = into[i] < from[i] ? from[i] : into[i];
}

struct Clocks {
  std::vector<Clock> seen, proxy, over;
  void join(const Clocks &other) {
    joinClocks(seen, other.seen);
    joinClocks(proxy, other.proxy);
    joinClocks(over, other.over);
  }
  void clear() {
    seen.clear();
    proxy.clear();
    over.clear();
  }
  bool empty() const { return seen.empty(); }
};

// The streams of a warp, as agents: agentOf(warp) + one of these.
enum Stream : uint32_t { GenericStream = 0, CopyStream = 1, BulkStream = 2, WgmmaStream = 3, StreamCount = 4 };

} // namespace nacre::simulator
