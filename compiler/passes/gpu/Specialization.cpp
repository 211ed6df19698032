// See Specialization.h.
#include "compiler/passes/gpu/Specialization.h"
#include "compiler/ir/simt/Boxes.h"
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/passes/gpu/Scratch.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

const LoopPlan *Specialization::planOf(Operation *loop) const {
  for (const LoopPlan &plan : plans)
    if (plan.loop == loop)
      return &plan;
  return nullptr;
}

bool Specialization::concerns(Operation *op) const {
  return llvm::any_of(plans, [&](const LoopPlan &plan) { return op->isAncestor(plan.loop); });
}

static bool isScalar(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType, SharedType>(type); };
  return llvm::none_of(op->getOperandTypes(), isTile) && llvm::none_of(op->getResultTypes(), isTile);
}

// Whether the producer can have the value, which is made outside of the plans' loops; notes what it needs for that.
bool Specialization::need(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(owner);
    if (!loop || argument == loop.getInductionVar()) // the bounds are needed for the loop itself
      return loop || isa<func::FuncOp>(owner);
    if (!carried.insert(value))
      return true;
    OpOperand *initial = loop.getTiedLoopInit(argument), *next = loop.getTiedLoopYieldedValue(argument);
    return !isa<RankedTensorType>(value.getType()) && need(initial->get()) && need(next->get());
  }
  Operation *op = value.getDefiningOp();
  if (operations.contains(op))
    return true;
  auto needed = [&](Value operand) { return need(operand); };
  if (op->getNumRegions() || !isMemoryEffectFree(op) || !isScalar(op) || !llvm::all_of(op->getOperands(), needed))
    return false;
  operations.insert(op);
  return true;
}

bool Specialization::needAll(const LoopPlan &plan) {
  scf::ForOp loop = plan.loop;
  auto needOutside = [&](Value value) {
    return loop->isAncestor(value.getParentBlock()->getParentOp()) || need(value);
  };
  bool all = need(loop.getLowerBound()) && need(loop.getUpperBound()) && need(loop.getStep());
  for (unsigned index : plan.carried)
    all = all && need(loop.getInitArgs()[index]);
  for (Operation *op : plan.slice)
    all = all && isScalar(op) && llvm::all_of(op->getOperands(), needOutside);
  for (const Stage &stage : plan.stages)
    all = all && llvm::all_of(cast<LoadBoxOp>(stage.load).getCoordinates(), needOutside);
  for (Operation *around = loop->getParentOp(); !isa<func::FuncOp>(around); around = around->getParentOp()) {
    if (auto outer = dyn_cast<scf::ForOp>(around))
      all = all && need(outer.getLowerBound()) && need(outer.getUpperBound()) && need(outer.getStep());
    else if (auto branch = dyn_cast<scf::IfOp>(around))
      all = all && need(branch.getCondition());
    else
      return false;
  }
  return all;
}

// Whether memory may be different when the loop begins than when the kernel does, or differ from run to run of it.
static bool comesAfterWrites(scf::ForOp loop) {
  auto writes = [](Operation *op) {
    return isa<tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp, tile::BarrierOp, StoreBoxOp, scf::WhileOp>(op) ||
           (isa<tile::InlineAsmOp, tile::ExternalCallOp>(op) && !isMemoryEffectFree(op)) ||
           (isa<tile::LoadOp>(op) && cast<tile::LoadOp>(op).getIsVolatile());
  };
  bool found = false;
  for (Operation *op = loop; !isa<func::FuncOp>(op); op = op->getParentOp()) {
    bool isRepeated = op != loop && isa<LoopLikeOpInterface>(op);
    for (Operation &other : *op->getBlock())
      if (other.isBeforeInBlock(op) || (isRepeated && &other == op))
        other.walk([&](Operation *inner) { found |= writes(inner); });
  }
  return found;
}

bool nacre::simt::mayShareRings(const LoopPlan &first, const LoopPlan &second) {
  return first.stages.size() == second.stages.size() &&
         llvm::all_of(llvm::zip_equal(first.stages, second.stages), [](const auto &pair) {
           return std::get<0>(pair).tile == std::get<1>(pair).tile;
         });
}

// The rings are in use from the kernel's start on: beside all that comes before the last loop's end, or is in a loop
// around one.
bool Specialization::fits(func::FuncOp kernel, int64_t sharedBytes) {
  int64_t beside = 0, scratch = 0, stageBytes = 0, barriers = 0;
  Operation *last = plans.back().loop;
  while (!isa<func::FuncOp>(last->getParentOp()))
    last = last->getParentOp();
  llvm::DenseSet<Value> replaced;
  llvm::DenseSet<Operation *> loads;
  for (auto [number, plan] : llvm::enumerate(plans)) {
    bool sharesRings = llvm::any_of(ArrayRef(plans).take_front(number),
                                    [&](const LoopPlan &other) { return mayShareRings(other, plan); });
    for (const Stage &stage : plan.stages) {
      loads.insert(stage.load);
      if (WriteOp write = onlyWrite(stage.load); write && write.getTarget().getType() == stage.tile)
        replaced.insert(write.getTarget());
      if (!sharesRings) {
        stageBytes += stage.tile.stageBytes();
        barriers += 2 * 8;
      }
    }
  }
  auto aligned = [](SharedType tile) -> int64_t { return llvm::alignTo(tile.totalBytes(), SharedType::mostAlignment); };
  kernel.walk([&](Operation *op) {
    Operation *top = kernel.front().findAncestorOpInBlock(*op);
    if (!top || last->isBeforeInBlock(top))
      return;
    if (auto allocation = dyn_cast<AllocateOp>(op); allocation && !replaced.contains(allocation))
      beside += aligned(allocation.getType());
    if (auto load = dyn_cast<LoadBoxOp>(op); load && !loads.contains(op))
      beside += aligned(boxTile(load.getMap()));
    if (auto store = dyn_cast<StoreBoxOp>(op))
      beside += aligned(boxTile(store.getMap()));
    scratch = std::max(scratch, scratchOf(op).bytes);
  });
  beside += (scratch == 0 ? 0 : std::max(scratch, scratchBesideOne)) + SharedType::mostAlignment;
  int64_t slots = INT64_MAX;
  for (const LoopPlan &plan : plans)
    slots = std::min(slots, plan.slots);
  slots = std::min(slots, (sharedBytes - beside) / (stageBytes + barriers));
  for (LoopPlan &plan : plans)
    plan.slots = slots;
  sharedInUse = beside + slots * (stageBytes + barriers);
  return slots >= 2;
}

// A loop has two products one after the other, and the pipelined kernel would have a multiprocessor for each block, so
// that nothing else hides what one of them waits for; and the warps have the registers for two products at once.
bool Specialization::isWorthWhile(int64_t warps, int64_t sharedBytes) const {
  constexpr int64_t registersOfMultiprocessor = 65536, lanes = 32, besideTiles = 32, mostOfThread = 240;
  int64_t ofTiles = 0;
  bool hasTwo = false;
  for (const LoopPlan &plan : plans) {
    if (!plan.lateDots || plan.lateDots->dots.size() != 2 || plan.lateDots->late.size() != 1)
      continue;
    hasTwo = true;
    int64_t bits = 0;
    for (DotOp dot : plan.lateDots->dots)
      for (Value value : {Value(dot.getA()), Value(dot.getResult())})
        if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
          bits += tile.getNumElements() * tile.getElementTypeBitWidth();
    ofTiles = std::max(ofTiles, bits / (32 * lanes * warps));
  }
  int64_t ofThread = ofTiles + besideTiles;
  bool isAlone = 2 * ofThread * lanes * warps > registersOfMultiprocessor || 2 * sharedInUse > sharedBytes;
  return hasTwo && isAlone && ofThread <= mostOfThread;
}

Specialization Specialization::make(func::FuncOp kernel, const SoftwarePipelineOptions &options, bool hasProducers) {
  Specialization made;
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (std::optional<LoopPlan> plan = LoopPlan::make(loop, options))
      made.plans.push_back(std::move(*plan));
  });
  constexpr int64_t warpsOfGroup = 4;
  auto refuse = [&](const char *why) {
    made.refusal = why;
    return made;
  };
  if (made.plans.empty())
    return refuse("it has no loads that could be made ahead");
  if (!hasProducers)
    return refuse("the machine has no producers");
  int64_t warps = BlockShape::of(kernel->getParentOfType<ModuleOp>()).warps;
  if (warps % warpsOfGroup != 0)
    return refuse("num_warps is no multiple of 4");
  if (hasChecks(kernel) || hasMarks(kernel))
    return refuse("the kernel has checks or marks");
  for (const LoopPlan &plan : made.plans) {
    if (plan.hasWords)
      return refuse("a load is no box");
    if (!plan.operandsAhead.empty() || !plan.operandsInParts.empty())
      return refuse("a product takes an operand from registers");
    if (comesAfterWrites(plan.loop))
      return refuse("memory may be written before the loop");
    if (!made.needAll(plan))
      return refuse("bounds or coordinates are made of what the warps compute");
  }
  if (!made.fits(kernel, options.sharedBytes))
    return refuse("shared memory has no room");
  made.pays = made.isWorthWhile(warps, options.sharedBytes);
  return made;
}
