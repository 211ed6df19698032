// Control flow. Scalars that loops carry stay values; tiles that they carry live in one buffer each, written by whoever
// hands the tile over and read by whoever receives it.
#include "compiler/passes/cpu/KernelABI.h"
#include "compiler/passes/cpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

void Lowering::lowerControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return lowerWhile(loop);
  (void)fail(op, "this control flow has no lowering for the CPU");
}

static Buffer *bufferOrNull(std::optional<Buffer> &buffer) { return buffer ? &*buffer : nullptr; }

// A tile that a terminator hands over may itself be one of the tiles being replaced (a rotation), so whatever still
// reads the old contents goes through a copy first.
void Lowering::handOver(ValueRange values, ArrayRef<std::optional<Buffer>> targets, Block *from) {
  struct Move {
    Buffer source, target;
  };
  std::vector<Move> moves;
  for (auto [value, target] : llvm::zip(values, targets)) {
    if (!target)
      continue;
    const Buffer *source = buffer(value);
    if (source && source->pointer == target->pointer)
      continue;
    bool isTarget = source && llvm::any_of(targets, [&](const std::optional<Buffer> &other) {
                      return other && other->pointer == source->pointer;
                    });
    if (source && !isTarget && source->strides == target->strides) {
      moves.push_back({*source, *target});
      continue;
    }
    Buffer copy = allocate(target->element, target->shape, from);
    materialize(value, copy);
    moves.push_back({copy, *target});
  }
  for (Move &move : moves) {
    int64_t count = byteSize(move.target.element);
    for (int64_t extent : move.target.shape)
      count *= extent;
    LLVM::MemcpyOp::create(b, move.target.pointer, move.source.pointer, b.index(count), /*isVolatile=*/false);
  }
}

// The buffer of every tile among `values`, none for scalars.
static SmallVector<std::optional<Buffer>> tileBuffers(Lowering &lowering, TypeRange types, Block *owner) {
  SmallVector<std::optional<Buffer>> result;
  for (Type type : types) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      result.push_back(lowering.allocate(tensor, owner));
    else
      result.push_back(std::nullopt);
  }
  return result;
}

void Lowering::lowerFor(scf::ForOp op) {
  Block *outside = op->getBlock();
  SmallVector<std::optional<Buffer>> carried = tileBuffers(*this, op.getResultTypes(), outside);
  SmallVector<Value> initial;
  for (auto [value, buffer] : llvm::zip(op.getInitArgs(), carried)) {
    if (Buffer *target = bufferOrNull(buffer))
      materialize(value, *target);
    else
      initial.push_back(scalar(value));
  }
  Value lower = scalar(op.getLowerBound()), upper = scalar(op.getUpperBound()), step = scalar(op.getStep());
  // A step of more than one may pass over the largest integer of a narrow index on its way to the end: count in 64
  // bits.
  Type type = lower.getType();
  bool isWidened = type.getIntOrFloatBitWidth() < 64 && !Emit::isKnown(step, 1);
  if (isWidened) {
    bool isSigned = !op.getUnsignedCmp();
    lower = b.toI64(lower, isSigned), upper = b.toI64(upper, isSigned), step = b.toI64(step, isSigned);
  }
  // A step known only now counts up: nothing is run over by one that is negative or zero.
  if (!Emit::known(step)) {
    auto above = op.getUnsignedCmp() ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
    Value isUp = arith::CmpIOp::create(b, above, step, b.zero(step.getType()));
    upper = b.select(isUp, upper, lower);
  }
  // An index of 64 bits cannot be counted in more: its iterations are.
  bool isCounted = type.getIntOrFloatBitWidth() == 64 && !Emit::isKnown(step, 1);
  Value first = lower, stride = step;
  if (isCounted) {
    auto below = op.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value runs = arith::CmpIOp::create(b, below, lower, upper);
    Value divisor = arith::MaxUIOp::create(b, step, b.index(1)); // where it is 0 nothing runs
    Value last = arith::DivUIOp::create(b, b.sub(b.sub(upper, lower), b.index(1)), divisor);
    upper = b.select(runs, b.add(last, b.index(1)), b.index(0));
    lower = b.index(0), step = b.index(1);
  }
  auto loop = scf::ForOp::create(b, lower, upper, step, initial);
  if (op.getUnsignedCmp() || isCounted)
    loop.setUnsignedCmp(true);
  scalars[op.getInductionVar()] = loop.getInductionVar();
  auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
  size_t next = 0;
  for (auto [argument, buffer, handed] : llvm::zip(op.getRegionIterArgs(), carried, yield.getOperands())) {
    if (!buffer) {
      scalars[argument] = loop.getRegionIterArgs()[next++];
      continue;
    }
    hold(argument, *buffer);
    if (handed != argument && llvm::count(yield.getOperands(), handed) == 1)
      destinations[handed] = {cast<BlockArgument>(argument), *buffer};
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    if (isWidened)
      scalars[op.getInductionVar()] = arith::TruncIOp::create(b, type, loop.getInductionVar());
    if (isCounted)
      scalars[op.getInductionVar()] = b.add(first, b.mul(loop.getInductionVar(), stride));
    lowerBlock(*op.getBody());
    if (failed)
      return;
    handOver(yield.getOperands(), carried, op.getBody());
    releaseBlock(op.getBody());
    SmallVector<Value> results;
    for (Value value : yield.getOperands())
      if (!isTile(value))
        results.push_back(scalar(value));
    if (!results.empty())
      scf::YieldOp::create(b, results);
  }
  next = 0;
  for (auto [value, buffer] : llvm::zip(op.getResults(), carried)) {
    if (buffer)
      hold(value, *buffer);
    else
      scalars[value] = loop.getResults()[next++];
  }
}

void Lowering::lowerIf(scf::IfOp op) {
  SmallVector<std::optional<Buffer>> targets = tileBuffers(*this, op.getResultTypes(), op->getBlock());
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (!isa<RankedTensorType>(type))
      types.push_back(registerType(type));
  bool hasElse = !op.getElseRegion().empty();
  auto branch = scf::IfOp::create(b, types, scalar(op.getCondition()), hasElse);
  auto lowerArm = [&](Region &from, Block *to) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(to);
    Block &block = from.front();
    lowerBlock(block);
    if (failed)
      return;
    handOver(block.getTerminator()->getOperands(), targets, &block);
    releaseBlock(&block);
    SmallVector<Value> results;
    for (Value value : block.getTerminator()->getOperands())
      if (!isTile(value))
        results.push_back(scalar(value));
    if (!types.empty())
      scf::YieldOp::create(b, results);
  };
  lowerArm(op.getThenRegion(), branch.thenBlock());
  if (hasElse && !failed)
    lowerArm(op.getElseRegion(), branch.elseBlock());
  if (failed)
    return;
  size_t next = 0;
  for (auto [value, buffer] : llvm::zip(op.getResults(), targets)) {
    if (buffer)
      hold(value, *buffer);
    else
      scalars[value] = branch.getResults()[next++];
  }
}

// Whether the loop may spin until another program writes to memory.
static bool mayWait(scf::WhileOp loop) {
  WalkResult result = loop->walk([](Operation *op) {
    auto load = dyn_cast<tile::LoadOp>(op);
    return isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op) || (load && load.getIsVolatile()) ? WalkResult::interrupt()
                                                                                           : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void Lowering::lowerWhile(scf::WhileOp op) {
  Block *outside = op->getBlock();
  SmallVector<std::optional<Buffer>> carried = tileBuffers(*this, op.getInits().getTypes(), outside);
  SmallVector<std::optional<Buffer>> passed = tileBuffers(*this, op.getResultTypes(), outside);
  SmallVector<Value> initial;
  for (auto [value, buffer] : llvm::zip(op.getInits(), carried)) {
    if (buffer)
      materialize(value, *buffer);
    else
      initial.push_back(scalar(value));
  }
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (!isa<RankedTensorType>(type))
      types.push_back(registerType(type));
  auto loop = scf::WhileOp::create(b, types, initial);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> initialTypes;
  for (Value value : initial)
    initialTypes.push_back(value.getType());
  Block *before =
      b.createBlock(&loop.getBefore(), {}, initialTypes, SmallVector<Location>(initialTypes.size(), b.getLoc()));
  Block *after = b.createBlock(&loop.getAfter(), {}, types, SmallVector<Location>(types.size(), b.getLoc()));

  auto receive = [&](Block::BlockArgListType arguments, ArrayRef<std::optional<Buffer>> tiles, Block *block) {
    size_t next = 0;
    for (auto [argument, buffer] : llvm::zip(arguments, tiles)) {
      if (buffer)
        hold(argument, *buffer);
      else
        scalars[argument] = block->getArgument(next++);
    }
  };
  auto scalarsOf = [&](ValueRange values) {
    SmallVector<Value> results;
    for (Value value : values)
      if (!isTile(value))
        results.push_back(scalar(value));
    return results;
  };

  b.setInsertionPointToStart(before);
  receive(op.getBeforeArguments(), carried, before);
  lowerBlock(*op.getBeforeBody());
  if (failed)
    return;
  auto condition = op.getConditionOp();
  handOver(condition.getArgs(), passed, op.getBeforeBody());
  releaseBlock(op.getBeforeBody());
  scf::ConditionOp::create(b, scalar(condition.getCondition()), scalarsOf(condition.getArgs()));

  b.setInsertionPointToStart(after);
  if (mayWait(op)) {
    hasWaitingLoop = true;
    callContext(offsetof(KernelContext, waiting), {});
  }
  receive(op.getAfterArguments(), passed, after);
  lowerBlock(*op.getAfterBody());
  if (failed)
    return;
  ValueRange handed = op.getAfterBody()->getTerminator()->getOperands();
  handOver(handed, carried, op.getAfterBody());
  releaseBlock(op.getAfterBody());
  scf::YieldOp::create(b, scalarsOf(handed));

  size_t next = 0;
  for (auto [value, buffer] : llvm::zip(op.getResults(), passed)) {
    if (buffer)
      hold(value, *buffer);
    else
      scalars[value] = loop.getResults()[next++];
  }
}
