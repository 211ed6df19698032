// mbarrier.*: init, inval, arrive, expect_tx, complete_tx, test_wait, try_wait, pending_count.
#include "simulator/Mbarriers.h"
#include "simulator/Execute.h"
#include "simulator/MemoryModifiers.h"

namespace nacre::simulator {

static constexpr int64_t mostTransactions = (1 << 20) - 1;

MbarrierAt findMbarrier(Warp &warp, uint32_t lane, uint64_t address, const char *what, MbarrierUser user) {
  SharedRange range = sharedRange(warp, lane, address, 8, what);
  if (!range.block)
    return {};
  if (range.offset % 8) {
    warp.launch->report(warp, lane, FindingKind::Misaligned,
                        std::string(what) + " at a shared address that is not a multiple of 8");
    return {};
  }
  auto found = range.block->mbarriers.find(range.offset);
  if (found == range.block->mbarriers.end()) {
    warp.launch->report(warp, lane, FindingKind::MbarrierMisuse,
                        std::string(what) + " of an mbarrier that is not initialized");
    return {};
  }
  Mbarrier &object = found->second;
  if (range.block != warp.block && user == MbarrierUser::Thread)
    range.block->remote[warp.agent] = {warp.ownClock(), warp.pc, lane, &warp};
  if (warp.launch->checks && object.initAgent != warp.agent &&
      clockOf(warp.clocks.seen, object.initAgent) < object.initClock)
    warp.launch->report(warp, lane, FindingKind::MbarrierMisuse,
                        std::string(what) +
                            " of an mbarrier whose initialization is not ordered before it: a barrier is missing",
                        object.initOp);
  else if (warp.launch->checks && user == MbarrierUser::Copy &&
           clockOf(warp.clocks.proxy, object.initAgent) < object.initClock)
    warp.launch->report(warp, lane, FindingKind::MbarrierMisuse,
                        std::string(what) +
                            " completes on an mbarrier whose initialization the async proxy has not been shown: "
                            "fence.mbarrier_init or fence.proxy.async is missing after mbarrier.init",
                        object.initOp);
  return {&object, range.block};
}

Mbarrier *mbarrierAt(Warp &warp, uint64_t address) {
  uint32_t offset;
  Block *block = sharedOwner(warp, address, offset);
  if (!block)
    return nullptr;
  auto found = block->mbarriers.find(offset);
  return found == block->mbarriers.end() ? nullptr : &found->second;
}

std::string stateOf(const Mbarrier &object) {
  std::string text = "phase " + std::to_string(object.phase) + ", " + std::to_string(object.pending) + " of " +
                     std::to_string(object.count) + (object.count == 1 ? " arrival is" : " arrivals are") + " missing";
  if (object.transactions)
    text += object.transactions > 0
                ? ", " + std::to_string(object.transactions) + " bytes are outstanding"
                : ", " + std::to_string(-object.transactions) + " bytes more than expected have come";
  return text;
}

static void completeIfDone(Warp &warp, Mbarrier &object) {
  if (object.pending != 0 || object.transactions != 0)
    return;
  ++object.phase;
  object.pending = object.count;
  if (warp.launch->checks) {
    object.visible.join(object.released);
    object.released.clear();
    joinBlocks(object.visibleBlocks, object.releasedBlocks);
    object.releasedBlocks.clear();
    raiseClock(object.visible.seen, object.agent, static_cast<Clock>(object.phase));
  }
  progressed(warp);
}

void arrive(Warp &warp, uint32_t lane, const MbarrierAt &at, uint32_t count, bool releases, bool drops) {
  Mbarrier &object = *at.object;
  if (object.pending < count) {
    warp.launch->report(warp, lane, FindingKind::MbarrierMisuse,
                        std::to_string(count) + " arrivals at an mbarrier that expects " +
                            std::to_string(object.pending) + " more in this phase",
                        object.initOp);
    count = static_cast<uint32_t>(object.pending);
  }
  if (warp.launch->checks && releases) {
    raiseClock(warp.clocks.over, warp.agent, warp.ownClock());
    release(warp, object.released);
    if (at.block != warp.block) // of another block of the cluster
      releaseBlock(*warp.block, object.releasedBlocks);
  }
  object.pending -= count;
  if (drops && object.count)
    object.count -= count;
  progressed(warp);
  completeIfDone(warp, object);
}

void expectTransactions(Warp &warp, uint32_t lane, const MbarrierAt &at, int64_t bytes) {
  at.object->transactions += bytes;
  if (at.object->transactions > mostTransactions || at.object->transactions < -mostTransactions)
    warp.launch->report(warp, lane, FindingKind::MbarrierMisuse,
                        "the transaction count of an mbarrier leaves its range of 2^20 - 1", at.object->initOp);
}

void completeTransactions(Warp &warp, uint32_t lane, const MbarrierAt &at, int64_t bytes) {
  expectTransactions(warp, lane, at, -bytes);
  progressed(warp);
  completeIfDone(warp, *at.object);
}

namespace {

enum MbarrierFlag : uint32_t {
  ParityFlag = 1,
  DropFlag = 2,
  ExpectFlag = 4,
  NoCompleteFlag = 8,
  CountFlag = 16,
  RelaxedFlag = 32,
  StateFlag = 64
};

void addresses(Warp &warp, const Op &op, uint64_t (&address)[laneCount]) {
  addressesOf(warp, op.a, op.offset, op.lanes32, address);
}

Status initHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  addresses(warp, op, address);
  forEachLane(mask, [&](unsigned lane) {
    SharedRange range = sharedRange(warp, lane, address[lane], 8, "mbarrier.init");
    if (!range.block)
      return;
    uint32_t count = warp.at<uint32_t>(op.b)[lane];
    if (range.offset % 8 || count == 0 || count > mostTransactions) {
      warp.launch->report(warp, lane, range.offset % 8 ? FindingKind::Misaligned : FindingKind::MbarrierMisuse,
                          range.offset % 8 ? "mbarrier.init at a shared address that is not a multiple of 8"
                                           : "an mbarrier's count is 1 to 2^20 - 1");
      return;
    }
    Block &block = *range.block;
    if (auto known = block.mbarriers.find(range.offset); known != block.mbarriers.end())
      warp.launch->report(warp, lane, FindingKind::MbarrierMisuse,
                          "an mbarrier is initialized twice (mbarrier.inval is missing)", known->second.initOp);
    if (warp.launch->checks) {
      trackShared(warp, block, range.offset, 8, genericAccess(warp, lane, true, false));
      for (uint32_t i = range.offset / warp.program->sharedGranule;
           i < (range.offset + 8) / warp.program->sharedGranule; ++i)
        block.shadow[i].flags |= ShadowBarrier;
    }
    Mbarrier made;
    made.count = count;
    made.pending = count;
    made.initOp = warp.pc;
    made.initAgent = warp.agent;
    made.initClock = warp.ownClock();
    made.agent = block.cluster->agents++;
    block.mbarriers[range.offset] = std::move(made);
  });
  return Status::Next;
}
Status invalHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  addresses(warp, op, address);
  forEachLane(mask, [&](unsigned lane) {
    MbarrierAt at = findMbarrier(warp, lane, address[lane], "mbarrier.inval");
    if (!at.object)
      return;
    uint64_t local = address[lane];
    toShared(local);
    uint32_t offset = static_cast<uint32_t>(local & ((1u << clusterShift) - 1)) - sharedStart;
    if (warp.launch->checks)
      for (uint32_t i = offset / warp.program->sharedGranule; i < (offset + 8) / warp.program->sharedGranule; ++i) {
        SharedShadow &shadow = at.block->shadow[i];
        shadow = SharedShadow();
      }
    at.block->mbarriers.erase(offset);
  });
  return Status::Next;
}

Status arriveHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  addresses(warp, op, address);
  forEachLane(mask, [&](unsigned lane) {
    MbarrierAt at = findMbarrier(warp, lane, address[lane], "mbarrier.arrive");
    if (!at.object)
      return;
    if (op.flags & StateFlag)
      warp.at<uint64_t>(op.d)[lane] = at.object->phase << 20 | static_cast<uint64_t>(at.object->pending);
    uint32_t operand = op.flags & (CountFlag | ExpectFlag) ? warp.at<uint32_t>(op.b)[lane] : 1;
    if (op.flags & ExpectFlag)
      expectTransactions(warp, lane, at, operand);
    uint32_t count = op.flags & ExpectFlag ? 1 : operand;
    if ((op.flags & NoCompleteFlag) && at.object->pending <= count)
      warp.launch->report(warp, lane, FindingKind::MbarrierMisuse, "mbarrier.arrive.noComplete completes the phase",
                          at.object->initOp);
    arrive(warp, lane, at, count, !(op.flags & RelaxedFlag), op.flags & DropFlag);
  });
  return Status::Next;
}
Status transactionHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  addresses(warp, op, address);
  forEachLane(mask, [&](unsigned lane) {
    MbarrierAt at = findMbarrier(warp, lane, address[lane], "mbarrier transaction");
    if (!at.object)
      return;
    int64_t bytes = warp.at<uint32_t>(op.b)[lane];
    if (op.flags & ExpectFlag)
      expectTransactions(warp, lane, at, bytes);
    else
      completeTransactions(warp, lane, at, bytes);
  });
  return Status::Next;
}

Status waitHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  addresses(warp, op, address);
  uint32_t result = 0;
  forEachLane(mask, [&](unsigned lane) {
    MbarrierAt at = findMbarrier(warp, lane, address[lane], "mbarrier wait");
    if (!at.object) {
      result |= 1u << lane; // reported; going on finds more than waiting for ever
      return;
    }
    bool done;
    if (op.flags & ParityFlag) {
      uint32_t parity = warp.at<uint32_t>(op.b)[lane];
      if (parity > 1)
        warp.launch->report(warp, lane, FindingKind::MbarrierMisuse,
                            "a phase parity is 0 or 1, not " + std::to_string(parity));
      done = (at.object->phase & 1) != (parity & 1);
    } else {
      uint64_t state = warp.at<uint64_t>(op.b)[lane] >> 20;
      if (state > at.object->phase || state + 1 < at.object->phase)
        warp.launch->report(warp, lane, FindingKind::MbarrierMisuse,
                            "the state waited for is not of this or the phase before", at.object->initOp);
      done = at.object->phase > state;
    }
    if (done && warp.launch->checks && !(op.flags & RelaxedFlag)) {
      acquire(warp, at.object->visible);
      if (!at.object->visibleBlocks.empty())
        acquireBlocks(*warp.block, at.object->visibleBlocks);
    }
    result |= uint32_t(done) << lane;
  });
  uint32_t &d = warp.predicate(op.d);
  d = (d & ~mask) | (result & mask);
  warp.warpSyncs += result != 0;
  return (result & mask) == mask ? Status::Next : Status::Poll;
}
// A state: the phase, and below it the arrivals that were pending before.
struct PendingCount {
  uint32_t operator()(uint64_t state) const { return static_cast<uint32_t>(state & 0xFFFFF); }
};
void decodePendingCount(Decoder &decoder) {
  decoder.take("b64");
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  decoder.op.d = decoder.destination(decoder.operand(0), 4);
  decoder.op.a = decoder.valueOf(decoder.operand(1), ScalarType::B64);
  decoder.emit(unaryHandler<uint32_t, uint64_t, PendingCount>, InstructionClass::Barrier);
}

} // namespace

void decodeMbarrier(Decoder &decoder) {
  Op &op = decoder.op;
  std::string_view what = decoder.nextWord();
  op.kind = InstructionClass::Barrier;
  if (what == "pending_count")
    return decodePendingCount(decoder);
  MemoryOrder order =
      takeOrder(decoder, what == "arrive" || what == "arrive_drop" ? MemoryOrder::Release : MemoryOrder::Acquire);
  op.flags = order == MemoryOrder::Relaxed && what != "expect_tx" && what != "complete_tx" ? uint32_t(RelaxedFlag) : 0;
  takeScope(decoder, Scope::Cta);
  if (decoder.take("expect_tx"))
    op.flags |= ExpectFlag;
  if (decoder.take("noComplete"))
    op.flags |= NoCompleteFlag;
  if (decoder.take("parity"))
    op.flags |= ParityFlag;
  takeOrder(decoder, MemoryOrder::Weak);
  takeScope(decoder, Scope::Cta);
  op.space = decoder.takeSpace(Space::Generic);
  decoder.take("b64");
  decoder.finishModifiers();
  if (what == "init") {
    decoder.expectOperands(2, 2);
    decoder.address(decoder.operand(0), op.space);
    op.b = decoder.valueOf(decoder.operand(1), ScalarType::U32);
    return decoder.emit(initHandler, InstructionClass::Barrier);
  }
  if (what == "inval") {
    decoder.expectOperands(1, 1);
    decoder.address(decoder.operand(0), op.space);
    return decoder.emit(invalHandler, InstructionClass::Barrier);
  }
  if (what == "arrive" || what == "arrive_drop") {
    if (what == "arrive_drop")
      op.flags |= DropFlag;
    size_t next = 0;
    if (decoder.operand(0).kind != OperandKind::Address) {
      if (decoder.operand(0).kind == OperandKind::Register) {
        op.d = decoder.destination(decoder.operand(0), 8);
        op.flags |= StateFlag;
      }
      next = 1;
    }
    decoder.address(decoder.operand(next), op.space);
    if (decoder.operandCount() > next + 1) {
      op.b = decoder.valueOf(decoder.operand(next + 1), ScalarType::U32);
      op.flags |= op.flags & ExpectFlag ? 0u : uint32_t(CountFlag);
    } else if (op.flags & ExpectFlag) {
      decoder.refuse("its transaction count is missing");
    }
    return decoder.emit(arriveHandler, InstructionClass::Barrier);
  }
  if (what == "expect_tx" || what == "complete_tx") {
    decoder.expectOperands(2, 2);
    op.flags = what == "expect_tx" ? uint32_t(ExpectFlag) : 0;
    decoder.address(decoder.operand(0), op.space);
    op.b = decoder.valueOf(decoder.operand(1), ScalarType::U32);
    return decoder.emit(transactionHandler, InstructionClass::Barrier);
  }
  if (what == "test_wait" || what == "try_wait") {
    decoder.expectOperands(3, 4);
    op.d = decoder.destination(decoder.operand(0), 0);
    decoder.address(decoder.operand(1), op.space);
    op.b = decoder.valueOf(decoder.operand(2), op.flags & ParityFlag ? ScalarType::U32 : ScalarType::B64);
    if (decoder.operandCount() == 4)
      decoder.valueOf(decoder.operand(3), ScalarType::U32);
    return decoder.emit(waitHandler, InstructionClass::Barrier);
  }
  decoder.refuse("the simulator does not know mbarrier." + std::string(what));
}

} // namespace nacre::simulator
