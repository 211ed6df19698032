// Loops and branches: what they carry becomes one value a register. Their conditions are scalars, the same in every
// thread, so that all threads take the same way.
#include "compiler/passes/gpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

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

// How often a loop with a step other than 1 runs: it is counted, since the index may pass over the largest integer on
// its way to the end. A step that is negative or zero runs over nothing.
static Value iterations(Lowering &lowering, scf::ForOp op, std::optional<int64_t> step) {
  simt::Builder &b = lowering.b;
  Value lower = lowering.scalar(op.getLowerBound()), upper = lowering.scalar(op.getUpperBound());
  Type type = lower.getType();
  bool isUnsigned = op.getUnsignedCmp();
  auto below = isUnsigned ? LLVM::ICmpPredicate::ult : LLVM::ICmpPredicate::slt;
  Value zero = lowering.constant(type, 0), one = lowering.constant(type, 1);
  Value runs = LLVM::ICmpOp::create(b, below, lower, upper), divisor = lowering.scalar(op.getStep());
  if (!step) {
    runs = LLVM::AndOp::create(b, runs, LLVM::ICmpOp::create(b, below, zero, divisor));
    divisor = LLVM::SelectOp::create(b, runs, divisor, one);
  }
  Value span = LLVM::SubOp::create(b, LLVM::SubOp::create(b, upper, lower), one);
  Value count = LLVM::AddOp::create(b, LLVM::UDivOp::create(b, span, divisor), one);
  return LLVM::SelectOp::create(b, runs, count, zero);
}

LogicalResult Lowering::lowerFor(scf::ForOp op) {
  SmallVector<Value> initial = flatten(*this, op.getInitArgs());
  llvm::APInt number;
  std::optional<int64_t> knownStep;
  if (matchPattern(op.getStep(), m_ConstantInt(&number)) && number.isStrictlyPositive())
    knownStep = number.getSExtValue();
  bool isCounted = knownStep != 1;
  Value lower = scalar(op.getLowerBound()), upper = scalar(op.getUpperBound()), step = scalar(op.getStep());
  Value first = lower, stride = step;
  if (isCounted) { // the index is carried
    Type type = lower.getType();
    upper = iterations(*this, op, knownStep);
    lower = constant(type, 0), step = constant(type, 1);
    initial.push_back(first);
  }
  auto loop =
      scf::ForOp::create(b, lower, upper, step, initial, /*bodyBuilder=*/nullptr, isCounted || op.getUnsignedCmp());
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = loop.getBody();
    if (!body->empty()) // made where nothing is carried
      body->back().erase();
    b.setInsertionPointToEnd(body);
    Value index = isCounted ? Value(loop.getRegionIterArgs().back()) : loop.getInductionVar();
    define(op.getInductionVar(), index);
    unflatten(*this, op.getRegionIterArgs(), loop.getRegionIterArgs());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    SmallVector<Value> next = flatten(*this, op.getBody()->getTerminator()->getOperands());
    if (isCounted)
      next.push_back(LLVM::AddOp::create(b, index, stride));
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
  Value goesOn = scalar(condition.getCondition());
  if (record && isOfElements(op)) { // what an assert found wrong may keep it going for ever
    Value isRefused = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, refusedProgram(), constant(b.getI64Type(), 0));
    goesOn = LLVM::AndOp::create(b, goesOn, LLVM::XOrOp::create(b, isRefused, constant(b.getI1Type(), 1)));
  }
  scf::ConditionOp::create(b, goesOn, flatten(*this, condition.getArgs()));
  makeBlock(loop.getAfter(), op.getAfterBody());
  if (failed(lowerBlock(*op.getAfterBody())))
    return failure();
  scf::YieldOp::create(b, flatten(*this, op.getYieldOp().getOperands()));
  unflatten(*this, op.getResults(), loop.getResults());
  return success();
}
