// Atomics: element by element with the machine's locked instructions; without them where no other thread of the process
// touches atomics, which the runtime knows (KernelContext::aloneWithAtomics).
#include "compiler/passes/cpu/KernelABI.h"
#include "compiler/passes/cpu/Nest.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static LLVM::AtomicOrdering orderingOf(tile::MemoryOrder order) {
  switch (order) {
  case tile::MemoryOrder::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::MemoryOrder::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::MemoryOrder::Release:
    return LLVM::AtomicOrdering::release;
  case tile::MemoryOrder::AcquireRelease:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("unknown order");
}

// What is in memory after the operation, given what was there; scalars, or vectors of one width. Small floats add in
// f32 and round.
static Value updatedElement(Emit &b, tile::AtomicRmwOp rmw, Value old, Value value) {
  switch (rmw.getKind()) {
  case tile::AtomicKind::And:
    return arith::AndIOp::create(b, old, value);
  case tile::AtomicKind::Or:
    return arith::OrIOp::create(b, old, value);
  case tile::AtomicKind::Xor:
    return arith::XOrIOp::create(b, old, value);
  case tile::AtomicKind::AddI:
    return arith::AddIOp::create(b, old, value);
  case tile::AtomicKind::MaxS:
    return arith::MaxSIOp::create(b, old, value);
  case tile::AtomicKind::MaxU:
    return arith::MaxUIOp::create(b, old, value);
  case tile::AtomicKind::MinS:
    return arith::MinSIOp::create(b, old, value);
  case tile::AtomicKind::MinU:
    return arith::MinUIOp::create(b, old, value);
  case tile::AtomicKind::Exchange:
    return value;
  case tile::AtomicKind::AddF:
  case tile::AtomicKind::MaxF:
  case tile::AtomicKind::MinF:
    break;
  }
  Type element = getElementTypeOrSelf(rmw.getType());
  Type wide = element.getIntOrFloatBitWidth() < 32 ? Type(b.getF32Type()) : element;
  Value x = convertFloat(b, old, element, wide, tile::Rounding::NearestEven);
  Value y = convertFloat(b, value, element, wide, tile::Rounding::NearestEven);
  Value updated;
  if (rmw.getKind() == tile::AtomicKind::AddF)
    updated = arith::AddFOp::create(b, x, y);
  else if (rmw.getKind() == tile::AtomicKind::MaxF)
    updated = arith::MaxNumFOp::create(b, x, y);
  else
    updated = arith::MinNumFOp::create(b, x, y);
  return convertFloat(b, updated, wide, element, tile::Rounding::NearestEven);
}

Value Lowering::atomicElement(Operation *op, Value pointer, ArrayRef<Value> values) {
  int64_t alignment = byteSize(getElementTypeOrSelf(op->getResult(0).getType()));
  if (auto cas = dyn_cast<tile::AtomicCasOp>(op)) {
    Type type = values[0].getType();
    Type integer = b.getIntegerType(type.getIntOrFloatBitWidth());
    auto asInteger = [&](Value value) -> Value {
      return type == integer ? value : Value(arith::BitcastOp::create(b, integer, value));
    };
    auto ordering = orderingOf(cas.getOrder());
    auto onFailure = ordering == LLVM::AtomicOrdering::monotonic || ordering == LLVM::AtomicOrdering::release
                         ? LLVM::AtomicOrdering::monotonic
                         : LLVM::AtomicOrdering::acquire;
    auto exchange = LLVM::AtomicCmpXchgOp::create(b, pointer, asInteger(values[0]), asInteger(values[1]), ordering,
                                                  onFailure, StringRef(), alignment);
    Value old = LLVM::ExtractValueOp::create(b, exchange.getResult(), ArrayRef<int64_t>{0});
    return type == integer ? old : Value(arith::BitcastOp::create(b, type, old));
  }
  auto rmw = cast<tile::AtomicRmwOp>(op);
  Type element = getElementTypeOrSelf(rmw.getType());
  auto ordering = orderingOf(rmw.getOrder());
  auto native = [&](LLVM::AtomicBinOp kind, Value value) -> Value {
    return LLVM::AtomicRMWOp::create(b, kind, pointer, value, ordering, StringRef(), alignment);
  };
  switch (rmw.getKind()) {
  case tile::AtomicKind::And:
    return native(LLVM::AtomicBinOp::_and, values[0]);
  case tile::AtomicKind::Or:
    return native(LLVM::AtomicBinOp::_or, values[0]);
  case tile::AtomicKind::Xor:
    return native(LLVM::AtomicBinOp::_xor, values[0]);
  case tile::AtomicKind::AddI:
    return native(LLVM::AtomicBinOp::add, values[0]);
  case tile::AtomicKind::MaxS:
    return native(LLVM::AtomicBinOp::max, values[0]);
  case tile::AtomicKind::MaxU:
    return native(LLVM::AtomicBinOp::umax, values[0]);
  case tile::AtomicKind::MinS:
    return native(LLVM::AtomicBinOp::min, values[0]);
  case tile::AtomicKind::MinU:
    return native(LLVM::AtomicBinOp::umin, values[0]);
  case tile::AtomicKind::Exchange:
    return native(LLVM::AtomicBinOp::xchg, values[0]);
  case tile::AtomicKind::AddF:
  case tile::AtomicKind::MaxF:
  case tile::AtomicKind::MinF:
    break;
  }
  // Floats: compare and exchange the bits until nobody came between.
  Type inRegister = registerType(element);
  Type integer = b.getIntegerType(inRegister.getIntOrFloatBitWidth());
  auto asInteger = [&](Value value) -> Value {
    return value.getType() == integer ? value : Value(arith::BitcastOp::create(b, integer, value));
  };
  Value first = b.load(integer, pointer, alignment);
  auto loop = scf::WhileOp::create(b, TypeRange{integer}, ValueRange{first});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, {integer}, {b.getLoc()});
  Value seen = before->getArgument(0);
  Value old = inRegister == integer ? seen : Value(arith::BitcastOp::create(b, inRegister, seen));
  Value updated = updatedElement(b, rmw, old, values[0]);
  auto onFailure = ordering == LLVM::AtomicOrdering::monotonic || ordering == LLVM::AtomicOrdering::release
                       ? LLVM::AtomicOrdering::monotonic
                       : LLVM::AtomicOrdering::acquire;
  auto exchange =
      LLVM::AtomicCmpXchgOp::create(b, pointer, seen, asInteger(updated), ordering, onFailure, StringRef(), alignment);
  Value actual = LLVM::ExtractValueOp::create(b, exchange.getResult(), ArrayRef<int64_t>{0});
  Value success = LLVM::ExtractValueOp::create(b, exchange.getResult(), ArrayRef<int64_t>{1});
  Value again = arith::XOrIOp::create(b, success, b.constant(b.getI1Type(), 1));
  scf::ConditionOp::create(b, again, ValueRange{actual});
  Block *after = b.createBlock(&loop.getAfter(), {}, {integer}, {b.getLoc()});
  scf::YieldOp::create(b, ValueRange{after->getArgument(0)});
  b.setInsertionPointAfter(loop);
  Value final = loop.getResult(0);
  return inRegister == integer ? final : Value(arith::BitcastOp::create(b, inRegister, final));
}

// Each element by a locked instruction.
void Lowering::updateLocked(Operation *op, std::optional<Buffer> &old) {
  Value result = op->getResult(0);
  Value mask = isa<tile::AtomicRmwOp>(op) ? cast<tile::AtomicRmwOp>(op).getMask() : Value();
  SmallVector<Value> evaluated(op->getOperands());
  Nest nest(*this, tile::shapeOf(result.getType()));
  nest.emitLoops(
      [&](Nest &inner) {
        Coordinates coordinates = inner.identity(inner.shape.size());
        auto value = [&](Value operand) {
          return inner.vectorOf(inner.evaluate(operand, coordinates), getElementTypeOrSelf(operand.getType()));
        };
        Value pointer = value(op->getOperand(0));
        SmallVector<Value> values;
        for (Value operand : op->getOperands().drop_front())
          if (operand != mask)
            values.push_back(value(operand));
        Value before;
        if (mask) {
          Type type = registerType(getElementTypeOrSelf(result.getType()));
          auto branch = scf::IfOp::create(b, TypeRange{type}, value(mask), /*withElse=*/true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          scf::YieldOp::create(b, atomicElement(op, pointer, values));
          b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(b, b.zero(type));
          before = branch.getResult(0);
        } else {
          before = atomicElement(op, pointer, values);
        }
        if (old)
          inner.writeBuffer(*old, Lanes::uniform(before), coordinates);
      },
      evaluated, /*maxWidth=*/1);
}

static constexpr int64_t chosenLanes = 64; // of a mask that are looked at together

// Whether the mask picks elements here and there. A mask that covers a prefix of the lanes needs no search for them.
bool Lowering::isChosen(tile::AtomicRmwOp op) {
  ArrayRef<int64_t> shape = tile::shapeOf(op.getType());
  int64_t count = cast<RankedTensorType>(op.getType()).getNumElements();
  if (!op.getMask() || count % chosenLanes != 0)
    return false;
  auto isPlain = [&](Value value) {
    const Buffer *made = buffer(value);
    int64_t stride = 1;
    for (size_t axis = shape.size(); made && axis-- > 0; stride *= shape[axis])
      if (made->strides[axis] != stride)
        return false;
    return true;
  };
  Nest nest(*this, shape);
  Coordinates coordinates = nest.identity(shape.size());
  return isPlain(op.getMask()) && isPlain(op.getPointer()) && isPlain(op.getValue()) &&
         !nest.holdsForPrefix(op.getMask(), coordinates) &&
         !nest.growsBy(op.getPointer(), coordinates, byteSize(getElementTypeOrSelf(op.getType())));
}

// Read, combined and written back; whole vectors at a time where the addresses are proved to be neighbours, since none
// of them is another's then.
void Lowering::updateAlone(tile::AtomicRmwOp op, std::optional<Buffer> &old) {
  Type element = getElementTypeOrSelf(op.getType());
  int64_t size = byteSize(element);
  ArrayRef<int64_t> shape = tile::shapeOf(op.getType());
  bool areNeighbours = Nest(*this, shape).growsBy(op.getPointer(), Nest(*this, shape).identity(shape.size()), size) ||
                       planted(PlantedBug::AtomicDuplicates);
  SmallVector<Value> evaluated(op->getOperands());
  Nest nest(*this, shape);
  nest.emitLoops(
      [&](Nest &inner) {
        Coordinates coordinates = inner.identity(shape.size());
        Lanes pointer = inner.evaluate(op.getPointer(), coordinates);
        Value value = inner.vectorOf(inner.evaluate(op.getValue(), coordinates), element);
        std::optional<Lanes> mask;
        if (op.getMask())
          mask = inner.evaluate(op.getMask(), coordinates);
        auto lanesOf = [&](Value of) { return inner.width > 1 ? Lanes::varying(of) : Lanes::uniform(of); };
        auto update = [&](std::optional<Lanes> where) {
          Value before = inner.vectorOf(inner.load(element, pointer, where, std::nullopt, false), element);
          inner.store(element, pointer, lanesOf(updatedElement(b, op, before, value)), where);
          return before;
        };
        Value before;
        if (mask && inner.width == 1) { // one branch for both accesses
          Type type = registerType(element);
          auto branch = scf::IfOp::create(b, TypeRange{type}, inner.maskVector(*mask), /*withElse=*/true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          scf::YieldOp::create(b, update({}));
          b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(b, b.zero(type));
          before = branch.getResult(0);
        } else {
          before = update(mask);
        }
        if (old)
          inner.writeBuffer(*old, lanesOf(before), coordinates);
      },
      evaluated, areNeighbours ? target.vectorBytes / size : 1);
}

// Under a mask that is data: it is looked at many elements at a time, and those that are set are visited one by one.
void Lowering::updateChosen(tile::AtomicRmwOp op, std::optional<Buffer> &old) {
  Block *owner = op->getBlock();
  Type element = getElementTypeOrSelf(op.getType());
  int64_t count = cast<RankedTensorType>(op.getType()).getNumElements(), size = byteSize(element);
  Buffer mask = inMemory(op.getMask(), owner), pointers = inMemory(op.getPointer(), owner),
         values = inMemory(op.getValue(), owner);
  if (old && !planted(PlantedBug::StaleAtomicResult))
    LLVM::MemsetOp::create(b, old->pointer, b.constant(b.getI8Type(), 0), b.index(count * size), false);
  auto visit = [&](Value place) {
    Value pointer = b.load(b.pointerType(), b.advance(pointers.pointer, place, 8), 8);
    Value value = b.fromMemory(b.load(memoryType(element), b.advance(values.pointer, place, size), size), element);
    Value before = b.fromMemory(b.load(memoryType(element), pointer, size), element);
    b.store(b.toMemory(updatedElement(b, op, before, value), element), pointer, size);
    if (old)
      b.store(b.toMemory(before, element), b.advance(old->pointer, place, size), size);
  };
  Type bytes = b.vectorType(b.getI8Type(), chosenLanes), bits = b.getIntegerType(chosenLanes);
  b.loop(count / chosenLanes, [&](Value step) {
    Value start = b.mul(step, b.index(chosenLanes));
    Value chunk = b.load(bytes, b.offsetBytes(mask.pointer, start), 1);
    Value chosen = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, chunk, b.zero(bytes));
    Value set = LLVM::BitcastOp::create(b, bits, chosen);
    auto visits = scf::WhileOp::create(b, TypeRange{bits}, ValueRange{set});
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&visits.getBefore(), {}, {bits}, {b.getLoc()});
    Value left = before->getArgument(0), none = b.constant(bits, 0);
    scf::ConditionOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, left, none), ValueRange{left});
    Block *after = b.createBlock(&visits.getAfter(), {}, {bits}, {b.getLoc()});
    left = after->getArgument(0);
    visit(b.add(start, math::CountTrailingZerosOp::create(b, left)));
    Value fewer = arith::SubIOp::create(b, left, b.constant(bits, 1));
    scf::YieldOp::create(b, ValueRange{arith::AndIOp::create(b, left, fewer)});
  });
}

Value Lowering::isAloneWithAtomics() {
  if (aloneWithAtomics)
    return aloneWithAtomics;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(frameAnchor);
  Value answer = callContext(offsetof(KernelContext, aloneWithAtomics), {}, b.getI32Type());
  return aloneWithAtomics = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, answer, b.constant(b.getI32Type(), 0));
}

void Lowering::lowerAtomic(Operation *op) {
  Value result = op->getResult(0);
  std::optional<Buffer> old;
  if (!result.use_empty())
    old = allocate(cast<RankedTensorType>(result.getType()), op->getBlock());
  // Others than this process may look at what is atomic for the whole system.
  auto rmw = dyn_cast<tile::AtomicRmwOp>(op);
  if (rmw && rmw.getScope() != tile::MemoryScope::System) {
    auto branch = scf::IfOp::create(b, TypeRange{}, isAloneWithAtomics(), /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    if (isChosen(rmw))
      updateChosen(rmw, old);
    else
      updateAlone(rmw, old);
    b.setInsertionPointToStart(branch.elseBlock());
    updateLocked(op, old);
  } else {
    updateLocked(op, old);
  }
  if (old)
    hold(result, *old);
}
