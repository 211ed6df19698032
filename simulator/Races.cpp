// Races between agents, by vector clocks.
#include "simulator/Races.h"
#include <cstdlib>
#include <sys/mman.h>

namespace nacre::simulator {

void release(Warp &warp, Clocks &clocks) {
  warp.ownClock();
  clocks.join(warp.clocks);
  ++warp.ownClock();
}
void acquire(Warp &warp, const Clocks &clocks) { warp.clocks.join(clocks); }

static const char *streamName(const Block &block, uint32_t agent) {
  if (agent >= block.cluster->warpsPerBlock * block.cluster->blocks.size() * StreamCount)
    return "a tensor copy";
  switch (agent % StreamCount) {
  case CopyStream:
    return "a cp.async";
  case BulkStream:
    return "a bulk copy";
  case WgmmaStream:
    return "a wgmma";
  default:
    return "a warp";
  }
}

static std::string whoDid(const Block &block, uint32_t agent) {
  std::string name = streamName(block, agent);
  uint32_t warps = block.cluster->warpsPerBlock;
  if (agent >= warps * block.cluster->blocks.size() * StreamCount)
    return name;
  uint32_t warp = agent / StreamCount % warps, rank = agent / StreamCount / warps;
  name =
      agent % StreamCount == GenericStream ? "warp " + std::to_string(warp) : name + " of warp " + std::to_string(warp);
  if (block.cluster->blocks.size() > 1)
    name += " of block " + std::to_string(rank) + " of the cluster";
  return name;
}

static std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

static void conflict(Warp &warp, Block &owner, FindingKind kind, const SharedAccess &access, uint32_t offset,
                     uint32_t otherAgent, uint32_t otherOp, bool otherWrote) {
  std::string what = std::string(access.write ? "write" : "read") + " of shared memory at " +
                     hexadecimal(offset + sharedStart) + " by " + whoDid(owner, access.agent);
  std::string before = std::string(otherWrote ? "the write" : "the read") + " by " + whoDid(owner, otherAgent);
  if (kind == FindingKind::ProxyRace)
    what += " through the async proxy after " + before + ": fence.proxy.async is missing between them";
  else if (access.agent == otherAgent)
    what += " after the write by another lane: nothing orders the lanes (bar.warp.sync is missing)";
  else
    what += " is not ordered after " + before + ": a barrier or a wait is missing between them";
  warp.launch->report(warp, access.lane, kind, what, otherOp);
}

static void recordRead(Warp &warp, Block &owner, SharedShadow &shadow, const SharedAccess &access) {
  if (shadow.readers) {
    ReaderSet &set = owner.readerSets[shadow.readers - 1];
    if (set.clocks.size() <= access.agent) {
      set.clocks.resize(access.agent + 1);
      set.ops.resize(access.agent + 1);
    }
    set.clocks[access.agent] = access.clock;
    set.ops[access.agent] = warp.pc;
    return;
  }
  bool replaces = shadow.readClock == 0 || shadow.readAgent == access.agent ||
                  clockOf(warp.clocks.seen, shadow.readAgent) >= shadow.readClock;
  if (!replaces) {
    if (owner.freeReaderSets.empty()) {
      owner.readerSets.emplace_back();
      owner.freeReaderSets.push_back(static_cast<uint32_t>(owner.readerSets.size()));
    }
    shadow.readers = owner.freeReaderSets.back();
    owner.freeReaderSets.pop_back();
    ReaderSet &set = owner.readerSets[shadow.readers - 1];
    size_t size = std::max<size_t>(shadow.readAgent, access.agent) + 1;
    set.clocks.assign(size, 0);
    set.ops.assign(size, 0);
    set.clocks[shadow.readAgent] = shadow.readClock;
    set.ops[shadow.readAgent] = shadow.readOp;
    set.clocks[access.agent] = access.clock;
    set.ops[access.agent] = warp.pc;
    return;
  }
  shadow.readClock = access.clock;
  shadow.readAgent = static_cast<uint16_t>(access.agent);
  shadow.readOp = warp.pc;
  shadow.readFlags = access.strong ? ShadowStrong : 0;
}

void trackShared(Warp &warp, Block &owner, uint32_t offset, uint32_t bytes, const SharedAccess &access) {
  if (owner.shadow.empty() || bytes == 0)
    return;
  uint32_t granule = warp.program->sharedGranule;
  uint32_t first = offset / granule, last = (offset + bytes - 1) / granule;
  const std::vector<Clock> &seen = warp.clocks.seen;
  for (uint32_t i = first; i <= last; ++i) {
    SharedShadow &shadow = owner.shadow[i];
    bool written = shadow.flags & ShadowWritten;
    if (shadow.flags & ShadowBarrier) {
      warp.launch->report(warp, access.lane, FindingKind::MbarrierMisuse,
                          std::string(access.write ? "write to" : "read of") +
                              " an mbarrier as data at shared address " + hexadecimal(i * granule + sharedStart) +
                              " (mbarrier.inval is missing)",
                          shadow.writeOp);
      if (access.write)
        shadow.flags &= static_cast<uint8_t>(~ShadowBarrier);
      continue;
    }
    if (written) {
      bool bothStrong = access.strong && (shadow.flags & ShadowStrong);
      if (shadow.writeAgent != access.agent) {
        if (!bothStrong && clockOf(seen, shadow.writeAgent) < shadow.writeClock) {
          conflict(warp, owner, FindingKind::SharedRace, access, i * granule, shadow.writeAgent, shadow.writeOp, true);
        } else if (access.asyncProxy && !(shadow.flags & ShadowAsync) &&
                   clockOf(warp.clocks.proxy, shadow.writeAgent) < shadow.writeClock) {
          conflict(warp, owner, FindingKind::ProxyRace, access, i * granule, shadow.writeAgent, shadow.writeOp, true);
        }
      } else if (!access.write && shadow.writeLane != access.lane && shadow.sync == warp.warpSyncs && !access.strong &&
                 !(shadow.flags & (ShadowStrong | ShadowAsync)) && access.agent == warp.agent) {
        conflict(warp, owner, FindingKind::SharedRace, access, i * granule, shadow.writeAgent, shadow.writeOp, true);
      }
    } else if (!access.write) {
      warp.launch->report(warp, access.lane, FindingKind::Uninitialised,
                          "read of shared memory at " + hexadecimal(i * granule + sharedStart) +
                              " that nothing has written");
      shadow.flags |= ShadowWritten; // said once
      shadow.writeAgent = static_cast<uint16_t>(access.agent);
      shadow.writeClock = 0;
    }
    if (!access.write) {
      recordRead(warp, owner, shadow, access);
      continue;
    }
    if (shadow.readers) {
      ReaderSet &set = owner.readerSets[shadow.readers - 1];
      for (uint32_t agent = 0; agent < set.clocks.size(); ++agent)
        if (set.clocks[agent] && agent != access.agent && clockOf(seen, agent) < set.clocks[agent]) {
          conflict(warp, owner, FindingKind::SharedRace, access, i * granule, agent, set.ops[agent], false);
          break;
        }
      owner.freeReaderSets.push_back(shadow.readers);
      shadow.readers = 0;
    } else if (shadow.readClock && shadow.readAgent != access.agent &&
               !(access.strong && (shadow.readFlags & ShadowStrong)) &&
               clockOf(seen, shadow.readAgent) < shadow.readClock) {
      conflict(warp, owner, FindingKind::SharedRace, access, i * granule, shadow.readAgent, shadow.readOp, false);
    }
    shadow.readClock = 0;
    shadow.writeClock = access.clock;
    shadow.writeAgent = static_cast<uint16_t>(access.agent);
    shadow.writeLane = static_cast<uint8_t>(access.lane);
    shadow.writeOp = warp.pc;
    shadow.sync = warp.warpSyncs;
    shadow.flags = static_cast<uint8_t>(ShadowWritten | (access.asyncProxy ? ShadowAsync : 0) |
                                        (access.strong ? ShadowStrong : 0));
  }
}

// --- Global memory, between blocks ---

MemoryShadow::MemoryShadow(uint64_t bytes, uint32_t shift) : shift(shift) {
  size_t size = ((bytes >> shift) + 1) * sizeof(GlobalShadow);
  // Zero pages that cost nothing until they are touched.
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error("no memory for the record of global accesses");
  entries = static_cast<GlobalShadow *>(memory);
  mapped = size;
}
MemoryShadow::~MemoryShadow() { munmap(entries, mapped); }

// One record: the block + 1 (24 bits), its clock (16), the op (22), strong (1), several readers (1).
static uint64_t record(uint32_t block, Clock clock, uint32_t op, bool strong) {
  return uint64_t(block + 1) | uint64_t(std::min<Clock>(clock, 0xFFFF)) << 24 | uint64_t(op & 0x3FFFFF) << 40 |
         uint64_t(strong) << 62;
}
static uint32_t blockOf(uint64_t entry) { return static_cast<uint32_t>(entry & 0xFFFFFF) - 1; }
static Clock timeOf(uint64_t entry) { return static_cast<Clock>(entry >> 24 & 0xFFFF); }
static uint32_t opOf(uint64_t entry) { return static_cast<uint32_t>(entry >> 40 & 0x3FFFFF); }
static bool strongOf(uint64_t entry) { return entry >> 62 & 1; }
static constexpr uint64_t severalReaders = uint64_t(1) << 63;

static bool ordered(const Block &block, uint64_t entry) {
  if (block.acquired.empty())
    return false;
  auto found = block.acquired.find(blockOf(entry));
  return found != block.acquired.end() && found->second >= timeOf(entry);
}

uint32_t trackGlobal(Warp &warp, const Allocation &allocation, uint64_t address, uint32_t bytes, bool write,
                     bool strong, uint32_t lane) {
  if (!allocation.shadow)
    return ~0u;
  Block &block = *warp.block;
  uint32_t shift = allocation.shadow->shift;
  uint64_t first = (address - allocation.begin) >> shift, last = (address + bytes - 1 - allocation.begin) >> shift;
  uint64_t mine = record(block.linear, block.globalClock, warp.pc, strong);
  uint32_t differingOnly = ~0u;
  auto say = [&](uint64_t entry, bool otherWrote) {
    warp.launch->report(warp, lane, FindingKind::GlobalRace,
                        std::string(write ? "write to" : "read of") + " `" + allocation.name + "` at byte " +
                            std::to_string(address - allocation.begin) + " by block " + std::to_string(block.linear) +
                            " and " + (otherWrote ? "a write" : "a read") + " by block " +
                            std::to_string(blockOf(entry)) + ": nothing orders the blocks",
                        opOf(entry));
  };
  for (uint64_t i = first; i <= last; ++i) {
    GlobalShadow &shadow = allocation.shadow->entries[i];
    uint64_t lastWrite = shadow.write.load(std::memory_order_relaxed);
    if (lastWrite && blockOf(lastWrite) != block.linear && !(strong && strongOf(lastWrite)) &&
        !ordered(block, lastWrite)) {
      if (write && !strong)
        differingOnly = opOf(lastWrite);
      else
        say(lastWrite, true);
    }
    uint64_t lastRead = shadow.read.load(std::memory_order_relaxed);
    if (write) {
      if (lastRead && !(strong && strongOf(lastRead))) {
        bool others = blockOf(lastRead) != block.linear || (lastRead & severalReaders);
        bool known = lastRead & severalReaders ? !block.acquired.empty() : ordered(block, lastRead);
        if (others && !known && !(blockOf(lastRead) == block.linear && !(lastRead & severalReaders)))
          say(lastRead, false);
      }
      shadow.write.store(mine, std::memory_order_relaxed);
      if (lastRead)
        shadow.read.store(0, std::memory_order_relaxed);
    } else if (!lastRead) {
      shadow.read.store(mine, std::memory_order_relaxed);
    } else if (blockOf(lastRead) != block.linear && !(lastRead & severalReaders)) {
      shadow.read.store(ordered(block, lastRead) ? mine : lastRead | severalReaders, std::memory_order_relaxed);
    }
  }
  return differingOnly;
}

static void joinBlocks(std::unordered_map<uint32_t, Clock> &into, const std::unordered_map<uint32_t, Clock> &from) {
  for (auto &[block, time] : from) {
    Clock &known = into[block];
    known = std::max(known, time);
  }
}

static bool isRelease(MemoryOrder order) {
  return order == MemoryOrder::Release || order == MemoryOrder::AcquireRelease;
}
static bool isAcquire(MemoryOrder order) {
  return order == MemoryOrder::Acquire || order == MemoryOrder::AcquireRelease;
}

void synchroniseGlobal(Warp &warp, uint64_t address, bool reads, bool writes, MemoryOrder order) {
  Block &block = *warp.block;
  if (warp.launch->grid.count() <= 1)
    return;
  std::lock_guard lock(warp.launch->synchronisedMutex);
  auto &table = warp.launch->synchronised;
  if (reads) {
    auto found = table.find(address);
    if (found != table.end())
      joinBlocks(isAcquire(order) ? block.acquired : block.globalPending, found->second);
  }
  if (!writes)
    return;
  if (isRelease(order)) {
    auto &published = table[address];
    joinBlocks(published, block.acquired);
    published[block.linear] = std::max(published[block.linear], block.globalClock);
    ++block.globalClock;
  } else if (block.globalHasFenced) {
    joinBlocks(table[address], block.globalFenced);
  }
}

void synchroniseShared(Warp &warp, Block &owner, uint32_t offset, bool reads, bool writes, MemoryOrder order) {
  if (reads) {
    auto found = owner.synchronised.find(offset);
    if (found != owner.synchronised.end()) {
      if (isAcquire(order))
        acquire(warp, found->second);
      else
        warp.pendingAcquire.join(found->second);
    }
  }
  if (!writes)
    return;
  if (isRelease(order))
    release(warp, owner.synchronised[offset]);
  else if (warp.hasFenced)
    owner.synchronised[offset].join(warp.fenced);
}

void fence(Warp &warp, Scope scope) {
  Block &block = *warp.block;
  acquire(warp, warp.pendingAcquire);
  warp.pendingAcquire.clear();
  warp.fenced.clear();
  release(warp, warp.fenced);
  warp.hasFenced = true;
  if (scope == Scope::Gpu || scope == Scope::System) {
    joinBlocks(block.acquired, block.globalPending);
    block.globalPending.clear();
    block.globalFenced = block.acquired;
    block.globalFenced[block.linear] = block.globalClock++;
    block.globalHasFenced = true;
  }
}

} // namespace nacre::simulator
