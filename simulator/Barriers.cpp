// Barriers of blocks and clusters, fences, and small things that order or end: nanosleep, setmaxnreg, griddepcontrol.
#include "simulator/Execute.h"
#include "simulator/Memory.h"
#include "simulator/MemoryModifiers.h"
#include "simulator/Races.h"
#include "simulator/TensorMap.h"
#include <algorithm>

namespace nacre::simulator {

void decodeWarpBarrier(Decoder &decoder); // WarpWide.cpp
void decodeMbarrier(Decoder &decoder);    // Mbarriers.cpp

namespace {

enum BarrierFlag : uint32_t {
  AlignedFlag = 1,
  ArriveFlag = 2,
  ReduceAnd = 4,
  ReduceOr = 8,
  ReducePopulation = 16,
  HasCount = 32,
  NegatedFlag = 64
};

void complete(BarrierState &barrier) {
  barrier.lastAnd = barrier.reduceAnd, barrier.lastOr = barrier.reduceOr, barrier.lastCount = barrier.reduceCount;
  barrier.reduceAnd = 1, barrier.reduceOr = 0, barrier.reduceCount = 0;
  barrier.arrived = barrier.expected = 0;
  barrier.visible = std::move(barrier.released);
  barrier.released.clear();
  ++barrier.phase;
}

// Threads of a block that have exited count as arrived where the barrier is for all.
bool completesForAll(const BarrierState &barrier, const Block &block) {
  return barrier.arrived && barrier.expected == 0 && barrier.arrived >= block.liveThreads;
}

Status barrierHandler(Warp &warp, const Op &op, uint32_t mask) {
  Fragment &fragment = warp.fragments[warp.current];
  Block &block = *warp.block;
  LaunchState &launch = *warp.launch;
  unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  uint32_t id = warp.at<uint32_t>(op.a)[first];
  if (id > 15) {
    launch.report(warp, first, FindingKind::BarrierMismatch,
                  "there is no barrier " + std::to_string(id) + ": ids are 0 to 15");
    return Status::Next;
  }
  BarrierState &barrier = block.barriers[id];
  if (!fragment.atBarrier) {
    if ((op.flags & AlignedFlag) && !gather(warp, mask, warp.live))
      return Status::Blocked;
    if ((op.flags & AlignedFlag) && (warp.present & ~warp.live) && launch.checks)
      launch.report(warp, first, FindingKind::DivergentBarrier,
                    std::to_string(std::popcount(warp.present & ~warp.live)) +
                        " lanes of the warp have exited before this barrier");
    uint32_t count = op.flags & HasCount ? warp.at<uint32_t>(op.b)[first] : 0;
    if (count % laneCount || ((op.flags & HasCount) && count == 0))
      launch.report(warp, first, FindingKind::BarrierMismatch,
                    "a barrier's thread count must be a multiple of 32, not " + std::to_string(count));
    bool whole = mask == (warp.present & warp.live);
    uint32_t threads = count && whole ? laneCount : static_cast<uint32_t>(std::popcount(mask));
    if (barrier.arrived && barrier.expected != count) {
      launch.report(warp, first, FindingKind::BarrierMismatch,
                    "barrier " + std::to_string(id) + " is used with " + (count ? std::to_string(count) : "all") +
                        " threads here and with " + (barrier.expected ? std::to_string(barrier.expected) : "all") +
                        " by those who wait",
                    barrier.firstOp);
    }
    if (barrier.arrived == 0) {
      barrier.expected = count;
      barrier.firstOp = warp.pc, barrier.firstWarp = &warp, barrier.firstLane = first;
    }
    barrier.arrived += threads;
    if (op.flags & (ReduceAnd | ReduceOr | ReducePopulation)) {
      uint32_t votes = warp.predicate(op.c);
      if (op.flags & NegatedFlag)
        votes = ~votes;
      votes &= mask;
      barrier.reduceAnd &= votes == mask;
      barrier.reduceOr |= votes != 0;
      barrier.reduceCount += static_cast<uint32_t>(std::popcount(votes));
    }
    ++warp.warpSyncs;
    if (launch.checks)
      release(warp, barrier.released);
    progressed(warp);
    fragment.barrier = id;
    fragment.barrierPhase = barrier.phase;
    if (barrier.expected && barrier.arrived > barrier.expected)
      launch.report(warp, first, FindingKind::BarrierMismatch,
                    std::to_string(barrier.arrived) + " threads arrive at barrier " + std::to_string(id) +
                        ", which is for " + std::to_string(barrier.expected));
    if ((barrier.expected && barrier.arrived >= barrier.expected) || completesForAll(barrier, block)) {
      if (!barrier.expected && block.liveThreads < launch.block.count() && launch.checks)
        launch.report(warp, first, FindingKind::BarrierMismatch,
                      std::to_string(launch.block.count() - block.liveThreads) +
                          " threads of the block have exited before a barrier for all threads");
      complete(barrier);
      ++currentWorker->barriers;
    }
    if (op.flags & ArriveFlag)
      return Status::Next;
    fragment.atBarrier = true;
  }
  if (barrier.phase == fragment.barrierPhase)
    return Status::Blocked;
  fragment.atBarrier = false;
  if (launch.checks)
    acquire(warp, barrier.visible);
  ++warp.warpSyncs;
  if (op.flags & ReducePopulation) {
    uint32_t *d = warp.at<uint32_t>(op.d);
    forEachLane(mask, [&](unsigned lane) { d[lane] = barrier.lastCount; });
  } else if (op.flags & (ReduceAnd | ReduceOr)) {
    bool result = op.flags & ReduceAnd ? barrier.lastAnd : barrier.lastOr;
    uint32_t &d = warp.predicate(op.d);
    d = (d & ~mask) | (result ? mask : 0);
  }
  return Status::Next;
}

// --- clusters ---
void completeCluster(Cluster &cluster) {
  uint32_t live = 0;
  for (auto &block : cluster.blocks)
    live += block->liveThreads;
  if (!cluster.barrier.arrived || cluster.barrier.arrived < live)
    return;
  complete(cluster.barrier);
  cluster.visibleBlocks = std::move(cluster.releasedBlocks);
  cluster.releasedBlocks.clear();
}
Status clusterArrive(Warp &warp, const Op &op, uint32_t mask) {
  if ((op.flags & AlignedFlag) && !gather(warp, mask, warp.live))
    return Status::Blocked;
  Cluster &cluster = *warp.block->cluster;
  if (warp.clusterArrived & mask)
    warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::BarrierMismatch,
                        "barrier.cluster.arrive twice without barrier.cluster.wait between");
  warp.clusterArrived |= mask;
  warp.clusterPhase = cluster.barrier.phase;
  cluster.barrier.arrived += static_cast<uint32_t>(std::popcount(mask));
  if (warp.launch->checks && op.order != MemoryOrder::Relaxed) {
    release(warp, cluster.barrier.released);
    releaseBlock(*warp.block, cluster.releasedBlocks);
  }
  progressed(warp);
  completeCluster(cluster);
  return Status::Next;
}
Status clusterWait(Warp &warp, const Op &op, uint32_t mask) {
  if ((op.flags & AlignedFlag) && !gather(warp, mask, warp.live))
    return Status::Blocked;
  Cluster &cluster = *warp.block->cluster;
  if (mask & ~warp.clusterArrived) {
    warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::BarrierMismatch,
                        "barrier.cluster.wait without barrier.cluster.arrive");
    return Status::Next;
  }
  if (cluster.barrier.phase == warp.clusterPhase)
    return Status::Blocked;
  warp.clusterArrived &= ~mask;
  ++warp.warpSyncs;
  if (warp.launch->checks) {
    acquire(warp, cluster.barrier.visible);
    acquireBlocks(*warp.block, cluster.visibleBlocks);
  }
  return Status::Next;
}

void decodeClusterBarrier(Decoder &decoder) {
  Op &op = decoder.op;
  bool arrives = decoder.take("arrive");
  if (!arrives && !decoder.take("wait"))
    decoder.refuse("it is .arrive or .wait");
  op.order = takeOrder(decoder, MemoryOrder::AcquireRelease);
  op.flags = decoder.take("aligned") ? uint32_t(AlignedFlag) : 0;
  decoder.finishModifiers();
  decoder.expectOperands(0, 0);
  decoder.emit(arrives ? clusterArrive : clusterWait, InstructionClass::Barrier);
}

void decodeBar(Decoder &decoder) {
  Op &op = decoder.op;
  bool isBar = decoder.instruction->words[0] == "bar";
  if (isBar && decoder.take("warp"))
    return decodeWarpBarrier(decoder);
  if (!isBar && decoder.take("cluster"))
    return decodeClusterBarrier(decoder);
  decoder.take("cta");
  std::string_view what = decoder.takeOneOf({"sync", "arrive", "red"});
  bool aligned = decoder.take("aligned") || isBar;
  op.flags = aligned ? uint32_t(AlignedFlag) : 0;
  size_t next = 0;
  if (what == "red") {
    std::string_view operation = decoder.takeOneOf({"popc", "and", "or"});
    if (operation.empty())
      decoder.refuse("its reduction is missing");
    op.flags |= operation == "popc" ? ReducePopulation : operation == "and" ? ReduceAnd : ReduceOr;
    decoder.take("u32");
    decoder.take("pred");
    decoder.finishModifiers();
    decoder.expectOperands(3, 4);
    op.d = decoder.destination(decoder.operand(next++), operation == "popc" ? 4 : 0);
    op.a = decoder.valueOf(decoder.operand(next++), ScalarType::U32);
    if (decoder.operandCount() == 4) {
      op.b = decoder.valueOf(decoder.operand(next++), ScalarType::U32);
      op.flags |= HasCount;
    }
    const Operand &vote = decoder.operand(next);
    op.c = decoder.predicate(vote);
    op.flags |= vote.negated ? uint32_t(NegatedFlag) : 0;
    return decoder.emit(barrierHandler, InstructionClass::Barrier);
  }
  if (what.empty())
    decoder.refuse("the simulator does not know this barrier");
  decoder.finishModifiers();
  decoder.expectOperands(1, 2);
  op.a = decoder.valueOf(decoder.operand(0), ScalarType::U32);
  if (decoder.operandCount() == 2) {
    op.b = decoder.valueOf(decoder.operand(1), ScalarType::U32);
    op.flags |= HasCount;
  }
  if (what == "arrive") {
    op.flags |= ArriveFlag;
    if (!(op.flags & HasCount))
      decoder.refuse("bar.arrive needs a thread count");
  }
  decoder.emit(barrierHandler, InstructionClass::Barrier);
}

// --- fences ---
Status fenceHandler(Warp &warp, const Op &op, uint32_t) {
  if (warp.launch->checks)
    fence(warp, op.scope);
  return Status::Next;
}
// What the warp has seen of generic writes is from here on visible to the async proxy, and what it has seen of generic
// reads is over.
Status proxyFenceHandler(Warp &warp, const Op &op, uint32_t) {
  if (!warp.launch->checks)
    return Status::Next;
  warp.ownClock();
  joinClocks(warp.clocks.proxy, warp.clocks.seen);
  joinClocks(warp.clocks.over, warp.clocks.seen);
  ++warp.ownClock();
  return Status::Next;
}
Status nothing(Warp &, const Op &, uint32_t) { return Status::Next; }
// Between generic changes of tensor maps and tensor copies that use them: an acquire names the map.
Status mapReleaseHandler(Warp &warp, const Op &op, uint32_t) {
  if (warp.launch->checks)
    fence(warp, op.scope), releaseMaps(warp);
  return Status::Next;
}
Status mapAcquireHandler(Warp &warp, const Op &op, uint32_t mask) {
  if (!warp.launch->checks)
    return Status::Next;
  fence(warp, op.scope);
  uint64_t address[laneCount];
  addressesOf(warp, op.a, op.offset, op.lanes32, address);
  forEachLane(mask, [&](unsigned lane) { acquireMap(warp, address[lane]); });
  return Status::Next;
}

void decodeFence(Decoder &decoder) {
  Op &op = decoder.op;
  if (decoder.take("mbarrier_init")) {
    decoder.take("release");
    decoder.take("cluster");
    decoder.finishModifiers();
    return decoder.emit(proxyFenceHandler, InstructionClass::Barrier);
  }
  if (decoder.take("proxy")) {
    std::string_view kind = decoder.nextWord();
    bool isAsync = kind == "async";
    if (!isAsync && kind != "alias" && kind != "tensormap::generic" && kind != "async::generic" && kind != "tensormap")
      decoder.refuse("the simulator does not know this proxy");
    MemoryOrder order = takeOrder(decoder, MemoryOrder::Weak);
    decoder.takePrefixed("sync_restrict");
    op.scope = takeScope(decoder, Scope::Gpu);
    decoder.takeSpace(Space::Generic);
    decoder.finishModifiers();
    if (kind == "tensormap::generic") {
      bool acquires = order == MemoryOrder::Acquire;
      decoder.expectOperands(acquires ? 2 : 0, acquires ? 2 : 0);
      if (acquires)
        decoder.address(decoder.operand(0), Space::Generic);
      return decoder.emit(acquires ? mapAcquireHandler : mapReleaseHandler, InstructionClass::Barrier);
    }
    return decoder.emit(isAsync || kind == "async::generic" ? proxyFenceHandler : nothing, InstructionClass::Barrier);
  }
  if (!decoder.take("sc"))
    takeOrder(decoder, MemoryOrder::AcquireRelease);
  decoder.takePrefixed("sync_restrict");
  op.scope = takeScope(decoder, Scope::Gpu);
  decoder.finishModifiers();
  decoder.expectOperands(0, 0);
  decoder.emit(fenceHandler, InstructionClass::Barrier);
}
void decodeMembar(Decoder &decoder) {
  Op &op = decoder.op;
  if (decoder.take("proxy"))
    return decodeFence(decoder);
  std::string_view level = decoder.takeOneOf({"cta", "gl", "sys"});
  decoder.finishModifiers();
  op.scope = level == "cta" ? Scope::Cta : level == "sys" ? Scope::System : Scope::Gpu;
  decoder.emit(fenceHandler, InstructionClass::Barrier);
}

// --- the rest ---
Status pollHandler(Warp &, const Op &, uint32_t) { return Status::Poll; }
void decodeSleep(Decoder &decoder) {
  decoder.take("u32");
  decoder.finishModifiers();
  decoder.expectOperands(1, 1);
  decoder.valueOf(decoder.operand(0), ScalarType::U32);
  decoder.emit(pollHandler, InstructionClass::Other);
}
void decodeDependency(Decoder &decoder) { // one launch at a time: what it depends on has ended
  if (!decoder.take("launch_dependents") && !decoder.take("wait"))
    decoder.refuse("it is .launch_dependents or .wait");
  decoder.finishModifiers();
  decoder.emit(nothing, InstructionClass::Other);
}

// Registers that a warp may use: raised only when the pool has them.
Status registersHandler(Warp &warp, const Op &op, uint32_t mask) {
  if (!gather(warp, mask, warp.live))
    return Status::Blocked;
  Block &block = *warp.block;
  auto wanted = static_cast<uint32_t>(op.offset);
  uint32_t pool = 65536 / warp.launch->kernel->source->leastBlocks;
  uint32_t initial = std::min<uint32_t>(255, pool / (static_cast<uint32_t>(block.warps.size()) * laneCount)) & ~7u;
  uint32_t used = 0;
  for (auto &other : block.warps)
    if (other.get() != &warp && (!other->fragments.empty()))
      used += (other->registerQuota ? other->registerQuota : initial) * laneCount;
  uint32_t own = warp.registerQuota ? warp.registerQuota : initial;
  if (op.flags) { // inc
    if (wanted < own && warp.launch->checks)
      warp.launch->report(warp, 0, FindingKind::RegisterPool,
                          "setmaxnreg.inc to " + std::to_string(wanted) + " registers, but the warp has " +
                              std::to_string(own));
    if (used + wanted * laneCount > pool)
      return Status::Blocked;
  } else if (wanted > own && warp.launch->checks) {
    warp.launch->report(warp, 0, FindingKind::RegisterPool,
                        "setmaxnreg.dec to " + std::to_string(wanted) + " registers, but the warp has " +
                            std::to_string(own));
  }
  warp.registerQuota = wanted;
  progressed(warp);
  return Status::Next;
}
void decodeRegisters(Decoder &decoder) {
  Op &op = decoder.op;
  op.flags = decoder.take("inc");
  if (!op.flags && !decoder.take("dec"))
    decoder.refuse("it is .inc or .dec");
  decoder.take("sync");
  decoder.take("aligned");
  decoder.take("u32");
  decoder.finishModifiers();
  decoder.expectOperands(1, 1);
  uint64_t count = decoder.immediate(decoder.operand(0));
  if (count < 24 || count > 256 || count % 8)
    decoder.refuse("its count is a multiple of 8 from 24 to 256");
  op.offset = static_cast<int64_t>(count);
  decoder.emit(registersHandler, InstructionClass::Other);
}

} // namespace

void recheckBarriers(Block &block) {
  for (BarrierState &barrier : block.barriers)
    if (completesForAll(barrier, block)) {
      if (block.launch->checks)
        block.launch->reportAt(FindingKind::BarrierMismatch,
                               "threads of the block exit while others wait at a barrier for all threads",
                               barrier.firstOp, ~0u, &block, barrier.firstWarp, barrier.firstLane);
      complete(barrier);
    }
  completeCluster(*block.cluster);
}

void checkAtEnd(Cluster &cluster) {
  for (auto &block : cluster.blocks) {
    reportEarlyReads(*block);
    for (auto &[agent, access] : block->remote) {
      bool known = std::any_of(block->warps.begin(), block->warps.end(),
                               [&](auto &warp) { return clockOf(warp->clocks.seen, agent) >= access.clock; });
      if (!known)
        block->launch->reportAt(FindingKind::SharedRace,
                                "block " + std::to_string(block->rank) +
                                    " of the cluster may have ended before this access to its shared memory: "
                                    "barrier.cluster is missing before the end",
                                access.op, ~0u, access.warp->block, access.warp, access.lane);
    }
    for (auto &[offset, mbarrier] : block->mbarriers)
      if (mbarrier.transactions != 0)
        block->launch->reportAt(FindingKind::MbarrierMisuse,
                                "the kernel ends with " + std::to_string(mbarrier.transactions) +
                                    " bytes outstanding on the mbarrier at shared address " +
                                    std::to_string(offset + sharedStart),
                                mbarrier.initOp, ~0u, block.get(), nullptr, 0);
    for (auto &warp : block->warps) {
      if (!warp->inFlight.empty())
        block->launch->reportAt(FindingKind::WgmmaInFlight,
                                "a warp exits while a wgmma is in flight: wgmma.wait_group is missing",
                                warp->inFlight.front().op, ~0u, block.get(), warp.get(), 0);
      uint64_t leader = block->warps[warp->index / 4 * 4]->wgmmaCount;
      if (warp->wgmmaCount != leader)
        block->launch->reportAt(FindingKind::SynchronizationMisuse,
                                "the warps of a warpgroup execute different numbers of wgmma (" +
                                    std::to_string(leader) + " and " + std::to_string(warp->wgmmaCount) + ")",
                                warp->lastWgmma, ~0u, block.get(), warp.get(), 0);
      if (warp->bulkReads > warp->bulkDone && (warp->bulkGroups || warp->bulkOpen))
        block->launch->reportAt(FindingKind::SharedRace,
                                "the warp exits before its bulk copies out of shared memory have read it: "
                                "cp.async.bulk.wait_group is missing",
                                warp->lastBulk, ~0u, block.get(), warp.get(), 0);
    }
  }
}

const std::vector<DecoderEntry> barrierDecoders = {{"bar", decodeBar},
                                                   {"barrier", decodeBar},
                                                   {"fence", decodeFence},
                                                   {"membar", decodeMembar},
                                                   {"nanosleep", decodeSleep},
                                                   {"griddepcontrol", decodeDependency},
                                                   {"setmaxnreg", decodeRegisters},
                                                   {"mbarrier", decodeMbarrier}};

} // namespace nacre::simulator
