// See PackCache.h.
#include "compiler/passes/cpu/PackCache.h"
#include "compiler/passes/cpu/KernelABI.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static constexpr int64_t budgetBytes = 2 << 20; // of one operand, on each thread
static constexpr int64_t mostSlots = 128;

// The scalars that a tile is computed from, by itself or through memory, as far as they differ between the programs of
// a launch.
class ScalarsOf {
public:
  // False when the tile is made of something else too.
  bool collect(Value tile) {
    SmallVector<Value> pending{tile};
    DenseSet<Value> seen{tile};
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (!isTile(value)) {
        if (!isLaunchInvariant(value))
          scalars.insert(value);
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (!op || !(isElementwise(op) || isa<arith::ConstantOp, tile::SplatOp, tile::ArangeOp, tile::ExpandDimsOp,
                                            tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp, tile::LoadOp>(op)))
        return false;
      for (Value operand : llvm::reverse(op->getOperands()))
        if (seen.insert(operand).second)
          pending.push_back(operand);
    }
    return true;
  }

  llvm::SmallSetVector<Value, 8> scalars;

private:
  // The same for every program of a launch.
  bool isLaunchInvariant(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isa<func::FuncOp>(argument.getOwner()->getParentOp());
    auto [known, isNew] = invariant.try_emplace(value, false);
    if (!isNew)
      return known->second;
    Operation *op = value.getDefiningOp();
    bool result = isa<arith::ConstantOp, tile::NumProgramsOp>(op) ||
                  (isElementwise(op) &&
                   llvm::all_of(op->getOperands(), [&](Value operand) { return isLaunchInvariant(operand); }));
    return invariant[value] = result;
  }

  DenseMap<Value, bool> invariant;
};

// Whether memory is as the launch found it wherever the dot runs, as far as this program is concerned.
static bool runsBeforeWrites(tile::DotOp dot) {
  auto kernel = dot->getParentOfType<func::FuncOp>();
  bool seen = false;
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    seen |= op == dot.getOperation();
    if (isa<tile::AtomicRmwOp, tile::AtomicCasOp, tile::BarrierOp>(op))
      return WalkResult::interrupt();
    if (auto load = dyn_cast<tile::LoadOp>(op); load && load.getIsVolatile())
      return WalkResult::interrupt();
    if (isa<tile::InlineAsmOp, tile::ExternalCallOp>(op) && !isMemoryEffectFree(op))
      return WalkResult::interrupt();
    if (isa<tile::StoreOp>(op)) {
      if (!seen)
        return WalkResult::interrupt();
      for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp())
        if (isa<scf::ForOp, scf::WhileOp>(parent) && parent->isAncestor(dot))
          return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return !result.wasInterrupted();
}

std::optional<PackCache> PackCache::find(Lowering &lowering, tile::DotOp dot, Value operand) {
  ScalarsOf tile;
  if (!tile.collect(operand) || tile.scalars.size() > 8 || !runsBeforeWrites(dot))
    return std::nullopt;
  return PackCache(lowering, dot, SmallVector<Value>(tile.scalars.getArrayRef()));
}

// The number of the iteration of the innermost loop around the dot, modulo the slots.
Value PackCache::slotNumber(int64_t slots) {
  Emit &b = lowering.b;
  auto loop = dot->getParentOfType<scf::ForOp>();
  if (!loop || slots == 1)
    return b.index(0);
  Value first = b.toI64(lowering.scalar(loop.getLowerBound())), step = b.toI64(lowering.scalar(loop.getStep()));
  Value iteration = b.sub(b.toI64(lowering.scalar(loop.getInductionVar())), first);
  if (!Emit::isKnown(step, 1))
    iteration = arith::DivUIOp::create(b, iteration, step);
  return arith::AndIOp::create(b, iteration, b.index(slots - 1));
}

Value PackCache::emit(Value temporary, int64_t bytes, llvm::function_ref<void(Value target)> pack) {
  Emit &b = lowering.b;
  Type i64 = b.getI64Type();
  // A slot: launch, state (1: holds the operand), the key; then the operand.
  int64_t header = (8 * (2 + static_cast<int64_t>(key.size())) + 63) / 64 * 64;
  int64_t slotBytes = header + (bytes + 63) / 64 * 64;
  int64_t slots =
      std::clamp<int64_t>(int64_t(1) << llvm::Log2_64(std::max<int64_t>(1, budgetBytes / slotBytes)), 1, mostSlots);
  Value region = lowering.allocateKept(slots * slotBytes);
  Value slot = b.offsetBytes(region, b.mul(slotNumber(slots), b.index(slotBytes)));
  auto field = [&](int64_t index) { return b.offsetBytes(slot, b.index(8 * index)); };

  SmallVector<Value> asked;
  asked.push_back(b.load(i64, b.offsetBytes(lowering.context, b.index(offsetof(KernelContext, launchId))), 8));
  for (Value value : key) {
    Value bits = lowering.scalar(value);
    if (isa<LLVM::LLVMPointerType>(bits.getType()))
      bits = LLVM::PtrToIntOp::create(b, i64, bits);
    else if (auto floating = dyn_cast<FloatType>(bits.getType()))
      bits = arith::BitcastOp::create(b, b.getIntegerType(floating.getWidth()), bits);
    asked.push_back(b.toI64(bits));
  }
  Value same;
  for (auto [i, value] : llvm::enumerate(asked)) {
    Value equal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, b.load(i64, field(i == 0 ? 0 : i + 1), 8), value);
    same = same ? Value(arith::AndIOp::create(b, same, equal)) : equal;
  }
  Value held = arith::AndIOp::create(
      b, same, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, b.load(i64, field(1), 8), b.index(1)));
  Value target = b.select(same, b.offsetBytes(slot, b.index(header)), temporary);
  Value missing = arith::XOrIOp::create(b, held, b.constant(b.getI1Type(), 1));
  auto branch = scf::IfOp::create(b, TypeRange{}, missing, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  pack(target);
  for (auto [i, value] : llvm::enumerate(asked))
    b.store(value, field(i == 0 ? 0 : i + 1), 8);
  b.store(arith::ExtUIOp::create(b, i64, same), field(1), 8);
  return target;
}
