// See OperandReuse.h.
#include "compiler/passes/cpu/OperandReuse.h"
#include "compiler/passes/cpu/Plan.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static constexpr size_t mostScalars = 8; // of a key

// Whether memory may be other than the launch found it, by what other programs do or by what is not known here.
static bool touchesSharedState(Operation *op) {
  if (isa<tile::AtomicRmwOp, tile::AtomicCasOp, tile::BarrierOp>(op))
    return true;
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return load.getIsVolatile();
  return isa<tile::InlineAsmOp, tile::ExternalCallOp>(op) && !isMemoryEffectFree(op);
}

OperandReuse::OperandReuse(func::FuncOp kernel) {
  bool stored = false;
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (touchesSharedState(op))
      return WalkResult::interrupt();
    if (isa<tile::DotOp>(op) && !stored)
      beforeStores.insert(op);
    if (isa<tile::StoreOp>(op)) {
      stored = true;
      for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp())
        if (isa<scf::ForOp, scf::WhileOp>(parent))
          storingLoops.insert(parent);
    }
    return WalkResult::advance();
  });
  isAllowed = !result.wasInterrupted();
}

// Whether memory is as the launch found it wherever the dot runs, as far as this program is concerned.
bool OperandReuse::runsBeforeWrites(tile::DotOp dot) const {
  if (!isAllowed || !beforeStores.contains(dot))
    return false;
  for (Operation *parent = dot->getParentOp(); parent; parent = parent->getParentOp())
    if (storingLoops.contains(parent))
      return false;
  return true;
}

// The same for every program of a launch.
bool OperandReuse::isLaunchInvariant(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  auto [known, isNew] = launchInvariant.try_emplace(value, false);
  if (!isNew)
    return known->second;
  Operation *op = value.getDefiningOp();
  bool result =
      isa<arith::ConstantOp, tile::NumProgramsOp>(op) ||
      (isElementwise(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return isLaunchInvariant(operand); }));
  return launchInvariant[value] = result;
}

std::optional<SmallVector<Value>> OperandReuse::key(tile::DotOp dot, Value operand) {
  if (!runsBeforeWrites(dot))
    return std::nullopt;
  llvm::SmallSetVector<Value, 8> scalars;
  SmallVector<Value> pending{operand};
  DenseSet<Value> seen{operand};
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
      return std::nullopt;
    for (Value from : llvm::reverse(op->getOperands()))
      if (seen.insert(from).second)
        pending.push_back(from);
  }
  if (scalars.size() > mostScalars)
    return std::nullopt;
  return SmallVector<Value>(scalars.getArrayRef());
}
