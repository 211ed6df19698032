// Addresses to host pointers, checked and counted.
#include "simulator/Memory.h"
#include "simulator/Races.h"
#include <algorithm>

namespace nacre::simulator {

thread_local Overwrites overwrites;
thread_local uint32_t undefinedLanes = 0;

const Allocation *LaunchState::find(uint64_t address) const {
  auto after = std::upper_bound(allocations.begin(), allocations.end(), address,
                                [](uint64_t value, const Allocation &allocation) { return value < allocation.begin; });
  if (after == allocations.begin())
    return nullptr;
  const Allocation &candidate = *--after;
  return address < candidate.end ? &candidate : nullptr;
}

static bool holdsByte(const MemoryRange &view, uint64_t address) {
  uint64_t rest = address - reinterpret_cast<uint64_t>(view.data);
  if (rest >= view.bytes) // before it, too
    return false;
  if (view.axes.empty())
    return true;
  for (const MemoryRange::Axis &axis : view.axes)
    rest -= std::min(rest / axis.stride, axis.extent - 1) * axis.stride;
  return rest < view.elementBytes;
}

bool Allocation::inViews(uint64_t address, uint64_t bytes) const {
  for (const MemoryRange &view : views)
    if (uint64_t offset = address - reinterpret_cast<uint64_t>(view.data);
        view.axes.empty() && offset <= view.bytes && bytes <= view.bytes - offset)
      return true;
  for (uint64_t at = address; at < address + bytes; ++at)
    if (std::none_of(views.begin(), views.end(), [&](const MemoryRange &view) { return holdsByte(view, at); }))
      return false;
  return true;
}

void addressesOf(const Warp &warp, Slot base, int64_t offset, bool narrow, uint64_t (&address)[laneCount]) {
  if (narrow) {
    const uint32_t *row = warp.at<uint32_t>(base);
    for (unsigned i = 0; i < laneCount; ++i)
      address[i] = static_cast<uint32_t>(row[i] + static_cast<uint32_t>(offset));
  } else {
    const uint64_t *row = warp.at<uint64_t>(base);
    for (unsigned i = 0; i < laneCount; ++i)
      address[i] = row[i] + static_cast<uint64_t>(offset);
  }
}

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

static const char *verb(AccessKind kind) {
  return kind == AccessKind::Read ? "load" : kind == AccessKind::Write ? "store" : "atomic";
}

// Global addresses are the host's, other ones in each run: places are told by the allocation.
static void reportGlobal(Warp &warp, uint32_t lane, uint64_t address, uint64_t bytes, const char *what) {
  LaunchState &launch = *warp.launch;
  std::string message = std::string(what) + " of " + std::to_string(bytes) + " bytes at ";
  struct Near {
    uint64_t begin = 0, end = 0;
    std::string_view name;
  } nearest;
  uint64_t distance = ~uint64_t(0);
  auto consider = [&](uint64_t begin, uint64_t end, std::string_view name) {
    uint64_t away = address < begin ? begin - address : address + bytes > end ? address + bytes - end : 0;
    if (away < distance)
      distance = away, nearest = {begin, end, name};
  };
  for (const Allocation &allocation : launch.allocations) {
    if (allocation.views.empty())
      consider(allocation.begin, allocation.end, allocation.name);
    for (const MemoryRange &view : allocation.views)
      consider(reinterpret_cast<uint64_t>(view.data), reinterpret_cast<uint64_t>(view.data) + view.bytes, view.name);
  }
  if (address < 4096 && distance >= 4096) // an array without elements may begin there
    message += hexadecimal(address) + ": a null pointer";
  else if (distance < (uint64_t(1) << 32))
    message += "byte " + std::to_string(static_cast<int64_t>(address - nearest.begin)) +
               (address < nearest.begin ? ", before the beginning of `"
                : distance == 0         ? ", between the elements of `"
                                        : ", past the end of `") +
               std::string(nearest.name) + "` (" + std::to_string(nearest.end - nearest.begin) + " bytes)";
  else
    message += (address >> 40 ? "an address" : hexadecimal(address)) + " in no registered allocation";
  launch.report(warp, lane, FindingKind::OutOfBounds, message);
}

[[gnu::noinline]] static void reportMisaligned(Warp &warp, uint32_t lane, uint64_t address, const Access &access,
                                               const char *space) {
  const Allocation *allocation = std::string_view(space) == "global" ? warp.launch->find(address) : nullptr;
  std::string place = allocation
                          ? "byte " + std::to_string(address - allocation->begin) + " of `" + allocation->name + "`"
                          : hexadecimal(address);
  warp.launch->report(warp, lane, FindingKind::Misaligned,
                      std::string(space) + " " + verb(access.kind) + " of " + std::to_string(access.bytes) +
                          " bytes at " + place + ", which is not a multiple of " + std::to_string(access.alignment));
}
static inline bool misaligned(Warp &warp, uint32_t lane, uint64_t address, const Access &access, const char *space) {
  if ((address & (access.alignment - 1)) == 0)
    return false;
  reportMisaligned(warp, lane, address, access, space);
  return true;
}

static void countGlobal(Warp &warp, const uint64_t *address, uint32_t mask, uint32_t bytes) {
  if (!mask)
    return;
  OpCounters &counters = currentWorker->counters[warp.pc];
  uint64_t sectors[laneCount * 2];
  unsigned count = 0;
  uint64_t low = ~uint64_t(0), high = 0;
  forEachLane(mask, [&](unsigned lane) {
    uint64_t first = address[lane] >> 5, last = (address[lane] + bytes - 1) >> 5;
    low = std::min(low, first), high = std::max(high, last);
    for (uint64_t sector = first; sector <= last; ++sector)
      if ((count == 0 || sectors[count - 1] != sector) && count < laneCount * 2)
        sectors[count++] = sector;
  });
  if (high - low < 64) { // near each other: a bit a sector
    uint64_t bits = 0;
    for (unsigned i = 0; i < count; ++i)
      bits |= uint64_t(1) << (sectors[i] - low);
    count = static_cast<unsigned>(std::popcount(bits));
  } else {
    std::sort(sectors, sectors + count);
    count = static_cast<unsigned>(std::unique(sectors, sectors + count) - sectors);
  }
  ++counters.accesses;
  counters.units += count;
  counters.idealUnits += std::min<uint64_t>(count, (uint64_t(std::popcount(mask)) * bytes + 31) / 32);
}

// Whether each lane reads what the lane `distance` from it reads, where both are active.
static bool readInPairs(const uint64_t *address, uint32_t mask, unsigned distance) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if ((mask >> (lane ^ distance) & 1) && address[lane] != address[lane ^ distance])
      return false;
  }
  return true;
}

void countShared(Warp &warp, const uint64_t *address, uint32_t mask, uint32_t bytes, bool loads) {
  if (!mask || !warp.launch->counters)
    return;
  OpCounters &counters = currentWorker->counters[warp.pc];
  // 4 bytes and less: all lanes at once; 8: half a warp; 16: a quarter. Loads by pairs of lanes: twice as many.
  unsigned together = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  if (loads && bytes > 4 && (readInPairs(address, mask, 1) || readInPairs(address, mask, 2)))
    together *= 2;
  ++counters.sharedAccesses;
  for (unsigned first = 0; first < laneCount; first += together) {
    uint32_t group = mask & (together == 32 ? allLanes : ((1u << together) - 1) << first);
    if (!group)
      continue;
    uint32_t words[64], wordCount = 0;
    uint8_t depth[32] = {};
    unsigned most = 1;
    uint32_t seen[32];
    bool used[32] = {};
    forEachLane(group, [&](unsigned lane) {
      uint32_t start = static_cast<uint32_t>(address[lane]) >> 2;
      uint32_t end = (static_cast<uint32_t>(address[lane]) + bytes - 1) >> 2;
      for (uint32_t word = start; word <= end; ++word) {
        unsigned bank = word & 31;
        if (!used[bank]) {
          used[bank] = true, seen[bank] = word, depth[bank] = 1;
          continue;
        }
        if (seen[bank] == word)
          continue;
        bool known = false;
        for (uint32_t i = 0; i < wordCount; ++i)
          known |= words[i] == word;
        if (known || wordCount == 64)
          continue;
        words[wordCount++] = word;
        most = std::max<unsigned>(most, ++depth[bank]);
      }
    });
    counters.wavefronts += most;
    ++counters.idealWavefronts;
  }
}

bool toShared(uint64_t &address) {
  if ((address >> 56) == (sharedWindow >> 56)) {
    address -= sharedWindow;
    return true;
  }
  return address < (uint64_t(1) << 32);
}

Block *sharedOwner(Warp &warp, uint64_t address, uint32_t &offset) {
  uint32_t rank = static_cast<uint32_t>(address >> clusterShift);
  offset = static_cast<uint32_t>(address & ((1u << clusterShift) - 1)) - sharedStart;
  if (rank == 0)
    return warp.block;
  auto &blocks = warp.block->cluster->blocks;
  return rank - 1 < blocks.size() ? blocks[rank - 1].get() : nullptr;
}

SharedRange sharedRange(Warp &warp, uint32_t lane, uint64_t address, uint32_t bytes, const char *what) {
  SharedRange range;
  uint64_t original = address;
  auto inside = [&] {
    uint64_t offset = range.offset, reserved = range.block->reservedOffset;
    return offset + bytes <= range.block->sharedBytes ||
           (offset >= reserved && offset + bytes <= reserved + reservedSharedBytes);
  };
  if (!toShared(address) || (range.block = sharedOwner(warp, address, range.offset)) == nullptr || !inside()) {
    warp.launch->report(warp, lane, FindingKind::OutOfBounds,
                        std::string(what) + " of " + std::to_string(bytes) + " bytes at shared address " +
                            hexadecimal(original) + ": the block's shared memory is " +
                            std::to_string(warp.block->sharedBytes) + " bytes from " + hexadecimal(sharedStart) +
                            " on");
    range.block = nullptr;
    return range;
  }
  range.data = range.block->shared.data + range.offset;
  return range;
}

std::byte *globalRange(Warp &warp, uint32_t lane, uint64_t address, uint64_t bytes, bool write, const char *what,
                       Stream stream) {
  const Allocation *allocation = warp.launch->find(address);
  if (!allocation || address + bytes > allocation->end || !allocation->holds(address, bytes)) {
    reportGlobal(warp, lane, address, bytes, what);
    return nullptr;
  }
  if (write && !allocation->writable) {
    warp.launch->report(warp, lane, FindingKind::ReadOnlyStore,
                        std::string(what) + " to read-only memory `" + allocation->name + "`");
    return nullptr;
  }
  if (warp.launch->checks) {
    Clock clock = stream == BulkStream ? warp.bulkGroups + 1 : warp.ownClock();
    uint64_t addresses[laneCount];
    Overwrite before[laneCount];
    addresses[lane] = address;
    if (trackGlobal(warp, *allocation, 1u << lane, addresses, static_cast<uint32_t>(bytes),
                    {write, false, stream, clock}, before))
      warp.launch->report(warp, lane, FindingKind::GlobalRace,
                          std::string(what) + ": `" + allocation->name + "` is written here and elsewhere, unordered",
                          before[lane].op);
  }
  return reinterpret_cast<std::byte *>(address);
}

static uint32_t resolveGlobal(Warp &warp, uint32_t mask, const uint64_t *address, std::byte **host,
                              const Access &access) {
  LaunchState &launch = *warp.launch;
  const Allocation *allocation = nullptr;
  uint32_t good = 0;
  bool strong = access.order != MemoryOrder::Weak || access.kind == AccessKind::Atomic;
  bool orders = strong && !synchronizesNothing(warp, access.order, true);
  uint32_t tracked = 0; // lanes of this allocation, to be tracked together
  auto track = [&] {
    if (tracked)
      overwrites.mask |=
          trackGlobal(warp, *allocation, tracked, address, access.bytes,
                      {access.kind != AccessKind::Read, strong, GenericStream, warp.ownClock()}, overwrites.before);
    tracked = 0;
  };
  forEachLane(mask, [&](unsigned lane) {
    uint64_t at = address[lane];
    if (!allocation || at < allocation->begin || at >= allocation->end) {
      track();
      allocation = launch.find(at);
    }
    if (!allocation || at + access.bytes > allocation->end || !allocation->holds(at, access.bytes)) {
      reportGlobal(warp, lane, at, access.bytes,
                   access.kind == AccessKind::Read    ? "global load"
                   : access.kind == AccessKind::Write ? "global store"
                                                      : "global atomic");
      return;
    }
    if (misaligned(warp, lane, at, access, "global"))
      return;
    if (access.kind != AccessKind::Read && !allocation->writable) {
      launch.report(warp, lane, FindingKind::ReadOnlyStore, "store to read-only memory `" + allocation->name + "`");
      return;
    }
    host[lane] = reinterpret_cast<std::byte *>(at);
    good |= 1u << lane;
    if (!launch.checks || !allocation->shadow)
      return;
    tracked |= 1u << lane;
    if (orders) { // what it acquires orders the next one
      track();
      synchronizeGlobal(warp, at, access.kind != AccessKind::Write, access.kind != AccessKind::Read, access.order);
    }
  });
  track();
  if (launch.counters)
    countGlobal(warp, address, good, access.bytes);
  return good;
}

void reportOverwrites(Warp &warp, uint32_t changed) {
  uint32_t lanes = overwrites.mask & changed;
  overwrites.mask = 0;
  forEachLane(lanes, [&](unsigned lane) {
    const Overwrite &before = overwrites.before[lane];
    std::string message = before.by == Overwrite::By::Lane   ? "two lanes of a warp"
                          : before.by == Overwrite::By::Warp ? "two warps of a block"
                                                             : "two blocks";
    message +=
        std::string(" write different values to one place of ") + (before.shared ? "shared" : "global") + " memory";
    message += before.by == Overwrite::By::Lane && before.op == placeOf(warp)
                   ? " in one instruction: which of them stays is not defined"
               : before.by == Overwrite::By::Lane
                   ? ", and nothing orders them: __syncwarp or a barrier of the block is missing between them"
                   : ", and nothing orders them";
    warp.launch->report(warp, lane, before.shared ? FindingKind::SharedRace : FindingKind::GlobalRace, message,
                        before.op);
  });
}

static uint32_t resolveShared(Warp &warp, uint32_t mask, uint64_t *address, std::byte **host, const Access &access) {
  uint32_t good = 0, own = 0; // of it, memory of its own block by accesses that order nothing
  bool strong = access.order != MemoryOrder::Weak || access.kind == AccessKind::Atomic;
  bool checks = warp.launch->checks, orders = strong && !synchronizesNothing(warp, access.order, false);
  Block &block = *warp.block;
  SharedAccess shared = genericAccess(warp, 0, access.kind != AccessKind::Read, strong);
  shared.updates = access.kind == AccessKind::Atomic && access.updates;
  forEachLane(mask, [&](unsigned lane) {
    if (misaligned(warp, lane, address[lane], access, "shared"))
      return;
    SharedRange range{&block, static_cast<uint32_t>(address[lane]) - sharedStart, nullptr};
    if (address[lane] >> clusterShift == 0 && uint64_t(range.offset) + access.bytes <= block.sharedBytes) {
      range.data = block.shared.data + range.offset; // its own, as nearly always
      own |= uint32_t(!orders) << lane;
    } else {
      range = sharedRange(warp, lane, address[lane], access.bytes,
                          access.kind == AccessKind::Read    ? "shared load"
                          : access.kind == AccessKind::Write ? "shared store"
                                                             : "shared atomic");
    }
    if (!range.data)
      return;
    host[lane] = range.data;
    good |= 1u << lane;
    if (!checks || (own >> lane & 1))
      return;
    Overwrite before;
    shared.lane = lane, shared.clock = warp.ownClock();
    shared.overwritten = &before;
    trackShared(warp, *range.block, range.offset, access.bytes, shared);
    if (before.by != Overwrite::By::Nobody) {
      overwrites.mask |= 1u << lane;
      overwrites.before[lane] = before;
    }
    if (strong)
      synchronizeAt(warp, range.block->synchronized, range.offset, access.kind != AccessKind::Write,
                    access.kind != AccessKind::Read, access.order);
  });
  if (checks && own)
    overwrites.mask |= trackShared(warp, own, address, access.bytes, shared, overwrites.before);
  countShared(warp, address, good, access.bytes, access.kind == AccessKind::Read);
  return good;
}

static uint32_t resolveLocal(Warp &warp, uint32_t mask, const uint64_t *address, std::byte **host,
                             const Access &access) {
  uint32_t good = 0;
  forEachLane(mask, [&](unsigned lane) {
    uint64_t offset = address[lane] - localStart;
    uint32_t top = std::min(warp.frame->stackTop[lane], warp.localBytes); // what lies above belongs to no variable
    if (offset > top || offset + access.bytes > top) {
      warp.launch->report(warp, lane, FindingKind::OutOfBounds,
                          std::string("local ") + verb(access.kind) + " of " + std::to_string(access.bytes) +
                              " bytes at " + hexadecimal(address[lane]) + ": the thread has " + std::to_string(top) +
                              " bytes of local memory here, from " + hexadecimal(localStart) + " on");
      return;
    }
    if (misaligned(warp, lane, address[lane], access, "local"))
      return;
    size_t place = size_t(lane) * warp.localBytes + offset;
    host[lane] = warp.local.data() + place;
    good |= 1u << lane;
    if (!warp.launch->checks)
      return;
    std::byte *initialized = warp.localInitialized.data() + place;
    if (access.kind == AccessKind::Write) {
      std::memset(initialized, 1, access.bytes);
      return;
    }
    bool undefined = std::memchr(initialized, 0, access.bytes) != nullptr;
    if (undefined && access.kind == AccessKind::Read)
      undefinedLanes |= 1u << lane; // what is done with the value decides
    else if (undefined)
      warp.launch->report(warp, lane, FindingKind::Uninitialized,
                          "atomic on local memory at " + hexadecimal(address[lane]) +
                              " that the thread has not written");
  });
  return good;
}

uint32_t resolve(Warp &warp, const Op &op, uint32_t mask, const uint64_t *address, std::byte **host,
                 const Access &access) {
  switch (access.space) {
  case Space::Shared: {
    uint64_t copy[laneCount];
    std::memcpy(copy, address, sizeof copy);
    return resolveShared(warp, mask, copy, host, access);
  }
  case Space::Local:
    return resolveLocal(warp, mask, address, host, access);
  case Space::Generic: {
    uint32_t shared = 0, local = 0;
    uint64_t copy[laneCount];
    forEachLane(mask, [&](unsigned lane) {
      uint64_t window = address[lane] >> 56;
      shared |= uint32_t(window == (sharedWindow >> 56)) << lane;
      local |= uint32_t(window == (localWindow >> 56)) << lane;
      copy[lane] = window == (localWindow >> 56)    ? address[lane] - localWindow
                   : window == (sharedWindow >> 56) ? address[lane] - sharedWindow
                                                    : address[lane];
    });
    uint32_t good = 0;
    if (shared)
      good |= resolveShared(warp, shared, copy, host, access);
    if (local)
      good |= resolveLocal(warp, local, copy, host, access);
    if (uint32_t global = mask & ~shared & ~local)
      good |= resolveGlobal(warp, global, address, host, access);
    return good;
  }
  default:
    return resolveGlobal(warp, mask, address, host, access);
  }
}

} // namespace nacre::simulator
