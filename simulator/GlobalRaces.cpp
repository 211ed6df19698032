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

MemoryShadow::MemoryShadow(size_t granules) : granules(granules) {
  static_assert(sizeof(GlobalWrite) == 16 && sizeof(GlobalRead) == 16 && sizeof(GlobalMoreReaders) == 16);
  size_t each = std::bit_ceil(std::max<size_t>(granules * sizeof(GlobalWrite), 4096));
  mapped = each * 5;
  void *memory = mapped <= mostPooled ? mappingPool().take(mapped) : nullptr;
  if (!memory) {
    // Zero pages that cost nothing until they are touched.
    memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      throw Error("no memory for the record of global accesses");
    if (mapped >= smallestHuge)
      madvise(memory, mapped, MADV_HUGEPAGE);
  }
  auto *start = static_cast<std::byte *>(memory);
  writes = reinterpret_cast<GlobalWrite *>(start);
  reads = reinterpret_cast<GlobalRead *>(start + each);
  strongWrites = reinterpret_cast<GlobalWrite *>(start + 2 * each);
  moreReaders = reinterpret_cast<GlobalMoreReaders *>(start + 3 * each);
  moreStrongWrites = reinterpret_cast<GlobalWrite *>(start + 4 * each);
}
MemoryShadow::~MemoryShadow() {
  if (mapped <= mostPooled) { // the next one finds zeros
    size_t used = granules * sizeof(GlobalWrite);
    std::memset(static_cast<void *>(writes), 0, used);
    std::memset(static_cast<void *>(reads), 0, used);
    if (hasStrong)
      std::memset(static_cast<void *>(strongWrites), 0, used);
    if (hasMore)
      std::memset(static_cast<void *>(moreReaders), 0, used);
    if (hasMoreStrong)
      std::memset(static_cast<void *>(moreStrongWrites), 0, used);
  }
  if (mapped > mostPooled || !mappingPool().keep(writes, mapped))
    munmap(writes, mapped);
}

// A table of null pointers: calloc's zero pages cost nothing until they are touched.
AllocationShadow::AllocationShadow(uint64_t bytes, uint32_t shift)
    : shift(shift), granules((bytes >> shift) + 1),
      stretches(static_cast<std::atomic<MemoryShadow *> *>(
          std::calloc(((granules - 1) >> stretchBits) + 1, sizeof(std::atomic<MemoryShadow *>)))) {
  if (!stretches)
    throw Error("no memory for the record of global accesses");
}
MemoryShadow &AllocationShadow::made(uint64_t index) {
  std::lock_guard lock(mutex);
  std::atomic<MemoryShadow *> &slot = stretches.get()[index];
  if (MemoryShadow *found = slot.load(std::memory_order_relaxed)) // by another thread
    return *found;
  uint64_t count = std::min<uint64_t>(granules - (index << stretchBits), uint64_t(1) << stretchBits);
  owned.push_back(std::make_unique<MemoryShadow>(count));
  slot.store(owned.back().get(), std::memory_order_release);
  return *owned.back();
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
// The reader: its time (32 bits), its stream (7), its first lane (5), several lanes (1), how often they had met (19).
uint64_t readerRecord(Clock clock, uint32_t stream, uint32_t lane, uint32_t syncs) {
  return uint64_t(clock) << 32 | uint64_t(stream) << 25 | uint64_t(lane) << 20 | (syncs & 0x7FFFF);
}
constexpr uint64_t laneBits = uint64_t(31) << 20, severalLanes = uint64_t(1) << 19;
// One more reader: its time (32 bits), its stream (7), strong (1), the op (22).
uint64_t moreRecord(Clock clock, uint32_t stream, bool strong, uint32_t op) {
  return uint64_t(clock) << 32 | uint64_t(stream) << 25 | uint64_t(strong) << 24 | (op & 0x3FFFFF);
}
Clock clockIn(uint64_t entry) { return static_cast<Clock>(entry >> 32); }
uint32_t streamIn(uint64_t entry) { return static_cast<uint32_t>(entry >> 25 & 127); }
uint32_t laneIn(uint64_t entry) { return static_cast<uint32_t>(entry >> 20 & 31); }

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

// The accesses of an instruction, each compared with the record of its place.
class Comparison {
public:
  Comparison(Warp &warp, const Allocation &allocation, const GlobalAccess &access)
      : warp(warp), block(*warp.block), allocation(allocation), whole(*allocation.shadow), access(access),
        stream(warp.index * StreamCount + access.stream), plainWrite(access.write && !access.strong),
        here(placeOf(warp)), mine(record(block.linear, block.globalClock, here, access.strong)),
        myWriter(writerRecord(access.clock, stream, 0, warp.warpSyncs)),
        myReader(readerRecord(access.clock, stream, 0, warp.warpSyncs)) {}

  Overwrite overwritten;

  void compare(uint32_t ofLane, uint64_t atAddress, uint32_t bytes) {
    lane = ofLane, address = atAddress;
    uint64_t first = (address - allocation.begin) >> whole.shift;
    uint64_t last = (address + bytes - 1 - allocation.begin) >> whole.shift;
    for (uint64_t i = first; i <= last; ++i) {
      if (uint64_t index = i >> AllocationShadow::stretchBits; !shadow || index != stretch)
        shadow = &whole.stretch(index), stretch = index;
      compare(i & ((uint64_t(1) << AllocationShadow::stretchBits) - 1));
    }
  }

private:
  Warp &warp;
  Block &block;
  const Allocation &allocation;
  AllocationShadow &whole;
  MemoryShadow *shadow = nullptr; // of the stretch
  uint64_t stretch = 0;
  const GlobalAccess &access;
  uint32_t stream;
  bool plainWrite;
  uint32_t here;
  uint64_t mine, myWriter, myReader;
  uint32_t lane = 0;
  uint64_t address = 0;

  template <typename T> static T get(const std::atomic<T> &slot) { return slot.load(std::memory_order_relaxed); }
  template <typename T> static void put(std::atomic<T> &slot, std::type_identity_t<T> value) {
    slot.store(value, std::memory_order_relaxed);
  }

  void compare(uint64_t i) {
    if (uint64_t write = get(shadow->writes[i].write))
      afterWrite(write, get(shadow->writes[i].writer), false);
    if (!access.strong && get(shadow->hasStrong))
      if (uint64_t write = get(shadow->strongWrites[i].write))
        afterWrite(write, get(shadow->strongWrites[i].writer), true);
    if (!access.strong && get(shadow->hasMoreStrong))
      if (uint64_t write = get(shadow->moreStrongWrites[i].write); write && blockOf(write) == block.linear)
        afterWrite(write, get(shadow->moreStrongWrites[i].writer), true);
    if (access.write)
      write(i);
    else
      read(i);
  }

  void say(FindingKind kind, const std::string &rest, uint32_t other) {
    warp.launch->report(warp, lane, kind,
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
    } else if (other == stream && access.stream == GenericStream && laneIn(writer) != lane &&
               (writer & 0xFFFFF) == (warp.warpSyncs & 0xFFFFF)) {
      if (onlyIfDiffering)
        overwritten = {Overwrite::By::Lane, opOf(entry)};
      else
        sayLanes(true, opOf(entry));
    }
  }

  void afterReads(uint64_t i, uint64_t lastRead) {
    bool strong = lastRead & strongBit;
    if (!(access.strong && strong) && !ordered(block, lastRead) &&
        ((lastRead & severalBit) || blockOf(lastRead) != block.linear))
      return sayBlocks(lastRead, false);
    if (blockOf(lastRead) != block.linear)
      return;
    uint64_t reader = get(shadow->reads[i].reader);
    if (reader && !(access.strong && strong)) {
      uint32_t other = streamIn(reader);
      if (other / StreamCount != warp.index && !seen(other, clockIn(reader)))
        return sayWarps(other, false, opOf(lastRead));
      uint64_t differs = reader ^ (myReader | uint64_t(lane) << 20);
      if (access.stream == GenericStream && other == stream && !(differs & 0x7FFFF) &&
          ((reader & severalLanes) || (differs & laneBits)))
        return sayLanes(false, opOf(lastRead));
    }
    if (!get(shadow->hasMore) || get(shadow->moreReaders[i].block) != block.linear + 1)
      return;
    reader = get(shadow->moreReaders[i].reader);
    uint32_t other = streamIn(reader);
    if (other / StreamCount != warp.index && !(access.strong && (reader >> 24 & 1)) && !seen(other, clockIn(reader)))
      sayWarps(other, false, static_cast<uint32_t>(reader & 0x3FFFFF));
  }

  void write(uint64_t i) {
    uint64_t lastRead = get(shadow->reads[i].read);
    if (lastRead)
      afterReads(i, lastRead);
    uint64_t writer = myWriter | uint64_t(lane) << 20;
    if (!plainWrite) { // hides neither the plain write before it nor what was read
      GlobalWrite &strong = shadow->strongWrites[i];
      uint64_t last = get(strong.write), before = get(strong.writer);
      bool several = last && ((last & severalBit) || (blockOf(last) != block.linear && !ordered(block, last)));
      if (last && blockOf(last) == block.linear && streamIn(before) != stream &&
          !seen(streamIn(before), clockIn(before))) {
        GlobalWrite &more = shadow->moreStrongWrites[i];
        if (uint64_t kept = get(more.write), writer = get(more.writer); !kept || blockOf(kept) != block.linear ||
                                                                        streamIn(writer) == streamIn(before) ||
                                                                        seen(streamIn(writer), clockIn(writer))) {
          put(shadow->hasMoreStrong, true);
          put(more.write, last & ~severalBit);
          put(more.writer, before);
        }
      }
      put(shadow->hasStrong, true);
      put(strong.write, mine | (several ? severalBit : 0));
      put(strong.writer, writer);
      return;
    }
    put(shadow->writes[i].write, mine);
    put(shadow->writes[i].writer, writer);
    if (get(shadow->hasStrong) && get(shadow->strongWrites[i].write))
      put(shadow->strongWrites[i].write, 0);
    if (get(shadow->hasMoreStrong) && get(shadow->moreStrongWrites[i].write))
      put(shadow->moreStrongWrites[i].write, 0);
    if (lastRead) {
      put(shadow->reads[i].read, 0);
      if (get(shadow->hasMore) && get(shadow->moreReaders[i].block))
        put(shadow->moreReaders[i].block, 0);
    }
  }

  // The last reader is kept, and one of its block that is not ordered before it.
  void read(uint64_t i) {
    GlobalRead &slot = shadow->reads[i];
    uint64_t lastRead = get(slot.read), now = mine;
    uint64_t reader = access.stream == GenericStream ? myReader | uint64_t(lane) << 20 : 0;
    if (lastRead) {
      bool isOwn = blockOf(lastRead) == block.linear, wasPlain = !(lastRead & strongBit);
      uint64_t before = get(slot.reader);
      if (isOwn && access.stream != GenericStream)
        return;
      if (isOwn && before && streamIn(before) == stream) {
        if (access.strong && wasPlain)
          return; // more may race with the plain read
        if (!((before ^ reader) & 0x7FFFF) && wasPlain == !access.strong &&
            ((before & severalLanes) || ((before ^ reader) & laneBits)))
          reader |= severalLanes;
      } else if (isOwn && before && !seen(streamIn(before), clockIn(before))) {
        GlobalMoreReaders &more = shadow->moreReaders[i];
        uint64_t first = get(more.reader);
        if (get(more.block) != block.linear + 1 || seen(streamIn(first), clockIn(first)) ||
            streamIn(first) == streamIn(before)) {
          put(shadow->hasMore, true);
          put(more.reader, moreRecord(clockIn(before), streamIn(before), !wasPlain, opOf(lastRead)));
          put(more.block, block.linear + 1);
        }
      }
      if ((lastRead & severalBit) || (!isOwn && !ordered(block, lastRead))) {
        now |= severalBit;
        if (wasPlain && access.strong) // the plain one is what more may race with
          now = record(block.linear, block.globalClock, opOf(lastRead), false) | severalBit;
      }
    }
    put(slot.read, now);
    put(slot.reader, reader);
  }
};

} // namespace

uint32_t trackGlobal(Warp &warp, const Allocation &allocation, uint32_t lanes, const uint64_t *address, uint32_t bytes,
                     const GlobalAccess &access, Overwrite *before) {
  if (!allocation.shadow)
    return 0;
  Comparison comparison(warp, allocation, access);
  uint32_t told = 0;
  forEachLane(lanes, [&](unsigned lane) {
    comparison.compare(lane, address[lane], bytes);
    if (comparison.overwritten.by == Overwrite::By::Nobody)
      return;
    before[lane] = comparison.overwritten;
    comparison.overwritten = {};
    told |= 1u << lane;
  });
  return told;
}

// --- Synchronization through global memory ---

void joinBlocks(BlockTimes &into, const BlockTimes &from) {
  for (auto &[block, time] : from) {
    Clock &known = into[block];
    known = std::max(known, time);
  }
}
void acquireBlocks(Block &block, const BlockTimes &from) {
  joinBlocks(block.acquired, from);
  block.acquiredCopy.reset();
}
void releaseBlock(Block &block, BlockTimes &into) {
  joinBlocks(into, block.acquired);
  Clock &own = into[block.linear];
  own = std::max(own, block.globalClock);
  ++block.globalClock;
}
void fenceBlock(Block &block) {
  acquireBlocks(block, block.globalPending);
  block.globalPending.clear();
  block.globalFenced = block.acquired;
  block.globalFenced[block.linear] = block.globalClock++;
  block.globalHasFenced = true;
}

bool ReleasedTimes::cameBackTo(uint32_t own) const {
  bool isOwn = time && block == own, isOther = time && block != own;
  for (const BlockTimes *times : {&others, known.get()}) {
    bool has = times && times->contains(own);
    isOwn |= has;
    isOther |= times && times->size() > has;
  }
  return isOwn && isOther;
}

// To what the block has acquired, or will have with its next fence.
static void acquireAt(Block &block, const ReleasedTimes &at, bool pending) {
  BlockTimes &into = pending ? block.globalPending : block.acquired;
  if (!at.others.empty())
    pending ? joinBlocks(into, at.others) : acquireBlocks(block, at.others);
  if (!at.time)
    return;
  Clock &seen = into[at.block];
  if (seen >= at.time)
    return;
  seen = at.time;
  if (at.block == block.linear) // it knew all that itself
    return;
  if (pending)
    return joinBlocks(into, *at.known);
  block.acquiredCopy.reset();
  if (at.known == block.joinedLast)
    return;
  joinBlocks(into, *at.known);
  block.joinedLast = at.known;
}
static void releaseAt(Block &block, ReleasedTimes &at, bool hasAcquired) {
  if (hasAcquired) {
    at.others.clear();
  } else if (at.time && at.block != block.linear) {
    joinBlocks(at.others, *at.known);
    Clock &last = at.others[at.block];
    last = std::max(last, at.time);
  }
  if (!block.acquiredCopy)
    block.acquiredCopy = std::make_shared<const BlockTimes>(block.acquired);
  at.known = block.acquiredCopy;
  at.block = block.linear;
  at.time = block.globalClock++;
}

void synchronizeGlobal(Warp &warp, uint64_t address, bool reads, bool writes, MemoryOrder order) {
  Block &block = *warp.block;
  synchronizeAt(warp, block.synchronizedGlobal, address, reads, writes, order);
  if (warp.launch->grid.count() <= 1)
    return;
  std::lock_guard lock(warp.launch->synchronizedMutex);
  auto &table = warp.launch->synchronized;
  if (reads) {
    auto found = table.find(address);
    if (found != table.end()) {
      acquireAt(block, found->second, /*pending=*/!isAcquire(order));
      // What came back from its own block by way of another one: which warp it was is not known.
      if (found->second.cameBackTo(block.linear))
        for (auto &other : block.warps)
          warp.clocks.join(other->clocks);
    }
  }
  if (!writes)
    return;
  if (!isRelease(order) && !block.globalHasFenced)
    return;
  warp.launch->hasReleased = true;
  if (isRelease(order))
    releaseAt(block, table[address], /*hasAcquired=*/reads && isAcquire(order));
  else
    joinBlocks(table[address].others, block.globalFenced);
}

} // namespace nacre::simulator
