// Reductions: within each thread as a balanced tree, over lanes by exchanges at fixed distances, over warps through
// shared memory, where every thread reads the parts of its rows. See ir/layout/Reduction.h.
//
// An axis that is no power of two has elements beyond its end in the layout: they are missing, and a combination with
// one of them is the other.
#include "compiler/ir/layout/Reduction.h"
#include "compiler/passes/gpu/Clusters.h"
#include "compiler/passes/gpu/Exchange.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

using Partial = Combiner::Partial;

// The types that go through scratch memory: the operands', and i1 where some elements are missing.
static SmallVector<Type> exchangedTypes(tile::ReduceOp op) {
  SmallVector<Type> elements = Combiner::elementTypes(op);
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  if (type.getShape()[op.getAxis()] != layoutOf(type).extent(op.getAxis()))
    elements.push_back(IntegerType::get(op.getContext(), 1));
  return elements;
}

static ReductionPlan reductionPlan(tile::ReduceOp op) {
  int64_t bytes = 0;
  for (Type element : exchangedTypes(op))
    bytes += Lowering::byteSize(element);
  return planReduction(planningLayout(layoutOf(op.getOperands().front()), op.getAxis()), op.getAxis(),
                       llvm::bit_floor<uint64_t>(mostScratchBytes / bytes));
}

int64_t nacre::simt::reduceScratch(tile::ReduceOp op) {
  ReductionPlan plan = reductionPlan(op);
  return plan.partBits ? arrayStarts(exchangedTypes(op), plan.offsetCount()).back() : 0;
}

// One operation that gives the same for either order of its operands.
static bool isCommutative(Region &region) {
  Block &block = region.front();
  return llvm::hasSingleElement(block.without_terminator()) && block.front().hasTrait<OpTrait::IsCommutative>();
}

namespace {

class Reduction {
public:
  Reduction(Lowering &lowering, tile::ReduceOp op)
      : lowering(lowering), b(lowering.b), op(op), type(cast<RankedTensorType>(op.getOperands().front().getType())),
        layout(layoutOf(type)), plan(reductionPlan(op)), combiner(lowering, op.getCombine()),
        elements(exchangedTypes(op)) {}

  LogicalResult run() {
    SmallVector<Partial> values;
    for (ArrayRef<uint32_t> group : plan.groups)
      values.push_back(ofThread(group));
    for (const ReductionPlan::LaneStep &step : plan.laneSteps)
      acrossLanes(step, values);
    for (auto [number, round] : llvm::enumerate(plan.rounds)) {
      number ? lowering.barrier() : lowering.barrierBefore(op);
      acrossWarps(values, round);
    }
    for (auto [number, result] : llvm::enumerate(op.getResults())) {
      SmallVector<Value> registers;
      for (const Partial &value : values)
        registers.push_back(value.values[number]);
      lowering.define(result, registers);
    }
    return combiner.status();
  }

private:
  Partial ofThread(ArrayRef<uint32_t> group) {
    SmallVector<Partial> partials;
    unsigned axis = op.getAxis();
    for (uint32_t reg : group) {
      Partial &partial = partials.emplace_back();
      for (Value operand : op.getOperands())
        partial.values.push_back(lowering.registers(operand)[reg]);
      if (type.getShape()[axis] != layout.extent(axis) && !planted(PlantedBug::ReducePad))
        partial.exists = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, lowering.coordinate(layout, reg, axis),
                                              lowering.i32(type.getShape()[axis]));
    }
    return combiner.combineAll(std::move(partials));
  }

  // The components of a partial: its values and, behind them, whether it exists.
  SmallVector<Value> components(const Partial &partial) {
    SmallVector<Value> result = partial.values;
    if (elements.size() > result.size())
      result.push_back(partial.exists ? partial.exists : lowering.constant(b.getI1Type(), 1));
    return result;
  }
  Partial fromComponents(SmallVector<Value> components) {
    Partial result;
    if (components.size() > op.getNumOperands())
      result.exists = components.pop_back_val();
    result.values = std::move(components);
    return result;
  }

  void acrossLanes(const ReductionPlan::LaneStep &step, SmallVector<Partial> &values) {
    uint32_t moved = step.registers;
    if (values.size() % 2 == 0 && planted(PlantedBug::ReducePartner))
      moved ^= 1;
    SmallVector<SmallVector<Value>> received(values.size());
    for (auto [number, element] : llvm::enumerate(elements)) {
      SmallVector<Value> sent;
      for (uint32_t reg = 0; reg < values.size(); ++reg)
        sent.push_back(components(values[reg ^ moved])[number]);
      SmallVector<Value> got = sendWords(lowering, sent, element,
                                         [&](Value word) { return lowering.machine.shuffleXor(b, word, step.lanes); });
      for (auto [place, value] : llvm::zip_equal(received, got))
        place.push_back(value);
    }
    if (isCommutative(op.getCombine())) {
      for (auto [value, other] : llvm::zip_equal(values, received))
        value = combiner.combine(value, fromComponents(other));
      return;
    }
    // Left is what comes first along the axis: the two differ in the highest bit of the way between them.
    unsigned axis = op.getAxis();
    uint32_t way = layout.coordinate(layout.apply(Position{.reg = step.registers, .lane = step.lanes}), axis);
    for (auto [reg, value] : llvm::enumerate(values)) {
      Value bit = LLVM::AndOp::create(b, lowering.coordinate(layout, plan.groups[reg].front(), axis),
                                      lowering.i32(llvm::bit_floor(way)));
      Value isLeft = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, bit, lowering.i32(0));
      Partial other = fromComponents(received[reg]);
      value = combiner.combine(combiner.select(isLeft, value, other), combiner.select(isLeft, other, value));
    }
  }

  void acrossWarps(SmallVector<Partial> &values, ArrayRef<uint32_t> round) {
    SmallVector<int64_t> starts = arrayStarts(elements, plan.offsetCount());
    Value base = lowering.scratch(op);
    Value isWriter = bitsAreZero(lowering, plan.laneCopies, plan.warpCopies);
    SmallVector<SharedAddresses> reads;
    for (auto [number, element] : llvm::enumerate(elements)) {
      Value start = starts[number] ? lowering.byteOffset(base, lowering.i32(starts[number])) : base;
      SharedAddresses writes(lowering, start, plan.write, Lowering::byteSize(element));
      reads.emplace_back(lowering, start, plan.read, Lowering::byteSize(element));
      for (uint32_t reg : round)
        writeShared(lowering, components(values[reg])[number], element,
                    writes.at(plan.write.apply(Position{.reg = reg})), isWriter);
    }
    if (!planted(PlantedBug::ReduceBarrier))
      lowering.barrier();
    for (uint32_t reg : round) {
      uint32_t row = plan.read.apply(Position{.reg = reg});
      SmallVector<SmallVector<Value>> parts(plan.partCount());
      for (auto [number, element] : llvm::enumerate(elements)) {
        // Parts of a single row are neighbours.
        unsigned together = plan.rowBits ? 1 : std::min<unsigned>(plan.partCount(), 16 / Lowering::byteSize(element));
        for (uint32_t part = 0; part < plan.partCount(); part += together)
          for (auto [i, value] :
               llvm::enumerate(readShared(lowering, element, together, reads[number].at(row | part << plan.rowBits))))
            parts[part + i].push_back(value);
      }
      SmallVector<Partial> partials;
      for (SmallVector<Value> &part : parts)
        partials.push_back(fromComponents(std::move(part)));
      values[reg] = combiner.combineAll(std::move(partials));
    }
  }

  Lowering &lowering;
  simt::Builder &b;
  tile::ReduceOp op;
  RankedTensorType type;
  const LinearLayout &layout;
  ReductionPlan plan;
  Combiner combiner;
  SmallVector<Type> elements;
};

} // namespace

LogicalResult Lowering::lowerReduce(tile::ReduceOp op) { return Reduction(*this, op).run(); }
