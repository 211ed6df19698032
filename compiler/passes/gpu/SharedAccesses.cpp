#include "compiler/passes/gpu/SharedAccesses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

SmallVector<SharedAccess, 2> nacre::simt::sharedAccessesOf(Operation *op) {
  SmallVector<SharedAccess, 2> accesses;
  auto stated = dyn_cast<MemoryEffectOpInterface>(op);
  if (!stated)
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  stated.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    bool isPastThreads = effect.getResource() == AsyncSharedMemory::get();
    if (!isPastThreads && effect.getResource() != SharedMemory::get())
      continue;
    assert(effect.getValue() && "an access of shared memory says which tile it is of");
    accesses.push_back({effect.getValue(), isa<MemoryEffects::Write>(effect.getEffect()), isPastThreads});
  }
  return accesses;
}

AllocateOp nacre::simt::allocationOf(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (auto allocation = dyn_cast<AllocateOp>(op))
      return allocation;
    if (!isa<SlotOp, PermuteOp>(op))
      break;
    tile = op->getOperand(0);
  }
  return {};
}

// Where values handed to the end of a block come out: the arguments and results of the loop or branch around it.
static SmallVector<Value> carriedTo(OpOperand &operand) {
  Operation *owner = operand.getOwner(), *parent = owner->getParentOp();
  unsigned number = operand.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(owner)) {
    unsigned first = loop.getNumControlOperands();
    return number < first
               ? SmallVector<Value>()
               : SmallVector<Value>{loop.getRegionIterArgs()[number - first], loop.getResult(number - first)};
  }
  if (auto loop = dyn_cast<scf::WhileOp>(owner))
    return {loop.getBeforeArguments()[number]};
  if (isa<scf::ConditionOp>(owner) && number > 0)
    return {cast<scf::WhileOp>(parent).getAfterArguments()[number - 1], parent->getResult(number - 1)};
  if (isa<scf::YieldOp>(owner)) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return {loop.getRegionIterArgs()[number], loop.getResult(number)};
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      return {loop.getBeforeArguments()[number]};
    return {parent->getResult(number)};
  }
  return {};
}

SmallVector<Operation *> nacre::simt::usersOf(AllocateOp allocation) {
  llvm::SetVector<Operation *> users;
  SmallVector<Value> open{allocation.getResult()};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      users.insert(op);
      llvm::append_range(open, carriedTo(use));
      if (isa<SlotOp, PermuteOp>(op))
        open.push_back(op->getResult(0));
      if (auto dot = dyn_cast<DotOp>(op); dot && dot.getAsync())
        open.push_back(dot.getResult()); // under way until it is waited for
    }
  }
  return users.takeVector();
}
