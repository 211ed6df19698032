// Loops and branches: what they carry becomes one value a register. Their conditions are scalars, the same in every
// thread, so that all threads take the same way.
#include "compiler/passes/gpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

// The values of several tiles and scalars after one another.
static SmallVector<Value> flatten(Lowering &lowering, ValueRange carried) {
  SmallVector<Value> flat;
  for (Value value : carried)
    llvm::append_range(flat, lowering.registers(value));
  return flat;
}

static SmallVector<Type> flattenTypes(Lowering &lowering, TypeRange types) {
  SmallVector<Type> flat;
  for (Type type : types)
    flat.append(Lowering::registerCount(type), lowering.registerType(getElementTypeOrSelf(type)));
  return flat;
}

static void unflatten(Lowering &lowering, ValueRange carried, ValueRange flat) {
  for (Value value : carried) {
    unsigned count = Lowering::registerCount(value.getType());
    lowering.define(value, SmallVector<Value>(flat.take_front(count)));
    flat = flat.drop_front(count);
  }
}

LogicalResult Lowering::lowerFor(scf::ForOp op) {
  SmallVector<Value> initial = flatten(*this, op.getInitArgs());
  auto loop = scf::ForOp::create(b, scalar(op.getLowerBound()), scalar(op.getUpperBound()), scalar(op.getStep()),
                                 initial, /*bodyBuilder=*/nullptr, op.getUnsignedCmp());
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = loop.getBody();
    b.setInsertionPointToEnd(body);
    if (!body->empty() && body->back().hasTrait<OpTrait::IsTerminator>())
      b.setInsertionPoint(&body->back());
    define(op.getInductionVar(), loop.getInductionVar());
    unflatten(*this, op.getRegionIterArgs(), loop.getRegionIterArgs());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    SmallVector<Value> next = flatten(*this, op.getBody()->getTerminator()->getOperands());
    if (!body->empty() && body->back().hasTrait<OpTrait::IsTerminator>())
      body->back().erase();
    b.setInsertionPointToEnd(body);
    scf::YieldOp::create(b, next);
  }
  unflatten(*this, op.getResults(), loop.getResults());
  return success();
}

LogicalResult Lowering::lowerIf(scf::IfOp op) {
  bool hasElse = !op.getElseRegion().empty();
  auto branch = scf::IfOp::create(b, flattenTypes(*this, op.getResultTypes()), scalar(op.getCondition()), hasElse);
  auto lowerSide = [&](Block *from, Block *to) {
    OpBuilder::InsertionGuard guard(b);
    to->clear();
    b.setInsertionPointToStart(to);
    if (failed(lowerBlock(*from)))
      return failure();
    scf::YieldOp::create(b, flatten(*this, from->getTerminator()->getOperands()));
    return success();
  };
  if (failed(lowerSide(op.thenBlock(), branch.thenBlock())))
    return failure();
  if (hasElse && failed(lowerSide(op.elseBlock(), branch.elseBlock())))
    return failure();
  unflatten(*this, op.getResults(), branch.getResults());
  return success();
}

LogicalResult Lowering::lowerWhile(scf::WhileOp op) {
  auto loop = scf::WhileOp::create(b, flattenTypes(*this, op.getResultTypes()), flatten(*this, op.getInits()));
  auto makeBlock = [&](Region &region, Block *from) {
    SmallVector<Type> types = flattenTypes(*this, from->getArgumentTypes());
    Block *to = b.createBlock(&region, {}, types, SmallVector<Location>(types.size(), b.getLoc()));
    unflatten(*this, from->getArguments(), to->getArguments());
    return to;
  };
  OpBuilder::InsertionGuard guard(b);
  makeBlock(loop.getBefore(), op.getBeforeBody());
  if (failed(lowerBlock(*op.getBeforeBody())))
    return failure();
  auto condition = op.getConditionOp();
  scf::ConditionOp::create(b, scalar(condition.getCondition()), flatten(*this, condition.getArgs()));
  makeBlock(loop.getAfter(), op.getAfterBody());
  if (failed(lowerBlock(*op.getAfterBody())))
    return failure();
  scf::YieldOp::create(b, flatten(*this, op.getYieldOp().getOperands()));
  unflatten(*this, op.getResults(), loop.getResults());
  return success();
}
