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

// A strong read does not hide a plain one of the same agent: more may race with that.
static void recordRead(Warp &warp, Block &owner, SharedShadow &shadow, const SharedAccess &access) {
  if (shadow.readers) { // again at the same time, as in a loop between barriers
    const ReaderSet &set = owner.readerSets[shadow.readers - 1];
    if (access.agent < set.reads.size() && set.reads[access.agent].clock == access.clock &&
        (access.strong || !set.reads[access.agent].strong))
      return;
  } else if (shadow.readAgent == access.agent && shadow.readClock == access.clock &&
             (access.strong || !(shadow.readFlags & ShadowStrong))) {
    return;
  }
  auto put = [&](ReaderSet &set, uint32_t agent, ReaderSet::Read read) {
    if (set.reads.size() <= agent)
      set.reads.resize(agent + 1);
    if (!(read.strong && set.reads[agent].clock && !set.reads[agent].strong))
      set.reads[agent] = read;
  };
  ReaderSet::Read mine{access.clock, warp.pc, access.strong};
  if (shadow.readers)
    return put(owner.readerSets[shadow.readers - 1], access.agent, mine);
  bool isPlain = shadow.readClock && !(shadow.readFlags & ShadowStrong);
  bool own = shadow.readAgent == access.agent;
  if (shadow.readClock == 0 ||
      (own ? !(isPlain && access.strong) : clockOf(warp.clocks.seen, shadow.readAgent) >= shadow.readClock)) {
    shadow.readClock = access.clock;
    shadow.readAgent = static_cast<uint16_t>(access.agent);
    shadow.readOp = warp.pc;
    shadow.readFlags = access.strong ? ShadowStrong : 0;
    return;
  }
  if (own)
    return;
  if (owner.freeReaderSets.empty()) {
    owner.readerSets.emplace_back();
    owner.freeReaderSets.push_back(static_cast<uint32_t>(owner.readerSets.size()));
  }
  shadow.readers = owner.freeReaderSets.back();
  owner.freeReaderSets.pop_back();
  ReaderSet &set = owner.readerSets[shadow.readers - 1];
  set.reads.clear();
  put(set, shadow.readAgent, {shadow.readClock, shadow.readOp, (shadow.readFlags & ShadowStrong) != 0});
  put(set, access.agent, mine);
}

static void reportEarlyRead(Block &block, uint32_t offset, const SharedShadow &shadow) {
  const Cluster &cluster = *block.cluster;
  uint32_t warp = shadow.writeAgent / StreamCount % cluster.warpsPerBlock,
           rank = shadow.writeAgent / StreamCount / cluster.warpsPerBlock;
  Block &reader = rank < cluster.blocks.size() ? *cluster.blocks[rank] : block;
  block.launch->reportAt(FindingKind::Uninitialised,
                         "read of shared memory at " + hexadecimal(offset + sharedStart) +
                             " that nothing has written before",
                         shadow.writeOp, ~0u, &reader, reader.warps[warp].get(), shadow.writeLane);
}

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
  const std::vector<Clock> &seen = warp.clocks.seen;
  for (uint32_t i = first; i <= last; ++i) {
    SharedShadow &shadow = owner.shadow[i];
    bool written = shadow.flags & ShadowWritten;
    if (shadow.flags & ShadowGap) {
      warp.launch->report(warp, access.lane, FindingKind::OutOfBounds,
                          std::string(access.write ? "write to" : "read of") + " shared memory at " +
                              hexadecimal(i * granule + sharedStart) +
                              ", between two variables: past the end of the one before");
      continue;
    }
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
    } else if (!access.write && !(shadow.flags & ShadowReadEarly)) {
      // Not initialised, or a race with a write that is still to come: that write says which, or the end.
      shadow.flags |= ShadowReadEarly;
      shadow.writeAgent = static_cast<uint16_t>(access.agent);
      shadow.writeLane = static_cast<uint8_t>(access.lane);
      shadow.writeOp = warp.pc;
      owner.readEarly = true;
    }
    if (!access.write) {
      recordRead(warp, owner, shadow, access);
      continue;
    }
    bool raced = false;
    if (shadow.readers) {
      ReaderSet &set = owner.readerSets[shadow.readers - 1];
      for (uint32_t agent = 0; agent < set.reads.size() && !raced; ++agent) {
        const ReaderSet::Read &read = set.reads[agent];
        raced =
            read.clock && agent != access.agent && !(access.strong && read.strong) && clockOf(seen, agent) < read.clock;
        if (raced)
          conflict(warp, owner, FindingKind::SharedRace, access, i * granule, agent, read.op, false);
      }
      owner.freeReaderSets.push_back(shadow.readers);
      shadow.readers = 0;
    } else if (shadow.readClock && shadow.readAgent != access.agent &&
               !(access.strong && (shadow.readFlags & ShadowStrong)) &&
               clockOf(seen, shadow.readAgent) < shadow.readClock) {
      conflict(warp, owner, FindingKind::SharedRace, access, i * granule, shadow.readAgent, shadow.readOp, false);
      raced = true;
    }
    if ((shadow.flags & ShadowReadEarly) && !raced)
      reportEarlyRead(owner, i * granule, shadow);
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

void synchroniseAt(Warp &warp, std::unordered_map<uint64_t, Clocks> &table, uint64_t address, bool reads, bool writes,
                   MemoryOrder order) {
  if (reads) {
    auto found = table.find(address);
    if (found != table.end()) {
      if (isAcquire(order))
        acquire(warp, found->second);
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
  warp.pendingAcquire.clear();
  warp.fenced.clear();
  release(warp, warp.fenced);
  warp.hasFenced = true;
  if (scope == Scope::Gpu || scope == Scope::System)
    fenceBlock(block);
}

} // namespace nacre::simulator
