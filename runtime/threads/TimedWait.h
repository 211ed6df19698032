// Sleeping until a counter changes, with a limit, which std::atomic's own wait does not have.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nacre {

// Returns when woken, when the counter is not `value`, after the limit, or by chance.
inline void sleepWhile(std::atomic<uint32_t> &counter, uint32_t value, long milliseconds) {
  timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  syscall(SYS_futex, &counter, FUTEX_WAIT_PRIVATE, value, &limit, nullptr, 0);
}

inline void wakeSleepers(std::atomic<uint32_t> &counter) {
  syscall(SYS_futex, &counter, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace nacre
