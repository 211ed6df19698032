// See Occupancy.h.
#include "compiler/targets/cuda/Occupancy.h"
#include "compiler/passes/gpu/StreamedRegisters.h"

using namespace nacre;
using namespace nacre::cuda;

// A kernel that streams memory with at most so many registers for its tiles may use as many as let so many threads
// share a multiprocessor: half of those that it has room for, with more loads in flight each.
static constexpr int64_t mostStreamed = 40, streamingThreads = 1024;
// A few bytes that are spilled so that two blocks with products share a multiprocessor are worth it.
static constexpr int64_t spilledForTwo = 32;

Occupancy::Occupancy(mlir::func::FuncOp kernel)
    : streamed(simt::streamedRegisters(kernel)), multiplied(simt::productRegisters(kernel)) {}

static constexpr int64_t allRegisters = 65536, forAddresses = 32, reservedBytes = 1024;

RoleRegisters Occupancy::ofRoles(int64_t threads, int64_t producerThreads, int64_t sharedBytes,
                                 const Architecture &architecture) const {
  // A warpgroup gets registers by eight of a thread, and a thread that copies needs few.
  constexpr int64_t unit = 8, ofProducer = 24, mostOfThread = 240;
  auto of = [&](int64_t blocks) {
    int64_t all = threads + producerThreads;
    int64_t first = std::min<int64_t>(255, allRegisters / (blocks * all)) / unit * unit;
    int64_t left = (first * all - ofProducer * producerThreads) / threads / unit * unit;
    RoleRegisters roles{blocks, ofProducer, std::min(left, mostOfThread)};
    return roles.others > first ? roles : RoleRegisters{blocks};
  };
  RoleRegisters twice = of(2);
  bool fits = multiplied && *multiplied + forAddresses <= twice.others &&
              2 * (sharedBytes + reservedBytes) <= architecture.sharedBytes + reservedBytes;
  return fits ? twice : of(1);
}

// Whether there is shared memory for two blocks, and registers, with some for addresses.
bool Occupancy::fitsTwice(int64_t threads, int64_t sharedBytes, const Architecture &architecture) const {
  int64_t most = allRegisters / (2 * threads);
  return architecture.hasWarpgroupProducts && multiplied && most < 255 && *multiplied + forAddresses <= most &&
         2 * (sharedBytes + reservedBytes) <= architecture.sharedBytes + reservedBytes;
}

std::optional<OccupancyHint> Occupancy::hint(int64_t threads, int64_t sharedBytes,
                                             const Architecture &architecture) const {
  if (fitsTwice(threads, sharedBytes, architecture))
    return OccupancyHint{2, spilledForTwo};
  if (streamed && *streamed <= mostStreamed)
    return OccupancyHint{std::max<int64_t>(1, streamingThreads / threads), 0};
  return std::nullopt;
}
