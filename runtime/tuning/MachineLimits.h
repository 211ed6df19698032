// What benchmarks ask of the machine itself: caches emptied before a timed call, and the most that memory and
// arithmetic units give when all threads work.
#pragma once

#include <cstdint>

namespace nacre {

// The size in bytes of the last-level caches that this process' cores reach; 32 MiB where the machine does not say.
uint64_t lastLevelCacheBytes();

// Pushes everything else out of the caches: all threads read memory of the last-level cache's size. The memory is
// kept for the next call.
void clearCaches();

// Bytes per second, read and written, of a copy between blocks that no cache holds, by all threads; the best of a few.
double measuredBandwidth();

// Multiply-adds of registers per second, two operations each, by all threads; the best of a few. `width` is 32 or 64.
double measuredOperations(int width);

} // namespace nacre
