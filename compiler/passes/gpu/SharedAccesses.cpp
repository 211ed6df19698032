#include "compiler/passes/gpu/SharedAccesses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

SmallVector<SharedAccess, 2> nacre::simt::sharedAccessesOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<SharedAccess, 2>>(op)
      .Case([](WriteOp write) { return SmallVector<SharedAccess, 2>{{write.getTarget(), /*writes=*/true}}; })
      .Case([](ReadOp read) { return SmallVector<SharedAccess, 2>{{read.getSource()}}; })
      .Case([](DotOp dot) {
        SmallVector<SharedAccess, 2> accesses;
        for (Value operand : {dot.getA(), dot.getB()})
          if (isa<SharedType>(operand.getType()))
            accesses.push_back({operand, /*writes=*/false, /*isPastThreads=*/true});
        return accesses;
      })
      .Case([](CopyBoxOp copy) {
        return SmallVector<SharedAccess, 2>{
            {copy.getTarget(), /*writes=*/true, /*isPastThreads=*/true, /*isAwaited=*/true}};
      })
      .Case([](CopyOutOp copy) {
        return SmallVector<SharedAccess, 2>{{copy.getSource(), /*writes=*/false, /*isPastThreads=*/true}};
      })
      .Case([](CopyOp copy) { return SmallVector<SharedAccess, 2>{{copy.getTarget(), /*writes=*/true}}; })
      .Default([](Operation *) { return SmallVector<SharedAccess, 2>(); });
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
