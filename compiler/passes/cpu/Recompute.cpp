// See Recompute.h.
#include "compiler/passes/cpu/Recompute.h"
#include "compiler/passes/cpu/Plan.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

bool nacre::cpu::isUnchangedBetween(Operation *from, Operation *to) {
  assert(from->isBeforeInBlock(to) && "a place further down the block");
  for (Operation *between = from->getNextNode(); between != to; between = between->getNextNode())
    if (tile::writesMemory(between))
      return false;
  return true;
}

bool Recompute::mayCompute(Value value) {
  if (!isTile(value))
    return true;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  bool result = isInMemory(value) || (op && isa<arith::ConstantOp, tile::SplatOp, tile::ArangeOp, ub::PoisonOp>(op));
  if (!result && op && (isElementwise(op) || movesElements(op)))
    result = llvm::all_of(op->getOperands(), [&](Value operand) { return mayCompute(operand); });
  return known[value] = result;
}

bool Recompute::mayComputeFrom(Operation *op) {
  return isElementwise(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return mayCompute(operand); });
}

bool Recompute::mayRun(tile::LoadOp load) {
  return llvm::all_of(load->getOperands(), [&](Value operand) { return mayCompute(operand); });
}

bool Recompute::isComputedAnew(Operation *op) {
  return isElementwise(op) && isa<IntegerType, tile::PointerType>(getElementTypeOrSelf(op->getResult(0).getType())) &&
         isMadeOfArange(op->getResult(0));
}

// Not through memory: only such values have lanes in closed form.
bool Recompute::isMadeOfArange(Value value) {
  auto [entry, isNew] = madeOfArange.try_emplace(value, false);
  Operation *op = value.getDefiningOp();
  if (!isNew || !op || !isTile(value))
    return entry->second;
  bool result = isa<tile::ArangeOp>(op);
  if (isElementwise(op) || movesElements(op))
    result = llvm::any_of(op->getOperands(), [&](Value operand) { return isMadeOfArange(operand); });
  return madeOfArange[value] = result;
}
