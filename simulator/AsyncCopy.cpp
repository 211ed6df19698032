// cp.async with groups and mbarriers; st.async and red.async.
//
// The bytes move when the instruction is executed; who may look at them when is what the clocks say.
#include "simulator/AsyncCopy.h"

namespace nacre::simulator {
namespace {

struct CopyPlan {
  AddressOperand destination, source;
  uint32_t bytes = 16;
  bool hasSize = false, hasIgnore = false, ignoreNegated = false;
  Slot size, ignore;
};

Status copyHandler(Warp &warp, const Op &op, uint32_t mask) {
  const auto &plan = *static_cast<const CopyPlan *>(op.plan);
  uint32_t ignored = 0;
  if (plan.hasIgnore) {
    ignored = warp.predicate(plan.ignore);
    if (plan.ignoreNegated)
      ignored = ~ignored;
  }
  uint64_t addresses[laneCount] = {};
  std::byte *hosts[laneCount];
  Access access;
  access.space = Space::Global;
  access.bytes = access.alignment = plan.bytes;
  uint32_t sizes[laneCount], reading = 0, partial = 0;
  forEachLane(mask, [&](unsigned lane) {
    sizes[lane] = plan.hasSize ? std::min(warp.at<uint32_t>(plan.size)[lane], plan.bytes) : plan.bytes;
    if (ignored >> lane & 1)
      sizes[lane] = 0;
    addresses[lane] = plan.source.of(warp, lane);
    reading |= uint32_t(sizes[lane] == plan.bytes) << lane;
    partial |= uint32_t(sizes[lane] != 0 && sizes[lane] < plan.bytes) << lane;
  });
  uint32_t good = reading ? resolve(warp, op, reading, addresses, hosts, access) : 0;
  uint64_t targets[laneCount];
  warp.copyOpen = true;
  forEachLane(mask, [&](unsigned lane) {
    uint64_t to = plan.destination.of(warp, lane);
    targets[lane] = to;
    if (to % plan.bytes) {
      warp.launch->report(warp, lane, FindingKind::Misaligned,
                          "cp.async to a shared address that is not a multiple of " + std::to_string(plan.bytes));
      return;
    }
    SharedRange range = sharedRange(warp, lane, to, plan.bytes, "cp.async");
    if (!range.block)
      return;
    if (warp.launch->checks)
      trackShared(warp, *range.block, range.offset, plan.bytes,
                  {true, false, false, warp.agent + CopyStream, warp.copyGroups + 1, lane});
    std::memset(range.data, 0, plan.bytes);
    if (good >> lane & 1)
      std::memcpy(range.data, hosts[lane], plan.bytes);
    else if (partial >> lane & 1) {
      std::byte *from = globalRange(warp, lane, addresses[lane], sizes[lane], false, "cp.async", GenericStream);
      if (from)
        std::memcpy(range.data, from, sizes[lane]);
    }
  });
  countShared(warp, targets, mask, plan.bytes, /*loads=*/false);
  progressed(warp);
  return Status::Next;
}

Status commitHandler(Warp &warp, const Op &, uint32_t) {
  ++warp.copyGroups;
  warp.copyOpen = false;
  return Status::Next;
}
Status waitHandler(Warp &warp, const Op &op, uint32_t) {
  if (op.flags && warp.copyOpen) { // wait_all: what is not committed too
    ++warp.copyGroups;
    warp.copyOpen = false;
  }
  auto pending = static_cast<uint32_t>(op.offset);
  if (warp.launch->checks && warp.copyGroups > pending)
    raiseClock(warp.clocks.seen, warp.agent + CopyStream, warp.copyGroups - pending);
  return Status::Next;
}
// The mbarrier's arrival happens when the thread's copies have: they are ordered before its phase.
Status copyArriveHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  addressesOf(warp, op.a, op.offset, op.lanes32, address);
  forEachLane(mask, [&](unsigned lane) {
    MbarrierAt at = findMbarrier(warp, lane, address[lane], "cp.async.mbarrier.arrive");
    if (!at.object)
      return;
    if (warp.launch->checks)
      raiseClock(at.object->released.seen, warp.agent + CopyStream, warp.copyGroups + 1);
    if (op.flags) // .noinc: the arrival is among those expected
      arrive(warp, lane, at, 1, false, false);
    // otherwise it raises the pending count by one first, so that nothing changes
  });
  // Copies from here on are of a new group, so that they are not taken for these.
  ++warp.copyGroups;
  return Status::Next;
}

void decodeCopy(Decoder &decoder) {
  bool reduces = decoder.take("reduce");
  if (!decoder.take("async"))
    decoder.refuse("the simulator does not know it");
  if (decoder.take("bulk"))
    return decodeBulk(decoder, reduces);
  Op &op = decoder.op;
  if (decoder.take("commit_group")) {
    decoder.finishModifiers();
    return decoder.emit(commitHandler, InstructionClass::AsyncCopy);
  }
  if (decoder.take("wait_all")) {
    decoder.finishModifiers();
    op.flags = 1;
    return decoder.emit(waitHandler, InstructionClass::AsyncCopy);
  }
  if (decoder.take("wait_group")) {
    decoder.finishModifiers();
    decoder.expectOperands(1, 1);
    op.offset = static_cast<int64_t>(decoder.immediate(decoder.operand(0)));
    return decoder.emit(waitHandler, InstructionClass::AsyncCopy);
  }
  if (decoder.take("mbarrier")) {
    if (!decoder.take("arrive"))
      decoder.refuse("it is cp.async.mbarrier.arrive");
    op.flags = decoder.take("noinc");
    Space space = decoder.takeSpace(Space::Generic);
    decoder.take("b64");
    decoder.finishModifiers();
    decoder.expectOperands(1, 1);
    decoder.address(decoder.operand(0), space);
    return decoder.emit(copyArriveHandler, InstructionClass::AsyncCopy);
  }
  bool all = decoder.take("ca");
  if (!all && !decoder.take("cg"))
    decoder.refuse("it is .ca or .cg");
  if (!decoder.take("shared") && !decoder.take("shared::cta"))
    decoder.refuse("it copies to shared memory");
  if (!decoder.take("global"))
    decoder.refuse("it copies from global memory");
  bool policy = takeCacheModifiers(decoder);
  decoder.finishModifiers();
  size_t count = decoder.operandCount() - (policy ? 1 : 0);
  if (count < 3 || count > 4)
    decoder.refuse("it has a wrong number of operands");
  auto *plan = decoder.plan<CopyPlan>();
  plan->destination = addressOperand(decoder, decoder.operand(0), Space::Shared);
  plan->source = addressOperand(decoder, decoder.operand(1), Space::Global);
  uint64_t bytes = decoder.immediate(decoder.operand(2));
  if (bytes != 16 && (!all || (bytes != 4 && bytes != 8)))
    decoder.refuse("it copies 16 bytes, or with .ca 4 or 8");
  plan->bytes = static_cast<uint32_t>(bytes);
  if (count == 4) {
    const Operand &last = decoder.operand(3);
    if (decoder.registerType(last) == ScalarType::Predicate) {
      plan->hasIgnore = true;
      plan->ignoreNegated = last.negated;
      plan->ignore = decoder.predicate(last);
    } else {
      plan->hasSize = true;
      plan->size = decoder.valueOf(last, ScalarType::U32);
    }
  }
  op.plan = plan;
  decoder.emit(copyHandler, InstructionClass::AsyncCopy);
}

// --- st.async and red.async: a store to another block's shared memory that completes transactions ---
struct RemotePlan {
  AddressOperand destination, mbarrier;
  bool reduces = false;
  AtomicOperation operation = AtomicOperation::Add;
};
Status remoteHandler(Warp &warp, const Op &op, uint32_t mask) {
  const auto &plan = *static_cast<const RemotePlan *>(op.plan);
  const Part *parts = warp.program->parts.data() + op.first;
  forEachLane(mask, [&](unsigned lane) {
    uint32_t bytes = op.bytes * op.count;
    uint64_t to = plan.destination.of(warp, lane);
    SharedRange range = sharedRange(warp, lane, to, bytes, "st.async");
    if (!range.block)
      return;
    if (to % bytes)
      warp.launch->report(warp, lane, FindingKind::Misaligned,
                          "st.async to an address that is not a multiple of " + std::to_string(bytes));
    MbarrierAt at = findMbarrier(warp, lane, plan.mbarrier.of(warp, lane), "st.async", MbarrierUser::Store);
    if (!at.object)
      return;
    CopyTarget target{range.block, range.offset, at};
    trackCopyWrite(warp, lane, target, range.offset, bytes);
    for (uint32_t k = 0; k < op.count; ++k) {
      uint64_t value = 0, old = 0;
      std::memcpy(&value, warp.at<std::byte>(parts[k].slot) + lane * parts[k].bytes, op.bytes);
      if (plan.reduces) {
        std::memcpy(&old, range.data + k * op.bytes, op.bytes);
        value = atomicResult(plan.operation, op.type, old, value, 0, false);
      }
      std::memcpy(range.data + k * op.bytes, &value, op.bytes);
    }
    completeTransactions(warp, lane, at, bytes);
  });
  return Status::Next;
}
void decodeRemote(Decoder &decoder, bool reduces) {
  Op &op = decoder.op;
  auto *plan = decoder.plan<RemotePlan>();
  plan->reduces = reduces;
  takeOrder(decoder, MemoryOrder::Weak);
  takeScope(decoder, Scope::Cluster);
  if (!decoder.take("shared::cluster"))
    decoder.refuse("it is for shared::cluster");
  if (!decoder.take("mbarrier::complete_tx::bytes"))
    decoder.refuse("it needs .mbarrier::complete_tx::bytes");
  if (reduces) {
    auto operation = takeAtomicOperation(decoder);
    if (!operation)
      decoder.refuse("its operation is missing");
    plan->operation = *operation;
  }
  unsigned count = takeVector(decoder);
  op.type = decoder.takeType();
  op.bytes = static_cast<uint8_t>(bytesOf(op.type));
  decoder.finishModifiers();
  decoder.expectOperands(3, 3);
  plan->destination = addressOperand(decoder, decoder.operand(0), Space::Shared);
  decoder.addParts(decoder.operand(1), false);
  if (op.count != count)
    decoder.refuse("its vector has a wrong number of elements");
  plan->mbarrier = addressOperand(decoder, decoder.operand(2), Space::Shared);
  op.plan = plan;
  decoder.emit(remoteHandler, InstructionClass::AsyncCopy);
}

} // namespace

void decodeStoreAsync(Decoder &decoder) { decodeRemote(decoder, false); }
void decodeReduceAsync(Decoder &decoder) { decodeRemote(decoder, true); }

const std::vector<DecoderEntry> copyDecoders = {{"cp", decodeCopy}};

} // namespace nacre::simulator
