// Races in shared memory, by vector clocks; fences.
#include "simulator/Races.h"
#include <algorithm>

namespace nacre::simulator {

void release(Warp &warp, Clocks &clocks) {
  warp.ownClock();
  clocks.join(warp.clocks);
  ++warp.ownClock();
}
void acquire(Warp &warp, const Clocks &clocks) { warp.clocks.join(clocks); }

static void reportEarlyRead(Block &block, uint32_t offset, const SharedShadow &shadow) {
  const Cluster &cluster = *block.cluster;
  uint32_t warp = shadow.writeAgent / StreamCount % cluster.warpsPerBlock,
           rank = shadow.writeAgent / StreamCount / cluster.warpsPerBlock;
  Block &reader = rank < cluster.blocks.size() ? *cluster.blocks[rank] : block;
  block.launch->reportAt(FindingKind::Uninitialized,
                         "read of shared memory at " + hexadecimal(offset + sharedStart) +
                             " that nothing has written before",
                         shadow.writeOp, ~0u, &reader, reader.warps[warp].get(), shadow.writeLane);
}

// What an agent is called, by what it did last.
static std::string whoDid(const Block &block, uint32_t agent, uint32_t op) {
  uint32_t warps = block.cluster->warpsPerBlock;
  if (agent >= warps * block.cluster->blocks.size() * StreamCount) { // of what completes on an mbarrier
    const auto &words = block.launch->program->infos[op].instruction->words;
    bool tensor = std::find(words.begin(), words.end(), "tensor") != words.end();
    return tensor               ? "a tensor copy"
           : words[0] == "cp"   ? "a bulk copy"
           : words[0] == "call" ? "an asynchronous copy"
                                : "a " + std::string(words[0]) + ".async";
  }
  static constexpr const char *names[StreamCount] = {"", "a cp.async of ", "a bulk copy of ", "a wgmma of "};
  uint32_t warp = agent / StreamCount % warps, rank = agent / StreamCount / warps;
  std::string name = names[agent % StreamCount] + ("warp " + std::to_string(warp));
  if (block.cluster->blocks.size() > 1)
    name += " of block " + std::to_string(rank) + " of the cluster";
  return name;
}

namespace {

// One access to a granule, compared with what its shadow knows.
class SharedComparison {
public:
  SharedComparison(Warp &warp, Block &owner, const SharedAccess &access)
      : warp(warp), owner(owner), access(access), isGeneric(access.agent == warp.agent),
        kind(access.write    ? StrongWrite
             : access.strong ? StrongRead
                             : PlainRead),
        plainWrite(access.write && !access.strong) {}

  void compare(SharedShadow &shadow, uint32_t offset) {
    if (kind == PlainRead && isGeneric && readAgain(shadow))
      return;
    at = offset;
    if (shadow.flags & (ShadowGap | ShadowBarrier))
      return forbidden(shadow);
    raced = false;
    if (shadow.writeClock)
      afterWrite(shadow);
    bool reads = !access.write || access.updates;
    if (reads && !(shadow.flags & (ShadowWritten | ShadowReadEarly))) {
      // Not initialized, or a race with a write that is still to come: that write says which, or the end.
      shadow.flags |= ShadowReadEarly;
      shadow.writeAgent = static_cast<uint16_t>(access.agent);
      shadow.writeLane = static_cast<uint8_t>(access.lane);
      shadow.writeOp = here;
      owner.readEarly = true;
    }
    if (shadow.flags & ShadowManyUses)
      afterUses(shadow.useOp);
    else if (shadow.useClock)
      afterUse({shadow.useClock, shadow.useOp, shadow.useSync, shadow.useAgent, shadow.useLane, shadow.useKind});
    if (access.write && !access.updates)
      written(shadow);
    if (plainWrite)
      recordWrite(shadow);
    else
      recordUse(shadow);
  }

private:
  Warp &warp;
  Block &owner;
  const SharedAccess &access;
  bool isGeneric;
  UseKind kind; // of an access that is no plain write
  bool plainWrite;
  uint32_t at = 0;
  bool raced = false;
  const uint32_t here = placeOf(warp), sync = warp.warpSyncs;
  const uint32_t warpCount =
      warp.block->cluster->warpsPerBlock * static_cast<uint32_t>(warp.block->cluster->blocks.size());

  std::string verb() const { return access.updates ? "atomic" : access.write ? "write" : "read"; }

  void forbidden(SharedShadow &shadow) {
    std::string what = verb() + (access.write ? " to " : " of ");
    if (shadow.flags & ShadowGap) {
      warp.launch->report(warp, access.lane, FindingKind::OutOfBounds,
                          what + "shared memory at " + hexadecimal(at + sharedStart) +
                              ", between two variables: past the end of the one before");
      return;
    }
    warp.launch->report(warp, access.lane, FindingKind::MbarrierMisuse,
                        what + "an mbarrier as data at shared address " + hexadecimal(at + sharedStart) +
                            " (mbarrier.inval is missing)",
                        shadow.writeOp);
    if (access.write)
      shadow.flags &= static_cast<uint8_t>(~ShadowBarrier);
  }

  void conflict(FindingKind finding, uint32_t agent, uint32_t op, bool wrote) {
    raced = true;
    std::string what =
        verb() + " of shared memory at " + hexadecimal(at + sharedStart) + " by " + whoDid(owner, access.agent, here);
    std::string before = wrote ? "the write" : "the read";
    if (finding == FindingKind::ProxyRace)
      what += " through the async proxy after " + before + " by " + whoDid(owner, agent, op) +
              ": fence.proxy.async is missing between them";
    else if (access.agent == agent)
      what += " is not ordered after " + before +
              " by another of its lanes: __syncwarp or a barrier of the block is missing between them";
    else
      what += " is not ordered after " + before + " by " + whoDid(owner, agent, op) +
              ": a barrier or a wait is missing between them";
    warp.launch->report(warp, access.lane, finding, what, op);
  }

  bool unordered(uint32_t agent, Clock clock) const { return clockOf(warp.clocks.seen, agent) < clock; }
  bool hidden(uint32_t agent, Clock clock) const {
    return access.asyncProxy && clockOf(warp.clocks.proxy, agent) < clock;
  }
  // A read by a warp's own instructions, before the async proxy writes.
  bool mayBeUnderWay(uint32_t agent, Clock clock) const {
    bool isWarp = agent < warpCount * StreamCount && agent % StreamCount == GenericStream;
    return access.asyncProxy && access.write && isWarp && clockOf(warp.clocks.over, agent) < clock;
  }
  // Two lanes of the warp that have not met since.
  bool otherLane(uint32_t agent, uint32_t lane, bool several, uint32_t since) const {
    return isGeneric && agent == access.agent && since == sync && (several || lane != access.lane);
  }

  void afterWrite(const SharedShadow &shadow) {
    bool isAsync = shadow.flags & ShadowAsync;
    bool lanes = !isAsync && otherLane(shadow.writeAgent, shadow.writeLane, false, shadow.writeSync);
    if (lanes || (shadow.writeAgent != access.agent && unordered(shadow.writeAgent, shadow.writeClock))) {
      if (!plainWrite || !access.overwritten || isAsync)
        return conflict(FindingKind::SharedRace, shadow.writeAgent, shadow.writeOp, true);
      raced = true; // if the value differs
      *access.overwritten = {lanes ? Overwrite::By::Lane : Overwrite::By::Warp, shadow.writeOp, true};
    } else if (shadow.writeAgent != access.agent && !isAsync && hidden(shadow.writeAgent, shadow.writeClock)) {
      conflict(FindingKind::ProxyRace, shadow.writeAgent, shadow.writeOp, true);
    }
  }

  void afterUse(const SharedUse &use) {
    uint8_t useKind = use.kind & UseKindMask;
    bool wrote = useKind == StrongWrite;
    bool conflicts = plainWrite || (kind == StrongWrite && useKind == PlainRead) || (kind == PlainRead && wrote);
    if (conflicts && (otherLane(use.agent, use.lane, use.kind & SeveralLanes, use.sync) ||
                      (use.agent != access.agent && unordered(use.agent, use.clock))))
      conflict(FindingKind::SharedRace, use.agent, use.op, wrote);
    else if (wrote && use.agent != access.agent && hidden(use.agent, use.clock))
      conflict(FindingKind::ProxyRace, use.agent, use.op, true);
    else if (!wrote && mayBeUnderWay(use.agent, use.clock))
      conflict(FindingKind::ProxyRace, use.agent, use.op, false);
  }

  void written(SharedShadow &shadow) {
    if ((shadow.flags & ShadowReadEarly) && !raced)
      reportEarlyRead(owner, at, shadow);
    shadow.flags = static_cast<uint8_t>((shadow.flags & ~ShadowReadEarly) | ShadowWritten);
  }

  void recordWrite(SharedShadow &shadow) {
    if (shadow.flags & ShadowManyUses)
      owner.freeUseLists.push_back(shadow.useOp);
    shadow.useClock = 0;
    shadow.writeClock = access.clock;
    shadow.writeAgent = static_cast<uint16_t>(access.agent);
    shadow.writeLane = static_cast<uint8_t>(access.lane);
    shadow.writeOp = here;
    shadow.writeSync = sync;
    shadow.flags = static_cast<uint8_t>(ShadowWritten | (access.asyncProxy ? ShadowAsync : 0));
  }

  // A plain read of the same warp, at the same time, of what it has not written itself: nothing is new but the lane.
  bool readAgain(SharedShadow &shadow) {
    if (shadow.writeAgent == access.agent && shadow.writeSync == sync)
      return false;
    if (!(shadow.flags & (ShadowManyUses | ShadowGap | ShadowBarrier))) {
      if (shadow.useClock != access.clock || shadow.useAgent != access.agent || shadow.useSync != sync ||
          (shadow.useKind & UseKindMask) != PlainRead)
        return false;
      shadow.useKind |= shadow.useLane != access.lane ? SeveralLanes : 0;
      return true;
    }
    if (!(shadow.flags & ShadowManyUses))
      return false;
    SharedUse &use = *slots(shadow.useOp, false);
    if (use.clock != access.clock || use.sync != sync)
      return false;
    use.kind |= use.lane != access.lane ? SeveralLanes : 0;
    return true;
  }

  // The place of this warp in a list, or of all warps.
  SharedUse *allSlots(uint32_t list, bool strong) const {
    return owner.useSlots.data() + (size_t(list) * 2 + strong) * warpCount;
  }
  SharedUse *slots(uint32_t list, bool strong) const { return allSlots(list, strong) + access.agent / StreamCount; }

  void afterUses(uint32_t list) {
    const Block::UseList &uses = owner.useLists[list];
    bool afterReads = plainWrite || kind == StrongWrite,
         afterStrong = plainWrite || kind == PlainRead || access.asyncProxy;
    auto check = [&](const SharedUse *use, uint32_t count) {
      for (; count && !raced; ++use)
        if (use->clock) {
          afterUse(*use);
          --count;
        }
    };
    if (uses.plainReads && afterReads)
      check(allSlots(list, false), uses.plainReads);
    if (uses.strongWrites && afterStrong)
      check(allSlots(list, true), uses.strongWrites);
    for (const SharedUse &use : uses.others)
      if (!raced)
        afterUse(use);
  }

  // Whatever would race with the old use races with the new one.
  bool replaces(const SharedUse &old) const {
    uint8_t oldKind = old.kind & UseKindMask;
    return (oldKind == kind || oldKind == StrongRead) &&
           (old.agent == access.agent || !unordered(old.agent, old.clock));
  }
  SharedUse mine(const SharedUse &old) const {
    SharedUse use{access.clock,
                  here,
                  sync,
                  static_cast<uint16_t>(access.agent),
                  static_cast<uint8_t>(access.lane),
                  static_cast<uint8_t>(kind)};
    if (old.clock && old.agent == access.agent && old.sync == use.sync && (old.kind & UseKindMask) == kind &&
        ((old.kind & SeveralLanes) || old.lane != use.lane))
      use.kind |= SeveralLanes;
    return use;
  }

  uint32_t makeList() {
    if (owner.freeUseLists.empty()) {
      owner.freeUseLists.push_back(static_cast<uint32_t>(owner.useLists.size()));
      owner.useLists.emplace_back();
      owner.useSlots.resize(owner.useLists.size() * 2 * warpCount);
    }
    uint32_t list = owner.freeUseLists.back();
    owner.freeUseLists.pop_back();
    owner.useLists[list].plainReads = owner.useLists[list].strongWrites = 0;
    owner.useLists[list].others.clear();
    std::fill_n(allSlots(list, false), 2 * warpCount, SharedUse());
    return list;
  }
  void putUse(uint32_t list, const SharedUse &use) {
    Block::UseList &uses = owner.useLists[list];
    uint8_t useKind = use.kind & UseKindMask;
    uint32_t warpOf = use.agent / StreamCount;
    if (use.agent % StreamCount == GenericStream && warpOf < warpCount && useKind != StrongRead) {
      SharedUse &slot = allSlots(list, useKind == StrongWrite)[warpOf];
      (useKind == StrongWrite ? uses.strongWrites : uses.plainReads) += slot.clock == 0;
      slot = use;
      return;
    }
    for (SharedUse &other : uses.others)
      if ((other.agent == use.agent && (other.kind & UseKindMask) == useKind) || replaces(other)) {
        other = use;
        return;
      }
    uses.others.push_back(use);
  }

  void recordUse(SharedShadow &shadow) {
    if (!(shadow.flags & ShadowManyUses)) {
      SharedUse old{shadow.useClock, shadow.useOp, shadow.useSync, shadow.useAgent, shadow.useLane, shadow.useKind};
      if (!old.clock || replaces(old)) {
        SharedUse use = mine(old);
        shadow.useClock = use.clock, shadow.useOp = use.op, shadow.useSync = use.sync;
        shadow.useAgent = use.agent, shadow.useLane = use.lane, shadow.useKind = use.kind;
        return;
      }
      shadow.useOp = makeList();
      shadow.flags |= ShadowManyUses;
      shadow.useClock = 0;
      putUse(shadow.useOp, old);
    }
    bool hasSlot = isGeneric && kind != StrongRead;
    putUse(shadow.useOp, mine(hasSlot ? *slots(shadow.useOp, kind == StrongWrite) : SharedUse()));
  }
};

} // namespace

void reportEarlyReads(Block &block) {
  if (!block.readEarly)
    return;
  for (size_t i = 0; i < block.shadow.size(); ++i)
    if ((block.shadow[i].flags & (ShadowReadEarly | ShadowWritten)) == ShadowReadEarly)
      reportEarlyRead(block, static_cast<uint32_t>(i) * block.launch->program->sharedGranule, block.shadow[i]);
  block.readEarly = false;
}

void trackShared(Warp &warp, Block &owner, uint32_t offset, uint32_t bytes, const SharedAccess &access) {
  if (owner.shadow.empty() || bytes == 0)
    return;
  if (&owner != warp.block)
    owner.remote[access.agent] = {access.clock, warp.pc, access.lane, &warp};
  uint32_t granule = warp.program->sharedGranule;
  uint32_t first = offset / granule, last = (offset + bytes - 1) / granule;
  SharedComparison comparison(warp, owner, access);
  for (uint32_t i = first; i <= last; ++i)
    comparison.compare(owner.shadow[i], i * granule);
}

uint32_t trackShared(Warp &warp, uint32_t lanes, const uint64_t *address, uint32_t bytes, SharedAccess access,
                     Overwrite *before) {
  Block &owner = *warp.block;
  if (owner.shadow.empty())
    return 0;
  auto shift = static_cast<uint32_t>(std::countr_zero(warp.program->sharedGranule));
  uint32_t told = 0;
  Overwrite overwritten;
  access.overwritten = &overwritten;
  SharedComparison comparison(warp, owner, access);
  forEachLane(lanes, [&](unsigned lane) {
    auto offset = static_cast<uint32_t>(address[lane]) - sharedStart;
    access.lane = lane;
    for (uint32_t i = offset >> shift, last = (offset + bytes - 1) >> shift; i <= last; ++i)
      comparison.compare(owner.shadow[i], i << shift);
    if (overwritten.by == Overwrite::By::Nobody)
      return;
    before[lane] = overwritten;
    overwritten = {};
    told |= 1u << lane;
  });
  return told;
}

// What another lane of the warp has released orders the lanes.
static void meet(Warp &warp, const Clocks &acquired) { warp.warpSyncs += clockOf(acquired.seen, warp.agent) != 0; }

bool synchronizesNothing(const Warp &warp, MemoryOrder order, bool global) {
  const Block &block = *warp.block;
  if (isAcquire(order) || isRelease(order) || warp.hasFenced)
    return false;
  return global ? block.synchronizedGlobal.empty() && !block.globalHasFenced && !warp.launch->hasReleased
                : block.synchronized.empty();
}

void synchronizeAt(Warp &warp, std::unordered_map<uint64_t, Clocks> &table, uint64_t address, bool reads, bool writes,
                   MemoryOrder order) {
  if (reads) {
    auto found = table.find(address);
    if (found != table.end()) {
      if (isAcquire(order))
        acquire(warp, found->second), meet(warp, found->second);
      else
        warp.pendingAcquire.join(found->second);
    }
  }
  if (!writes)
    return;
  if (isRelease(order))
    release(warp, table[address]);
  else if (warp.hasFenced)
    table[address].join(warp.fenced);
}

void fence(Warp &warp, Scope scope) {
  Block &block = *warp.block;
  acquire(warp, warp.pendingAcquire);
  meet(warp, warp.pendingAcquire);
  warp.pendingAcquire.clear();
  warp.fenced.clear();
  release(warp, warp.fenced);
  warp.hasFenced = true;
  if (scope == Scope::Gpu || scope == Scope::System)
    fenceBlock(block);
}

} // namespace nacre::simulator
