// The machine as programs may read it: every engine that runs on the host answers from here.
#pragma once

#include <chrono>
#include <cstdint>
#include <sched.h>

namespace nacre {

// Nanoseconds of a clock that all programs share.
inline uint64_t clockNanoseconds() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}
// The number of the core that asks.
inline uint32_t processorNumber() { return static_cast<uint32_t>(sched_getcpu()); }

} // namespace nacre
