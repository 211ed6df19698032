// The walk over a kernel: its frame, scalars, groups of tile operations, and scratch memory. See Lowering.h.
#include "compiler/passes/cpu/Lowering.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/KernelABI.h"
#include "compiler/passes/cpu/Nest.h"
#include "compiler/passes/cpu/Packing.h"
#include "compiler/passes/cpu/ProgramOrder.h"
#include "compiler/passes/cpu/Turned.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// ---- Scratch memory

Buffer Lowering::allocate(Type element, ArrayRef<int64_t> shape, Block *owner) {
  int64_t count = 1;
  SmallVector<int64_t> strides(shape.size());
  for (int64_t axis = static_cast<int64_t>(shape.size()) - 1; axis >= 0; --axis) {
    strides[axis] = count;
    count *= shape[axis];
  }
  // It stands in the block that its owner becomes, where it is released too: before the loops that are being emitted.
  // The code of a combine function becomes part of its operation's block.
  while (!lowered.contains(owner))
    owner = owner->getParentOp()->getBlock();
  OpBuilder::InsertionGuard guard(b);
  Block *home = lowered.lookup(owner);
  if (b.getInsertionBlock() != home)
    b.setInsertionPoint(home->findAncestorOpInBlock(*b.getInsertionBlock()->getParentOp()));
  Value pointer = ScratchOp::create(b, std::max<int64_t>(1, count * byteSize(element)));
  allocations.push_back({owner, pointer});
  return {pointer, element, SmallVector<int64_t>(shape), strides};
}

Value Lowering::allocateKept(int64_t bytes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(frameAnchor);
  return ScratchOp::create(b, bytes, /*kept=*/true);
}

Buffer Lowering::allocate(RankedTensorType type, Block *owner) {
  return allocate(type.getElementType(), type.getShape(), owner);
}

// Whether the value is made of an arange, not through memory: only such values have lanes in closed form.
bool Lowering::isMadeOfArange(Value value) {
  auto [entry, isNew] = madeOfArange.try_emplace(value, false);
  Operation *op = value.getDefiningOp();
  if (!isNew || !op || !isTile(value))
    return entry->second;
  bool result = isa<tile::ArangeOp>(op);
  if (isElementwise(op) || movesElements(op))
    result = llvm::any_of(op->getOperands(), [&](Value operand) { return isMadeOfArange(operand); });
  return madeOfArange[value] = result;
}

// Whether what the operation gave may be evaluated anew where it is read: loads that are read again, and indices,
// pointers and masks whose lanes are known in closed form, which is better than their copy (Nest::bufferOf).
bool Lowering::isEvaluatedAnew(Operation *op) {
  return readAgain.contains(op) ||
         (isElementwise(op) && isa<IntegerType, tile::PointerType>(getElementTypeOrSelf(op->getResult(0).getType())) &&
          isMadeOfArange(op->getResult(0)));
}

// The operations that read the value, each as its ancestor in `block`: themselves, or through what is evaluated anew.
llvm::SmallSetVector<Operation *, 8> Lowering::readersAnew(Value value, Block *block) {
  llvm::SmallSetVector<Operation *, 8> found;
  SmallVector<Value> pending{value};
  DenseSet<Value> seen{value};
  while (!pending.empty())
    for (Operation *reader : plan.readers(pending.pop_back_val(), block)) {
      found.insert(reader);
      if (isEvaluatedAnew(reader))
        for (Value result : reader->getResults())
          if (seen.insert(result).second)
            pending.push_back(result);
    }
  return found;
}

// Whether an operation still to come reads the value, itself or through what is evaluated anew.
bool Lowering::isStillRead(Value value, Block *block) {
  return llvm::any_of(readersAnew(value, block), [&](Operation *reader) { return !done.contains(reader); });
}

// Frees what no operation still to come reads.
void Lowering::releaseDead(Block *block) {
  llvm::erase_if(allocations, [&](const Allocation &allocation) {
    if (allocation.owner != block)
      return false;
    if (llvm::any_of(held[allocation.pointer], [&](Value value) { return isStillRead(value, block); }))
      return false;
    release(allocation);
    return true;
  });
}

// What lay there is not in memory any more: nobody may read it.
void Lowering::release(const Allocation &allocation) {
  ReleaseOp::create(b, allocation.pointer);
  for (Value value : held[allocation.pointer])
    if (auto found = buffers.find(value); found != buffers.end() && found->second.pointer == allocation.pointer)
      buffers.erase(found);
  held.erase(allocation.pointer);
}

void Lowering::hold(Value value, const Buffer &buffer) {
  buffers[value] = buffer;
  keepFor(value, buffer.pointer);
}

void Lowering::releaseBlock(Block *block) {
  llvm::erase_if(allocations, [&](const Allocation &allocation) {
    if (allocation.owner != block)
      return false;
    release(allocation);
    return true;
  });
}

// ---- Values

Value Lowering::scalar(Value value) const {
  auto found = scalars.find(value);
  assert(found != scalars.end() && "a scalar is translated before its uses");
  return found->second;
}

const Buffer *Lowering::buffer(Value value) const {
  auto found = buffers.find(value);
  return found == buffers.end() ? nullptr : &found->second;
}

LogicalResult Lowering::fail(Operation *op, const Twine &message) {
  failed = true;
  return op->emitError(message);
}

void Lowering::materialise(Value value, const Buffer &target) {
  Nest nest(*this, tile::shapeOf(value.getType()));
  nest.emitLoops(
      [&](Nest &inner) {
        Coordinates coordinates = inner.identity(inner.shape.size());
        Lanes lanes = inner.evaluate(value, coordinates);
        inner.writeBuffer(target, lanes, coordinates);
      },
      value);
}

Buffer Lowering::inMemory(Value value, Block *owner) {
  if (const Buffer *existing = buffer(value))
    return *existing;
  Buffer made = allocate(cast<RankedTensorType>(value.getType()), owner);
  materialise(value, made);
  return made;
}

// ---- The frame: arguments, scratch, the loop over the grid

Lowering::Lowering(func::FuncOp kernel, const VectorTarget &target)
    : b(kernel.getLoc(), kernel.getContext()), target(target), plan(kernel), kernel(kernel) {
  b.convertsHalf = target.convertsHalf;
}

FailureOr<func::FuncOp> Lowering::run() {
  b.setInsertionPointAfter(kernel);
  Type pointer = b.pointerType(), i32 = b.getI32Type();
  std::string name = kernel.getName().str();
  kernel.setName(name + ".tile");
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes())
    types.push_back(registerType(type));
  types.push_back(pointer);
  result = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  result->setAttr(loopsAttribute, b.getUnitAttr());
  Block *entry = result.addEntryBlock();
  b.setInsertionPointToStart(entry);
  context = entry->getArguments().back();
  for (auto [i, argument] : llvm::enumerate(kernel.getArguments())) {
    scalars[argument] = entry->getArgument(i);
    if (argument.getType() != types[i] && !isa<tile::PointerType>(argument.getType()))
      result.setArgAttr(i, argumentTypeAttribute, TypeAttr::get(argument.getType()));
  }
  for (int axis = 0; axis < 3; ++axis)
    gridSize[axis] = b.load(i32, b.offsetBytes(context, b.index(offsetof(KernelContext, grid) + 4 * axis)), 4);
  frameAnchor = arith::ConstantOp::create(b, b.getBoolAttr(false));
  ProgramOrder order = programOrder(kernel, plan, [&]() -> AxisAnalysis & { return axisAnalysis(); });
  // Tiles that are turned take loops of their own.
  takesTurns = order.mostTurns > 1 && llvm::none_of(kernel.getBody().front(),
                                                    [&](Operation &op) { return turnedAxis(*this, &op).has_value(); });
  SmallVector<OpFoldResult> grid; // the fastest first
  for (int axis : order.axes)
    grid.push_back(arith::IndexCastUIOp::create(b, b.getIndexType(), gridSize[axis]).getResult());
  auto programs = scf::ForallOp::create(b, grid, ValueRange{}, std::nullopt);
  if (takesTurns)
    programs->setAttr(turnsAttribute, b.getI64IntegerAttr(order.mostTurns));
  func::ReturnOp::create(b);
  b.setInsertionPointToStart(programs.getBody());
  for (auto [axis, index] : llvm::zip(order.axes, programs.getInductionVars()))
    programId[axis] = arith::IndexCastOp::create(b, i32, index);

  if (holdsAtomics()) // it takes its turn, whichever kind they are of
    isAloneWithAtomics();
  lowerBlock(kernel.getBody().front());
  if (failed)
    return failure();
  frameAnchor->erase();
  if (!streaming.empty()) { // stores that bypassed the caches become visible before the launch ends
    b.setInsertionPoint(entry->getTerminator());
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86.sse.sfence"), ValueRange{});
  }
  kernel.erase();
  return result;
}

// ---- Blocks

void Lowering::lowerBlock(Block &block) {
  lowered[&block] = b.getInsertionBlock();
  for (Operation &op : block.without_terminator()) {
    switch (plan.place(&op)) {
    case Place::Virtual:
    case Place::Deferred:
      break;
    case Place::Scalar: {
      // A load sees memory as the loads of the group do, unless that stores as well.
      auto load = dyn_cast<tile::LoadOp>(op);
      bool onlyReads = load && !load.getIsVolatile() &&
                       llvm::none_of(group, [](Operation *member) { return isa<tile::StoreOp>(member); });
      bool touchesMemory = !onlyReads && !isMemoryEffectFree(&op);
      bool needsGroup = llvm::any_of(op.getOperands(), [&](Value operand) {
        return operand.getDefiningOp() && llvm::is_contained(group, operand.getDefiningOp());
      });
      if (touchesMemory || needsGroup)
        flush();
      lowerScalar(&op);
      break;
    }
    case Place::Pinned:
      if (turnedAxis(*this, &op)) {
        flush();
        b.setLoc(op.getLoc());
        if (auto load = dyn_cast<tile::LoadOp>(op))
          lowerTurnedLoad(load);
        else
          lowerTurnedStore(cast<tile::StoreOp>(op));
        done.insert(&op);
        releaseDead(&block);
        continue;
      }
      if (!joins(&op))
        flush();
      group.push_back(&op);
      continue; // done once the group is emitted
    case Place::Standalone:
      flush();
      b.setLoc(op.getLoc());
      lowerStandalone(&op);
      break;
    case Place::Control:
      flush();
      b.setLoc(op.getLoc());
      lowerControl(&op);
      break;
    }
    done.insert(&op);
    if (failed)
      return;
    if (plan.place(&op) == Place::Standalone || plan.place(&op) == Place::Control)
      releaseDead(&block);
  }
  flush();
}

static ArrayRef<int64_t> iterationShape(Operation *op) {
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return tile::shapeOf(store.getValue().getType());
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return tile::shapeOf(reduce.getOperands().front().getType());
  return tile::shapeOf(op->getResult(0).getType());
}

// Whether evaluating `value` at the group's own coordinates reads something the pending group computes in a way that
// must wait: a reduction's result, or an element of another place.
bool Lowering::readsPending(Value value, bool identity) const {
  if (buffer(value))
    return false;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (llvm::is_contained(group, op))
    return isa<tile::ReduceOp>(op) || !identity;
  if (!isTile(value))
    return false;
  if (plan.place(op) != Place::Virtual)
    return false;
  if (isa<tile::SplatOp>(op)) // a scalar: it may be a reduction's
    return op->getOperand(0).getDefiningOp() && llvm::is_contained(group, op->getOperand(0).getDefiningOp());
  bool same = identity && isElementwise(op);
  return llvm::any_of(op->getOperands(), [&](Value operand) { return readsPending(operand, same); });
}

bool Lowering::joins(Operation *op) const {
  if (group.empty())
    return true;
  if (iterationShape(op) != iterationShape(group.front()))
    return false;
  bool hasStore = llvm::any_of(group, [](Operation *member) { return isa<tile::StoreOp>(member); });
  if (isa<tile::LoadOp>(op) && hasStore)
    return false;
  if (auto load = dyn_cast<tile::LoadOp>(op); load && load.getIsVolatile())
    return false;
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    for (Operation *member : group)
      if (auto other = dyn_cast<tile::ReduceOp>(member); other && other.getAxis() != reduce.getAxis())
        return false;
  // A value whose definition needs a scalar of the group cannot be computed inside its loops either.
  return llvm::none_of(op->getOperands(), [&](Value operand) { return readsPending(operand, true); });
}

// ---- Groups

void Lowering::flush() {
  if (group.empty())
    return;
  SmallVector<Operation *> members;
  std::swap(members, group);
  Block *block = members.front()->getBlock();
  SmallVector<BlockArgument> overwritten;
  auto isMember = [&](Operation *op) { return llvm::is_contained(members, op); };
  for (Operation *member : members) {
    for (Value result : member->getResults()) {
      if (!isTile(result))
        continue;
      bool outside = plan.isForced(result) || isa<tile::ReduceOp>(member) ||
                     llvm::any_of(readersAnew(result, block), [&](Operation *reader) { return !isMember(reader); });
      if (!outside)
        continue;
      if (canReadAgain(member)) {
        readAgain.insert(member);
        continue;
      }
      if (auto inPlace = destinationInPlace(result, members)) {
        hold(result, *inPlace);
        overwritten.push_back(destinations.find(result)->second.first);
      } else {
        hold(result, allocate(cast<RankedTensorType>(result.getType()), block));
      }
    }
  }
  b.setLoc(members.front()->getLoc());
  Nest nest(*this, iterationShape(members.front()));
  nest.emitGroup(members);
  done.insert(members.begin(), members.end());
  for (BlockArgument argument : overwritten)
    buffers.erase(argument);
  releaseDead(block);
}

// Contiguous memory that nobody writes in the meantime is as good as a copy of it.
bool Lowering::canReadAgain(Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!load || load.getIsVolatile() || plan.isForced(load.getResult()))
    return false;
  Nest nest(*this, iterationShape(op));
  Coordinates coordinates = nest.identity(nest.shape.size());
  if (!nest.readsNeighbours(load.getResult(), coordinates) ||
      (load.getMask() && !nest.holdsForPrefix(load.getMask(), coordinates)))
    return false;
  // Reading again runs this load anew, and no other that its operands are made of.
  if (!llvm::all_of(load->getOperands(), [&](Value operand) { return nest.mayRecompute(operand); }))
    return false;
  Operation *last = op;
  for (Operation *reader : plan.readers(load.getResult(), op->getBlock())) {
    if (plan.place(reader) != Place::Pinned || reader->getBlock() != op->getBlock())
      return false;
    if (last->isBeforeInBlock(reader))
      last = reader;
  }
  for (Operation *between = op->getNextNode(); between != last; between = between->getNextNode())
    if (tile::writesMemory(between))
      return false;
  return readsOwnElement(load.getResult()) || !sharesLoopsWithStore(last);
}

// Whether all that reads the tile looks only at the element it is computing: no broadcast, no transposition.
bool Lowering::readsOwnElement(Value tile) const {
  SmallVector<Value> pending{tile};
  DenseSet<Value> seen;
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (plan.place(user) == Place::Pinned)
        continue;
      if (!isElementwise(user))
        return false;
      for (Value result : user->getResults())
        if (seen.insert(result).second)
          pending.push_back(result);
    }
  return true;
}

// Whether a store runs in the loops that compute `op`: what one of their steps writes, a later step may read.
bool Lowering::sharesLoopsWithStore(Operation *op) const {
  ArrayRef<int64_t> shape = iterationShape(op);
  for (; op; op = op->getNextNode()) {
    Place place = plan.place(op);
    if (place == Place::Virtual || place == Place::Deferred || (place == Place::Scalar && isMemoryEffectFree(op)))
      continue;
    if (place != Place::Pinned || iterationShape(op) != shape)
      return false;
    if (isa<tile::StoreOp>(op))
      return true;
  }
  return false;
}

bool Lowering::holdsAtomics() {
  if (!hasAtomics)
    hasAtomics =
        kernel
            .walk([](Operation *op) {
              return isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted();
  return *hasAtomics;
}

bool Lowering::multiplies() {
  if (!hasProducts)
    hasProducts = kernel.walk([](MultiplyOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return *hasProducts;
}

// More than a last-level cache's worth of stores in one launch: the lines would be gone before anyone reads them.
static constexpr int64_t streamingBytes = 32 << 20;

Value Lowering::isStreaming(tile::StoreOp store) {
  // What such a store writes is not ordered with an atomic that tells another program of it.
  if (holdsAtomics())
    return {};
  Value &condition = streaming[store];
  if (condition)
    return condition;
  auto type = cast<RankedTensorType>(store.getValue().getType());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(frameAnchor);
  Value programs = b.index(1);
  for (Value size : gridSize)
    programs = b.mul(programs, b.toI64(size, false));
  Value bytes = b.mul(programs, b.index(type.getNumElements() * byteSize(type.getElementType())));
  condition = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, bytes, b.index(streamingBytes));
  return condition;
}

// A value handed to the next iteration may overwrite the carried tile it replaces when each read of that tile is over,
// or is made now, by the loops that write, and looks only at the element being written. What is virtual reads when, and
// where, its own readers do: whether the walk has passed it says nothing.
bool Lowering::canWriteInPlace(BlockArgument argument, ArrayRef<Operation *> now) {
  Block *block = argument.getOwner();
  struct Read {
    Value value;
    bool ownElement; // it looks at the element of the carried tile that it computes
  };
  SmallVector<Read> pending{{argument, true}};
  DenseSet<std::pair<Value, unsigned>> seen;
  while (!pending.empty()) {
    Read read = pending.pop_back_val();
    if (!seen.insert({read.value, read.ownElement}).second)
      continue;
    for (OpOperand &use : read.value.getUses()) {
      Operation *user = use.getOwner(), *ancestor = block->findAncestorOpInBlock(*user);
      assert(ancestor && "a carried tile is read in its loop");
      Place place = plan.place(user);
      // A product reads an element of its accumulator where it writes the sum, and those of its operands anywhere.
      auto product = dyn_cast<MultiplyOp>(user);
      bool summed = product && &use == &product.getAccumulatorMutable();
      bool ownElement = read.ownElement && isElementwise(user);
      if (place == Place::Virtual || place == Place::Deferred) {
        for (Value result : user->getResults())
          pending.push_back({result, ownElement});
        continue;
      }
      if (llvm::is_contained(now, user)) {
        if (!read.ownElement || (product && !summed))
          return false;
        continue;
      }
      if (!done.contains(ancestor))
        return false;
      // It is over, unless its result is the same memory, or is evaluated anew by an operation still to come.
      for (Value result : user->getResults())
        if (const Buffer *view = buffer(result); view && view->pointer == buffer(argument)->pointer)
          pending.push_back({result, false});
      if (readAgain.contains(user) && isStillRead(user->getResult(0), block))
        return false;
    }
  }
  return true;
}

std::optional<Buffer> Lowering::destinationInPlace(Value value, ArrayRef<Operation *> now) {
  auto found = destinations.find(value);
  if (found == destinations.end())
    return std::nullopt;
  auto &[argument, buffer] = found->second;
  if (value.getParentBlock() != argument.getOwner() || !canWriteInPlace(argument, now))
    return std::nullopt;
  return buffer;
}

// ---- Scalars

void Lowering::lowerScalar(Operation *op) {
  b.setLoc(op->getLoc());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    scalars[constant] = constantScalar(constant.getValue(), constant.getType());
    return;
  }
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    scalars[id] = programId[id.getAxis()];
    return;
  }
  if (auto size = dyn_cast<tile::NumProgramsOp>(op)) {
    scalars[size] = gridSize[size.getAxis()];
    return;
  }
  if (isa<tile::ClockOp>(op)) {
    scalars[op->getResult(0)] = callContext(offsetof(KernelContext, clock), {}, b.getI64Type());
    return;
  }
  if (isa<tile::ProcessorOp>(op)) {
    scalars[op->getResult(0)] = callContext(offsetof(KernelContext, processor), {}, b.getI32Type());
    return;
  }
  if (isa<ub::PoisonOp>(op)) {
    scalars[op->getResult(0)] = b.zero(registerType(op->getResult(0).getType()));
    return;
  }
  if (isa<tile::LoadOp, tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op)) {
    if (Value value = scalarMemoryAccess(op))
      scalars[op->getResult(0)] = value;
    return;
  }
  if (isa<tile::PrintOp>(op))
    return lowerPrint(op);
  if (isa<tile::TellOp>(op))
    return lowerTell(op);
  if (isa<tile::AssertOp>(op))
    return lowerAssert(op);
  if (isa<tile::CheckAccessOp>(op))
    return lowerCheckAccess(op);
  if (isa<tile::InlineAsmOp>(op))
    return lowerInlineAsm(op);
  if (isa<tile::ExternalCallOp>(op))
    return lowerExternalCall(op);
  if (auto assume = dyn_cast<tile::AssumeOp>(op)) {
    LLVM::AssumeOp::create(b, scalar(assume.getCondition()));
    return;
  }
  if (isElementwise(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    for (OpResult value : op->getResults())
      scalars[value] = elementwise(op, value.getResultNumber(), operands);
    return;
  }
  (void)fail(op, "this scalar operation has no lowering for the CPU");
}

void Lowering::lowerStandalone(Operation *op) {
  if (isa<RowsOp, PanelsOp>(op))
    return Packing(*this, op).run();
  if (isa<MultiplyOp>(op))
    return lowerMultiply(op);
  if (isa<tile::ScanOp>(op))
    return lowerScan(op);
  if (isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op))
    return lowerAtomic(op);
  if (isa<tile::PrintOp>(op))
    return lowerPrint(op);
  if (isa<tile::TellOp>(op))
    return lowerTell(op);
  if (isa<tile::AssertOp>(op))
    return lowerAssert(op);
  if (isa<tile::CheckAccessOp>(op))
    return lowerCheckAccess(op);
  if (isa<tile::InlineAsmOp>(op))
    return lowerInlineAsm(op);
  if (isa<tile::ExternalCallOp>(op))
    return lowerExternalCall(op);
  if (isa<tile::MapOp>(op))
    return lowerMap(op);
  if (isa<tile::BarrierOp>(op))
    return; // one thread runs the program, in order
  lowerRearrangement(op);
}
