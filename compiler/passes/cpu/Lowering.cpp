// The walk over a kernel: its frame, scalars and scratch memory. See Lowering.h.
#include "compiler/passes/cpu/Lowering.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/KernelABI.h"
#include "compiler/passes/cpu/Nest.h"
#include "compiler/passes/cpu/Packing.h"
#include "compiler/passes/cpu/ProgramOrder.h"

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

void Buffer::layAlong(int axis) {
  int64_t count = shape[axis];
  for (int other = static_cast<int>(shape.size()) - 1; other >= 0; --other) {
    strides[other] = other == axis ? 1 : count;
    count *= other == axis ? 1 : shape[other];
  }
}

// The operations that read the value, each as its ancestor in `block`: themselves, or through what is evaluated anew.
llvm::SmallSetVector<Operation *, 8> Lowering::readersAnew(Value value, Block *block) {
  llvm::SmallSetVector<Operation *, 8> found;
  SmallVector<Value> pending{value};
  DenseSet<Value> seen{value};
  while (!pending.empty())
    for (Operation *reader : plan.readers(pending.pop_back_val(), block)) {
      found.insert(reader);
      if (readAgain.contains(reader) || recompute.isComputedAnew(reader))
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
      drop(value);
  held.erase(allocation.pointer);
}

void Lowering::place(Value value, const Buffer &buffer) {
  buffers[value] = buffer;
  recompute.forget();
}

void Lowering::drop(Value value) {
  buffers.erase(value);
  recompute.forget();
}

void Lowering::hold(Value value, const Buffer &buffer) {
  place(value, buffer);
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

void Lowering::materialize(Value value, const Buffer &target) {
  Nest nest(*this, tile::shapeOf(value.getType()));
  int lane = nest.lane;
  while (lane > 0 && nest.shape[lane] == 1) // the lanes of an axis of extent 1 would be one
    --lane;
  if (lane != nest.lane)
    nest.runAlong(lane);
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
  materialize(value, made);
  return made;
}

// ---- The frame: arguments, scratch, the loop over the grid

Lowering::Lowering(func::FuncOp kernel, const VectorTarget &target, PlanNotes *notes)
    : b(kernel.getLoc(), kernel.getContext()), target(target), plan(kernel),
      recompute([this](Value value) { return buffer(value) != nullptr; }), kernel(kernel), notes(notes) {
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
  takesTurns = order.mostTurns > 1;
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

// ---- What is asked of the whole kernel

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
