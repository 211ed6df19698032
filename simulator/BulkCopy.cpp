// cp.async.bulk and cp.reduce.async.bulk without tensor maps, their groups, and what tensor copies share with them.
#include "simulator/AsyncCopy.h"

namespace nacre::simulator {

std::vector<CopyTarget> copyTargets(Warp &warp, unsigned lane, uint64_t destination, uint32_t bytes, uint64_t mbarrier,
                                    bool multicast, uint32_t blocks, const char *what) {
  std::vector<CopyTarget> targets;
  auto add = [&](uint64_t to, uint64_t barrier) {
    SharedRange range = sharedRange(warp, lane, to, bytes, what);
    if (!range.block)
      return false;
    MbarrierAt at = findMbarrier(warp, lane, barrier, what, MbarrierUser::Copy);
    if (!at.object)
      return false;
    targets.push_back({range.block, range.offset, at});
    return true;
  };
  if (!multicast) {
    add(destination, mbarrier);
    return targets;
  }
  toShared(destination);
  toShared(mbarrier);
  uint64_t low = (1u << clusterShift) - 1;
  size_t count = warp.block->cluster->blocks.size();
  for (uint32_t rank = 0; rank < 16; ++rank)
    if (blocks >> rank & 1) {
      if (rank >= count) {
        warp.launch->report(warp, lane, FindingKind::OutOfBounds,
                            std::string(what) + ": the multicast mask names block " + std::to_string(rank) +
                                " of a cluster of " + std::to_string(count));
        continue;
      }
      uint64_t window = uint64_t(rank + 1) << clusterShift;
      add((destination & low) | window, (mbarrier & low) | window);
    }
  return targets;
}

void trackCopyWrite(Warp &warp, unsigned lane, const CopyTarget &target, uint32_t offset, uint32_t bytes) {
  if (warp.launch->checks)
    trackShared(warp, *target.block, offset, bytes,
                {true, false, true, target.mbarrier.object->agent,
                 static_cast<Clock>(target.mbarrier.object->phase + 1), lane});
}
void trackCopyRead(Warp &warp, unsigned lane, const SharedRange &range, uint32_t bytes) {
  if (warp.launch->checks)
    trackShared(warp, *range.block, range.offset, bytes,
                {false, false, true, warp.agent + BulkStream, warp.bulkGroups + 1, lane});
}

std::optional<std::pair<AtomicOperation, bool>> takeBulkReduction(Decoder &decoder) {
  auto operation = takeAtomicOperation(decoder);
  if (!operation)
    return std::nullopt;
  return std::pair{*operation, decoder.take("noftz")};
}

namespace {

struct BulkPlan {
  AddressOperand destination, source, mbarrier;
  Slot size, blocks;
  bool toShared = false, fromShared = false, multicast = false, reduces = false;
  AtomicOperation operation = AtomicOperation::Add;
  ScalarType type = ScalarType::U8;
};

void reduceInto(Warp &warp, std::byte *to, const std::byte *from, uint32_t bytes, ScalarType type,
                AtomicOperation operation) {
  uint32_t size = bytesOf(type);
  for (uint32_t at = 0; at + size <= bytes; at += size) {
    uint64_t old = 0, value = 0;
    std::lock_guard lock(atomicMutex(warp, reinterpret_cast<uint64_t>(to + at)));
    std::memcpy(&old, to + at, size);
    std::memcpy(&value, from + at, size);
    value = atomicResult(operation, type, old, value, 0, false);
    std::memcpy(to + at, &value, size);
  }
}

Status bulkHandler(Warp &warp, const Op &op, uint32_t mask) {
  const auto &plan = *static_cast<const BulkPlan *>(op.plan);
  forEachLane(mask, [&](unsigned lane) {
    uint32_t bytes = warp.at<uint32_t>(plan.size)[lane];
    uint64_t to = plan.destination.of(warp, lane), from = plan.source.of(warp, lane);
    if (bytes % 16 || to % 16 || from % 16) {
      warp.launch->report(warp, lane, FindingKind::Misaligned,
                          "a bulk copy's addresses and size must be multiples of 16 (size " + std::to_string(bytes) +
                              ")");
      return;
    }
    if (bytes == 0)
      return;
    const std::byte *data;
    if (plan.fromShared) {
      SharedRange range = sharedRange(warp, lane, from, bytes, "bulk copy");
      if (!range.block)
        return;
      trackCopyRead(warp, lane, range, bytes);
      data = range.data;
    } else {
      data = globalRange(warp, lane, from, bytes, false, "bulk copy");
      if (!data)
        return;
    }
    currentWorker->bulkBytes += bytes;
    if (!plan.toShared) {
      warp.bulkOpen = true;
      warp.bulkReads = warp.bulkGroups + 1;
      warp.lastBulk = warp.pc;
      std::byte *target = plan.reduces ? nullptr : globalRange(warp, lane, to, bytes, true, "bulk copy");
      if (plan.reduces) {
        const Allocation *allocation = warp.launch->find(to);
        if (!allocation || to + bytes > allocation->end || !allocation->holds(to, bytes) || !allocation->writable)
          globalRange(warp, lane, to, bytes, true, "bulk reduction"); // reports
        else
          reduceInto(warp, reinterpret_cast<std::byte *>(to), data, bytes, plan.type, plan.operation);
      } else if (target) {
        std::memcpy(target, data, bytes);
      }
      progressed(warp);
      return;
    }
    uint32_t blocks = plan.multicast ? warp.at<uint32_t>(plan.blocks)[lane] : 0;
    for (const CopyTarget &target :
         copyTargets(warp, lane, to, bytes, plan.mbarrier.of(warp, lane), plan.multicast, blocks, "bulk copy")) {
      trackCopyWrite(warp, lane, target, target.offset, bytes);
      std::byte *into = target.block->shared.data + target.offset;
      if (plan.reduces)
        reduceInto(warp, into, data, bytes, plan.type, plan.operation);
      else
        std::memmove(into, data, bytes);
      completeTransactions(warp, lane, target.mbarrier, bytes);
    }
  });
  return Status::Next;
}

Status bulkCommitHandler(Warp &warp, const Op &, uint32_t) {
  ++warp.bulkGroups;
  warp.bulkOpen = false;
  return Status::Next;
}
Status bulkWaitHandler(Warp &warp, const Op &op, uint32_t) {
  auto pending = static_cast<uint32_t>(op.offset);
  if (warp.bulkGroups > pending) {
    warp.bulkDone = std::max(warp.bulkDone, warp.bulkGroups - pending);
    if (warp.launch->checks)
      raiseClock(warp.clocks.seen, warp.agent + BulkStream, warp.bulkGroups - pending);
  }
  return Status::Next;
}
Status nothing(Warp &, const Op &, uint32_t) { return Status::Next; }

} // namespace

void decodeBulk(Decoder &decoder, bool reduces) {
  Op &op = decoder.op;
  if (decoder.take("commit_group")) {
    decoder.finishModifiers();
    return decoder.emit(bulkCommitHandler, InstructionClass::AsyncCopy);
  }
  if (decoder.take("wait_group")) {
    decoder.take("read");
    decoder.finishModifiers();
    decoder.expectOperands(1, 1);
    op.offset = static_cast<int64_t>(decoder.immediate(decoder.operand(0)));
    return decoder.emit(bulkWaitHandler, InstructionClass::AsyncCopy);
  }
  bool prefetches = decoder.take("prefetch");
  if (decoder.take("tensor"))
    return decodeTensorCopy(decoder, reduces, prefetches);
  if (prefetches) {
    while (!decoder.nextWord().empty()) {
    }
    return decoder.emit(nothing, InstructionClass::AsyncCopy);
  }
  auto *plan = decoder.plan<BulkPlan>();
  std::string_view destination = decoder.nextWord(), source = decoder.nextWord();
  plan->toShared = destination == "shared::cluster" || destination == "shared::cta";
  plan->fromShared = source == "shared::cta";
  if ((!plan->toShared && destination != "global") || (!plan->fromShared && source != "global") ||
      (!plan->toShared && !plan->fromShared))
    decoder.refuse("the simulator does not know a bulk copy between these spaces");
  bool barrier = decoder.take("mbarrier::complete_tx::bytes"), group = decoder.take("bulk_group");
  if (barrier != plan->toShared || group == plan->toShared)
    decoder.refuse("a copy to shared memory completes on an mbarrier, one to global memory in a bulk group");
  plan->multicast = decoder.take("multicast::cluster");
  bool policy = takeCacheModifiers(decoder);
  if (decoder.take("cp_mask"))
    decoder.refuse(".cp_mask is not simulated");
  if (reduces) {
    auto reduction = takeBulkReduction(decoder);
    if (!reduction)
      decoder.refuse("its operation is missing");
    plan->reduces = true;
    plan->operation = reduction->first;
    plan->type = decoder.takeType();
    if (!plan->toShared)
      decoder.program.hasGlobalAtomics = true;
  }
  decoder.finishModifiers();
  size_t next = 0;
  plan->destination = addressOperand(decoder, decoder.operand(next++), plan->toShared ? Space::Shared : Space::Global);
  plan->source = addressOperand(decoder, decoder.operand(next++), plan->fromShared ? Space::Shared : Space::Global);
  plan->size = decoder.valueOf(decoder.operand(next++), ScalarType::U32);
  if (plan->toShared)
    plan->mbarrier = addressOperand(decoder, decoder.operand(next++), Space::Shared);
  if (plan->multicast)
    plan->blocks = decoder.valueOf(decoder.operand(next++), ScalarType::B16);
  if (policy)
    decoder.valueOf(decoder.operand(next++), ScalarType::B64);
  decoder.expectOperands(next, next);
  op.plan = plan;
  decoder.emit(bulkHandler, InstructionClass::AsyncCopy);
}

} // namespace nacre::simulator
