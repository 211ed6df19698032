// Changes of layout, by the plan that ir/layout/Conversion.h makes: renamed registers, shuffles, or shared memory.
#include "compiler/passes/gpu/Exchange.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// Registers at a fixed distance change places in the threads of odd parity.
static void exchange(Lowering &lowering, MutableArrayRef<Value> values, ArrayRef<ShufflePlan::Exchange> exchanges) {
  for (const ShufflePlan::Exchange &step : exchanges) {
    Value odd = oddParity(lowering, step.lanes, step.warps);
    for (uint32_t reg = 0; reg < values.size(); ++reg) {
      uint32_t other = reg ^ step.registers;
      if (other < reg || !values[reg] || !values[other] || values[reg] == values[other])
        continue;
      Value low = LLVM::SelectOp::create(lowering.b, odd, values[other], values[reg]);
      values[other] = LLVM::SelectOp::create(lowering.b, odd, values[reg], values[other]);
      values[reg] = low;
    }
  }
}

static SmallVector<Value> shuffle(Lowering &lowering, const ShufflePlan &plan, ArrayRef<Value> source, Type element) {
  simt::Builder &b = lowering.b;
  SmallVector<Value> sent, received(plan.registers);
  for (uint32_t reg : plan.fromSource)
    sent.push_back(source[reg]);
  exchange(lowering, sent, plan.before);
  bool isFlip = plan.isFlip();
  LinearLayout lanes({plan.laneMap.outputBits()});
  for (uint32_t image : plan.laneMap.images())
    lanes.add(Place::Lane, image);
  for (uint32_t image : plan.warpMap.images())
    lanes.add(Place::Warp, image);
  for (const ShufflePlan::Round &round : plan.rounds) {
    SmallVector<Value> values;
    for (auto [from, to] : round.moves)
      values.push_back(sent[from]);
    if (!isFlip || round.laneFlip) {
      Value asked;
      if (!isFlip) {
        asked = lowering.coordinate(lanes, 0, 0);
        if (round.laneFlip)
          asked = LLVM::XOrOp::create(b, asked, lowering.i32(round.laneFlip));
      }
      values = sendWords(lowering, values, element, [&](Value word) {
        return isFlip ? lowering.machine.shuffleXor(b, word, round.laneFlip)
                      : lowering.machine.shuffleFrom(b, word, asked);
      });
    }
    for (auto [move, value] : llvm::zip_equal(round.moves, values))
      received[move.second] = value;
  }
  exchange(lowering, received, plan.after);
  SmallVector<Value> result;
  for (uint32_t reg : plan.toDestination)
    result.push_back(received[reg]);
  return result;
}

static SmallVector<Value> throughMemory(Lowering &lowering, const MemoryPlan &plan, ArrayRef<Value> source,
                                        Type element, unsigned registers, Value base) {
  auto threadShare = [&](const BitMatrix &lane, const BitMatrix &warp) {
    LinearLayout share({plan.offsetBits});
    for (uint32_t image : lane.images())
      share.add(Place::Lane, image);
    for (uint32_t image : warp.images())
      share.add(Place::Warp, image);
    return share;
  };
  int64_t size = Lowering::byteSize(element);
  SharedAddresses writes(lowering, base, threadShare(plan.writeLane, plan.writeWarp), size);
  SharedAddresses reads(lowering, base, threadShare(plan.readLane, plan.readWarp), size);
  Value isWriter = bitsAreZero(lowering, plan.laneCopies, plan.warpCopies);
  // Of the threads of each part.
  std::map<uint32_t, Value> writers;
  auto writersOf = [&](uint32_t part) {
    if (!plan.partBits)
      return isWriter;
    Value &writer = writers[part];
    if (!writer) {
      LinearLayout parts({plan.partBits});
      for (uint32_t image : plan.partLane.images())
        parts.add(Place::Lane, image);
      for (uint32_t image : plan.partWarp.images())
        parts.add(Place::Warp, image);
      Value own = lowering.coordinate(parts, 0, 0);
      writer =
          lowering.both(isWriter, LLVM::ICmpOp::create(lowering.b, LLVM::ICmpPredicate::eq, own, lowering.i32(part)));
    }
    return writer;
  };
  auto barrier = [&] {
    if (plan.withinWarp)
      lowering.machine.warpBarrier(lowering.b);
    else
      lowering.barrier();
  };
  SmallVector<Value> result(registers);
  for (auto [number, round] : llvm::enumerate(plan.rounds)) {
    if (number && !planted(PlantedBug::ConvertRounds))
      barrier();
    for (const MemoryPlan::Access &access : round.writes) {
      SmallVector<Value> values;
      for (uint32_t reg : access.registers)
        values.push_back(source[reg]);
      writeShared(lowering, values, element, writes.at(access.offset), writersOf(access.part));
    }
    barrier();
    for (const MemoryPlan::Access &access : round.reads)
      for (auto [reg, value] : llvm::zip_equal(
               access.registers, readShared(lowering, element, access.registers.size(), reads.at(access.offset))))
        result[reg] = value;
  }
  for (auto [copy, of] : plan.copies)
    result[copy] = result[of];
  return result;
}

ClusterConversion nacre::simt::planFor(Type element, const LinearLayout &from, const LinearLayout &to) {
  unsigned elementBits = llvm::Log2_64(Lowering::byteSize(element)), warpBits = from.bits(Place::Warp);
  if (from.basesOf(Place::Block) == to.basesOf(Place::Block)) {
    std::optional<LinearLayout> source = from.ofOneBlock(), destination = to.ofOneBlock();
    if (source && destination)
      return {planConversion(*source, *destination, elementBits)};
  }
  ClusterConversion plan{planConversion(from.withBlocksAsWarps(), to.withBlocksAsWarps(), elementBits)};
  if (plan.kind != Conversion::Kind::Memory || plan.memory.withinWarp)
    return plan;
  // Where all blocks have all of the tile, each goes through its own memory, and writes all that it reads.
  plan.reachesAcrossBlocks = from.isSplitOverBlocks();
  if (!plan.reachesAcrossBlocks)
    plan.memory.warpCopies &= (uint32_t(1) << warpBits) - 1;
  return plan;
}

SmallVector<Value> nacre::simt::convertRegisters(Lowering &lowering, const Conversion &plan, ArrayRef<Value> source,
                                                 Type element, unsigned registers, llvm::function_ref<Value()> base) {
  switch (plan.kind) {
  case Conversion::Kind::Registers: {
    SmallVector<Value> result;
    for (uint32_t reg : plan.registers)
      result.push_back(source[reg]);
    return result;
  }
  case Conversion::Kind::Shuffles:
    return shuffle(lowering, plan.shuffles, source, element);
  case Conversion::Kind::Memory:
    return throughMemory(lowering, plan.memory, source, element, registers, base());
  }
  llvm_unreachable("a way of conversion");
}

LogicalResult Lowering::lowerConvert(ConvertOp op) {
  Type element = getElementTypeOrSelf(op.getType());
  ClusterConversion plan = planFor(element, layoutOf(op.getSource()), layoutOf(op.getResult()));
  define(op, convertRegisters(*this, plan, registers(op.getSource()), element, registerCount(op.getType()), [&] {
           barrierBefore(op);
           return scratch(op);
         }));
  return success();
}
