// Races in global memory: between blocks, by a clock of each block; within a block, by the vector clocks of its warps.
#include "simulator/Races.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <sys/mman.h>
#include <type_traits>

namespace nacre::simulator {

namespace {

// Mappings of shadows that have gone, for those to come: small launches come by the thousand, and new pages are dear.
class MappingPool {
public:
  void *take(size_t size) {
    {
      std::lock_guard lock(mutex);
      for (size_t i = 0; i < kept.size(); ++i)
        if (kept[i].second == size) {
          void *memory = kept[i].first;
          kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
          total -= size;
          return memory;
        }
    }
    return nullptr;
  }
  bool keep(void *memory, size_t size) {
    std::lock_guard lock(mutex);
    if (total + size > mostKept)
      return false;
    kept.emplace_back(memory, size);
    total += size;
    return true;
  }

private:
  static constexpr size_t mostKept = 32 << 20;
  std::mutex mutex;
  std::vector<std::pair<void *, size_t>> kept;
  size_t total = 0;
};
MappingPool &mappingPool() {
  static auto *pool = new MappingPool; // outlives every module
  return *pool;
}
constexpr size_t mostPooled = 2 << 20, smallestHuge = 16 << 20;

} // namespace

MemoryShadow::MemoryShadow(uint64_t bytes, uint32_t shift) : shift(shift) {
  size_t size = std::bit_ceil(((bytes >> shift) + 1) * sizeof(GlobalShadow));
  void *memory = size <= mostPooled ? mappingPool().take(size) : nullptr;
  if (memory) {
    std::memset(memory, 0, ((bytes >> shift) + 1) * sizeof(GlobalShadow));
  } else {
    // Zero pages that cost nothing until they are touched.
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      throw Error("no memory for the record of global accesses");
    if (size >= smallestHuge)
      madvise(memory, size, MADV_HUGEPAGE);
  }
  entries = static_cast<GlobalShadow *>(memory);
  mapped = size;
}
MemoryShadow::~MemoryShadow() {
  if (mapped > mostPooled || !mappingPool().keep(entries, mapped))
    munmap(entries, mapped);
}

namespace {

// Between blocks: the block + 1 (24 bits), its clock (16), the op (22), strong (1), several of them (1).
uint64_t record(uint32_t block, Clock clock, uint32_t op, bool strong) {
  return uint64_t(block + 1) | uint64_t(std::min<Clock>(clock, 0xFFFF)) << 24 | uint64_t(op & 0x3FFFFF) << 40 |
         uint64_t(strong) << 62;
}
uint32_t blockOf(uint64_t entry) { return static_cast<uint32_t>(entry & 0xFFFFFF) - 1; }
Clock timeOf(uint64_t entry) { return static_cast<Clock>(entry >> 24 & 0xFFFF); }
uint32_t opOf(uint64_t entry) { return static_cast<uint32_t>(entry >> 40 & 0x3FFFFF); }
constexpr uint64_t strongBit = uint64_t(1) << 62, severalBit = uint64_t(1) << 63;

// Within a block: the writer's time (32 bits), its stream (7), its lane (5), how often its lanes had met (20).
uint64_t writerRecord(Clock clock, uint32_t stream, uint32_t lane, uint32_t syncs) {
  return uint64_t(clock) << 32 | uint64_t(stream) << 25 | uint64_t(lane) << 20 | (syncs & 0xFFFFF);
}
// A reader: its time (32 bits), its stream (7), strong (1), the op (22).
uint64_t readerRecord(Clock clock, uint32_t stream, bool strong, uint32_t op) {
  return uint64_t(clock) << 32 | uint64_t(stream) << 25 | uint64_t(strong) << 24 | (op & 0x3FFFFF);
}
Clock clockIn(uint64_t entry) { return static_cast<Clock>(entry >> 32); }
uint32_t streamIn(uint64_t entry) { return static_cast<uint32_t>(entry >> 25 & 127); }
uint32_t writerLane(uint64_t entry) { return static_cast<uint32_t>(entry >> 20 & 31); }
bool strongReader(uint64_t entry) { return entry >> 24 & 1; }
// Lanes that read: their stream (7 bits), the first lane (5), several of them (1), how often they had met (19).
uint32_t lanesRecord(uint32_t stream, uint32_t lane, uint32_t syncs) {
  return stream << 25 | lane << 20 | (syncs & 0x7FFFF);
}
constexpr uint32_t severalLanes = 1u << 19, laneBits = 31u << 20;

bool ordered(const Block &block, uint64_t entry) {
  if (block.acquired.empty())
    return false;
  if (entry & severalBit)
    return true; // it has acquired something: of whom is not known
  auto found = block.acquired.find(blockOf(entry));
  return found != block.acquired.end() && found->second >= timeOf(entry);
}

std::string streamText(uint32_t stream) {
  std::string warp = "warp " + std::to_string(stream / StreamCount);
  return stream % StreamCount == GenericStream ? warp : "a bulk copy of " + warp;
}

// One access, compared with the record of a place.
class Comparison {
public:
  Comparison(Warp &warp, const Allocation &allocation, uint64_t address, const GlobalAccess &access)
      : warp(warp), block(*warp.block), allocation(allocation), address(address), access(access),
        stream(warp.index * StreamCount + access.stream), plainWrite(access.write && !access.strong),
        here(placeOf(warp)), mine(record(block.linear, block.globalClock, here, access.strong)) {}

  Overwrite overwritten;

  void compare(GlobalShadow &shadow) {
    if (uint64_t write = get(shadow.write))
      afterWrite(write, get(shadow.writer), false);
    if (!access.strong)
      if (uint64_t write = get(shadow.strongWrite))
        afterWrite(write, get(shadow.strongWriter), true);
    if (access.write)
      write(shadow);
    else
      read(shadow);
  }

private:
  Warp &warp;
  Block &block;
  const Allocation &allocation;
  uint64_t address;
  const GlobalAccess &access;
  uint32_t stream;
  bool plainWrite;
  uint32_t here;
  uint64_t mine;

  template <typename T> static T get(const std::atomic<T> &slot) { return slot.load(std::memory_order_relaxed); }
  template <typename T> static void put(std::atomic<T> &slot, std::type_identity_t<T> value) {
    slot.store(value, std::memory_order_relaxed);
  }

  void say(FindingKind kind, const std::string &rest, uint32_t other) {
    warp.launch->report(warp, access.lane, kind,
                        std::string(access.write ? "write to" : "read of") + " `" + allocation.name + "` at byte " +
                            std::to_string(address - allocation.begin) + " by " + rest,
                        other);
  }
  void sayBlocks(uint64_t entry, bool wrote) {
    say(FindingKind::GlobalRace,
        "block " + std::to_string(block.linear) + " and " + (wrote ? "a write" : "a read") + " by " +
            (blockOf(entry) == block.linear ? "another block" : "block " + std::to_string(blockOf(entry))) +
            ": nothing orders the blocks",
        opOf(entry));
  }
  void sayWarps(uint32_t otherStream, bool wrote, uint32_t other) {
    say(FindingKind::GlobalRace,
        streamText(stream) + " and " + (wrote ? "a write" : "a read") + " by " + streamText(otherStream) +
            " of the same block: a barrier or a wait is missing between them",
        other);
  }
  void sayLanes(bool wrote, uint32_t other) {
    say(FindingKind::GlobalRace,
        streamText(stream) + " and " + (wrote ? "a write" : "a read") +
            " by another of its lanes: __syncwarp or a barrier of the block is missing between them",
        other);
  }

  uint32_t agentOf(uint32_t ofStream) const {
    return block.rank * block.cluster->warpsPerBlock * StreamCount + ofStream;
  }
  bool seen(uint32_t ofStream, Clock clock) const { return clockOf(warp.clocks.seen, agentOf(ofStream)) >= clock; }

  // The last plain write, or the last strong one.
  void afterWrite(uint64_t entry, uint64_t writer, bool strong) {
    bool onlyIfDiffering = plainWrite && !strong;
    uint32_t other = streamIn(writer);
    if (blockOf(entry) != block.linear || ((entry & severalBit) && !ordered(block, entry))) {
      if (ordered(block, entry))
        return;
      if (onlyIfDiffering)
        overwritten = {Overwrite::By::Block, opOf(entry)};
      else
        sayBlocks(entry, true);
    } else if (other != stream && other != warp.index * StreamCount && !seen(other, clockIn(writer))) {
      if (onlyIfDiffering && other % StreamCount == GenericStream)
        overwritten = {Overwrite::By::Warp, opOf(entry)};
      else
        sayWarps(other, true, opOf(entry));
    } else if (access.stream != GenericStream && other % StreamCount == GenericStream &&
               clockOf(warp.clocks.proxy, agentOf(other)) < clockIn(writer)) {
      say(FindingKind::ProxyRace,
          "a bulk copy after the write by " + streamText(other) + ": fence.proxy.async is missing between them",
          opOf(entry));
    } else if (other == stream && access.stream == GenericStream && writerLane(writer) != access.lane &&
               (writer & 0xFFFFF) == (warp.warpSyncs & 0xFFFFF)) {
      if (onlyIfDiffering)
        overwritten = {Overwrite::By::Lane, opOf(entry)};
      else
        sayLanes(true, opOf(entry));
    }
  }

  void afterReads(GlobalShadow &shadow, uint64_t lastRead) {
    if (!(access.strong && (lastRead & strongBit)) && !ordered(block, lastRead) &&
        ((lastRead & severalBit) || blockOf(lastRead) != block.linear))
      return sayBlocks(lastRead, false);
    if (get(shadow.readersBlock) != block.linear + 1)
      return;
    for (auto *slot : {&shadow.firstReader, &shadow.lastReader}) {
      uint64_t reader = get(*slot);
      uint32_t other = streamIn(reader);
      if (reader && other / StreamCount != warp.index && !(access.strong && strongReader(reader)) &&
          !seen(other, clockIn(reader)))
        return sayWarps(other, false, static_cast<uint32_t>(reader & 0x3FFFFF));
    }
    uint32_t lanes = get(shadow.readerLanes), here = lanesRecord(stream, access.lane, warp.warpSyncs);
    if (lanes && access.stream == GenericStream && ((lanes ^ here) & ~(laneBits | severalLanes)) == 0 &&
        ((lanes & severalLanes) || ((lanes ^ here) & laneBits)))
      sayLanes(false, opOf(lastRead));
  }

  void write(GlobalShadow &shadow) {
    uint64_t lastRead = get(shadow.read);
    if (lastRead)
      afterReads(shadow, lastRead);
    uint64_t writer = writerRecord(access.clock, stream, access.lane, warp.warpSyncs);
    if (!plainWrite) { // hides neither the plain write before it nor what was read
      uint64_t last = get(shadow.strongWrite);
      bool several = last && ((last & severalBit) || (blockOf(last) != block.linear && !ordered(block, last)));
      put(shadow.strongWrite, mine | (several ? severalBit : 0));
      put(shadow.strongWriter, writer);
      return;
    }
    put(shadow.write, mine);
    put(shadow.writer, writer);
    if (get(shadow.strongWrite))
      put(shadow.strongWrite, 0);
    if (lastRead) {
      put(shadow.read, 0);
      put(shadow.readersBlock, 0);
      put(shadow.readerLanes, 0);
    }
  }

  // Of the readers of a block the first that is not ordered before a later one is kept, and the last.
  void read(GlobalShadow &shadow) {
    uint64_t lastRead = get(shadow.read), now = mine;
    if (lastRead && !(lastRead & strongBit) && access.strong && blockOf(lastRead) == block.linear)
      now &= ~strongBit; // more may race with the plain read
    if (!lastRead || blockOf(lastRead) == block.linear || ordered(block, lastRead & ~severalBit))
      put(shadow.read, now | (lastRead & severalBit));
    else if (!(lastRead & severalBit) || ((lastRead & strongBit) && !access.strong))
      put(shadow.read, (lastRead | severalBit) & (access.strong ? ~uint64_t(0) : ~strongBit));
    if (access.stream != GenericStream)
      return;
    if (!access.strong) {
      uint32_t lanes = get(shadow.readerLanes), here = lanesRecord(stream, access.lane, warp.warpSyncs);
      if (((lanes ^ here) & ~(laneBits | severalLanes)) != 0 || !lanes)
        put(shadow.readerLanes, here);
      else if ((lanes ^ here) & laneBits)
        put(shadow.readerLanes, lanes | severalLanes);
    }
    uint64_t reader = readerRecord(access.clock, stream, access.strong, here);
    if (get(shadow.readersBlock) != block.linear + 1) {
      put(shadow.readersBlock, block.linear + 1);
      put(shadow.firstReader, reader);
      put(shadow.lastReader, 0);
      return;
    }
    uint64_t first = get(shadow.firstReader);
    bool replaces = streamIn(first) == stream || seen(streamIn(first), clockIn(first));
    if (replaces && access.strong && streamIn(first) == stream && !strongReader(first))
      return; // more may race with the plain read
    put(replaces ? shadow.firstReader : shadow.lastReader, reader);
  }
};

} // namespace

Overwrite trackGlobal(Warp &warp, const Allocation &allocation, uint64_t address, uint32_t bytes,
                      const GlobalAccess &access) {
  if (!allocation.shadow)
    return {};
  uint32_t shift = allocation.shadow->shift;
  uint64_t first = (address - allocation.begin) >> shift, last = (address + bytes - 1 - allocation.begin) >> shift;
  Comparison comparison(warp, allocation, address, access);
  for (uint64_t i = first; i <= last; ++i)
    comparison.compare(allocation.shadow->entries[i]);
  return comparison.overwritten;
}

// --- Synchronisation through global memory ---

void joinBlocks(BlockTimes &into, const BlockTimes &from) {
  for (auto &[block, time] : from) {
    Clock &known = into[block];
    known = std::max(known, time);
  }
}
void releaseBlock(Block &block, BlockTimes &into) {
  joinBlocks(into, block.acquired);
  Clock &own = into[block.linear];
  own = std::max(own, block.globalClock);
  ++block.globalClock;
}
void fenceBlock(Block &block) {
  joinBlocks(block.acquired, block.globalPending);
  block.globalPending.clear();
  block.globalFenced = block.acquired;
  block.globalFenced[block.linear] = block.globalClock++;
  block.globalHasFenced = true;
}

void synchroniseGlobal(Warp &warp, uint64_t address, bool reads, bool writes, MemoryOrder order) {
  Block &block = *warp.block;
  synchroniseAt(warp, block.synchronisedGlobal, address, reads, writes, order);
  if (warp.launch->grid.count() <= 1)
    return;
  std::lock_guard lock(warp.launch->synchronisedMutex);
  auto &table = warp.launch->synchronised;
  if (reads) {
    auto found = table.find(address);
    if (found != table.end()) {
      joinBlocks(isAcquire(order) ? block.acquired : block.globalPending, found->second);
      // What came back from its own block by way of another one: which warp it was is not known.
      if (found->second.size() > 1 && found->second.contains(block.linear))
        for (auto &other : block.warps)
          warp.clocks.join(other->clocks);
    }
  }
  if (!writes)
    return;
  if (isRelease(order))
    releaseBlock(block, table[address]);
  else if (block.globalHasFenced)
    joinBlocks(table[address], block.globalFenced);
}

} // namespace nacre::simulator
