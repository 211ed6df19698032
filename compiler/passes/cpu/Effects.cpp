// What touches the world one element at a time: scalar accesses, prints, asserts.
#include "compiler/ir/tile/AccessEffects.h"
#include "compiler/ir/tile/ToldWhen.h"
#include "compiler/passes/cpu/KernelABI.h"
#include "compiler/passes/cpu/Nest.h"
#include "compiler/passes/tile/ScalarKinds.h"
#include "compiler/passes/tile/UserPlace.h"

using namespace mlir;
using namespace nacre::cpu;
using nacre::accessAxisShift;
using nacre::accessHasMask;
using nacre::accessInRows;
using nacre::AccessRow;
using nacre::effectsAttribute;
using nacre::KernelContext;
using nacre::scalarKindOf;
namespace tile = nacre::tile;

Value Lowering::scalarMemoryAccess(Operation *op) {
  auto masked = [&](Value mask, Type result, Value otherwise, llvm::function_ref<Value()> access) -> Value {
    if (!mask)
      return access();
    auto branch =
        scf::IfOp::create(b, result ? TypeRange{result} : TypeRange{}, scalar(mask), /*withElse=*/bool(result));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value value = access();
    if (!result)
      return {};
    scf::YieldOp::create(b, value);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, otherwise);
    return branch.getResult(0);
  };
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    Type element = load.getType(), result = registerType(element);
    Value otherwise = load.getOther() ? scalar(load.getOther()) : load.getMask() ? b.zero(result) : Value();
    return masked(load.getMask(), result, otherwise, [&] {
      return b.fromMemory(
          b.load(memoryType(element), scalar(load.getPointer()), byteSize(element), load.getIsVolatile()), element);
    });
  }
  if (auto store = dyn_cast<tile::StoreOp>(op)) {
    Type element = store.getValue().getType();
    return masked(store.getMask(), {}, {}, [&]() -> Value {
      b.store(b.toMemory(scalar(store.getValue()), element), scalar(store.getPointer()), byteSize(element));
      return {};
    });
  }
  if (auto atomic = dyn_cast<tile::AtomicRmwOp>(op)) {
    Type result = registerType(atomic.getType());
    return masked(atomic.getMask(), result, b.zero(result),
                  [&] { return atomicElement(op, scalar(atomic.getPointer()), scalar(atomic.getValue())); });
  }
  auto cas = cast<tile::AtomicCasOp>(op);
  return atomicElement(op, scalar(cas.getPointer()), {scalar(cas.getExpected()), scalar(cas.getDesired())});
}

// ---- Prints and asserts

Value Lowering::callContext(int64_t offset, ArrayRef<Value> arguments, Type result) {
  Value function = b.load(b.pointerType(), b.offsetBytes(context, b.index(offset)), 8);
  SmallVector<Value> operands = {function, context};
  operands.append(arguments.begin(), arguments.end());
  SmallVector<Type> types(llvm::drop_begin(ValueRange(operands).getTypes()));
  auto type = LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(b.getContext()), types);
  auto call = LLVM::CallOp::create(b, type, operands);
  return result ? call.getResult() : Value();
}

// A private constant with the text and a terminating zero; its address.
static Value globalText(Emit &b, StringRef text) {
  Operation *parent = b.getInsertionBlock()->getParentOp();
  auto module = parent->getParentOfType<ModuleOp>();
  std::string terminated = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), terminated.size());
  std::string name = "text." + std::to_string(std::distance(module.getBody()->begin(), module.getBody()->end()));
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  // No place of its own: line tables are made for what is inside of functions.
  auto global =
      LLVM::GlobalOp::create(builder, builder.getUnknownLoc(), type, /*isConstant=*/true, LLVM::Linkage::Private, name,
                             builder.getStringAttr(terminated), /*alignment=*/1);
  return LLVM::AddressOfOp::create(b, b.pointerType(), global.getSymName());
}

// The program's three coordinates in memory, as the runtime's callbacks take them.
static Value programIdArray(Lowering &lowering, const Buffer &buffer) {
  Emit &b = lowering.b;
  for (int axis = 0; axis < 3; ++axis)
    b.store(lowering.programId[axis], b.offsetBytes(buffer.pointer, b.index(4 * axis)), 4);
  return buffer.pointer;
}

// Where the elements of a tile, or a number, lie in memory.
static Value elementsInMemory(Lowering &lowering, Value operand, Block *owner) {
  if (isTile(operand))
    return lowering.inMemory(operand, owner).pointer;
  Emit &b = lowering.b;
  Type element = operand.getType();
  Buffer buffer = lowering.allocate(element, {1}, owner);
  b.store(b.toMemory(lowering.scalar(operand), element), buffer.pointer, byteSize(element));
  return buffer.pointer;
}

// An array of constants in memory.
static Value constantArray(Lowering &lowering, Type element, ArrayRef<int64_t> values, Block *owner) {
  Emit &b = lowering.b;
  Buffer buffer = lowering.allocate(element, {std::max<int64_t>(1, values.size())}, owner);
  for (auto [i, value] : llvm::enumerate(values))
    b.store(b.constant(element, value), b.offsetBytes(buffer.pointer, b.index(i * byteSize(element))),
            byteSize(element));
  return buffer.pointer;
}

// The place of an operation in a text of the user's: its file, line and column as arguments of a callback.
static SmallVector<Value> placeOf(Emit &b, Operation *op) {
  nacre::UserPlace place = nacre::userPlace(op->getLoc());
  return {globalText(b, place.file), b.constant(b.getI32Type(), place.line), b.constant(b.getI32Type(), place.column)};
}

// Tiles as arguments of a callback: their number, kinds, shapes and elements (KernelABI.h: print).
static SmallVector<Value> tilesInMemory(Lowering &lowering, OperandRange operands, ArrayRef<bool> isSigned,
                                        Block *owner) {
  Emit &b = lowering.b;
  int64_t count = operands.size();
  SmallVector<int64_t> kinds, extents;
  SmallVector<Value> data;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Type element = getElementTypeOrSelf(operand.getType());
    ArrayRef<int64_t> shape = tile::shapeOf(operand.getType());
    kinds.push_back(static_cast<int64_t>(scalarKindOf(element, i < isSigned.size() && isSigned[i])) |
                    static_cast<int64_t>(shape.size()) << 8 |
                    static_cast<int64_t>(isa<tile::PointerType>(element)) << 16);
    extents.append(shape.begin(), shape.end());
    data.push_back(elementsInMemory(lowering, operand, owner));
  }
  Buffer pointers = lowering.allocate(b.getI64Type(), {std::max<int64_t>(1, count)}, owner);
  for (auto [i, pointer] : llvm::enumerate(data))
    b.store(pointer, b.offsetBytes(pointers.pointer, b.index(8 * i)), 8);
  return {b.constant(b.getI32Type(), count), constantArray(lowering, b.getI32Type(), kinds, owner),
          constantArray(lowering, b.getI64Type(), extents, owner), pointers.pointer};
}

void Lowering::lowerPrint(Operation *op) {
  auto print = cast<tile::PrintOp>(op);
  SmallVector<Value> tiles = tilesInMemory(*this, print.getOperands(), print.getIsSigned(), op->getBlock());
  Buffer id = allocate(b.getI32Type(), {3}, op->getBlock());
  SmallVector<Value> arguments = {programIdArray(*this, id), globalText(b, print.getPrefix()),
                                  b.constant(b.getI32Type(), print.getHex())};
  llvm::append_range(arguments, tiles);
  callContext(offsetof(KernelContext, print), arguments);
}

// Whether any element of the mask holds: an i1.
static Value holdsAnywhere(Lowering &lowering, Value mask, Block *owner) {
  Emit &b = lowering.b;
  if (!isTile(mask))
    return lowering.scalar(mask);
  Buffer found = lowering.allocate(b.getI64Type(), {1}, owner);
  b.store(b.index(0), found.pointer, 8);
  Nest nest(lowering, tile::shapeOf(mask.getType()));
  nest.emitLoops(
      [&](Nest &inner) {
        Value holds = inner.maskVector(inner.evaluate(mask, inner.identity(inner.shape.size())));
        if (isa<VectorType>(holds.getType()))
          holds = vector::ReductionOp::create(b, vector::CombiningKind::OR, holds);
        auto branch = scf::IfOp::create(b, TypeRange{}, holds, /*withElse=*/false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        b.store(b.index(1), found.pointer, 8);
      },
      mask);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, b.load(b.getI64Type(), found.pointer, 8), b.index(0));
}

void Lowering::lowerTell(Operation *op) {
  auto tell = cast<tile::TellOp>(op);
  Value mask = tile::maskOf(tell);
  OperandRange told = tile::toldBy(tell);
  Block *owner = op->getBlock();
  SmallVector<Value> tiles;
  if (!mask) // it is in memory already
    tiles = tilesInMemory(*this, told, tell.getIsSigned(), owner);
  Buffer id = allocate(b.getI32Type(), {3}, owner);
  // Nobody may be watching.
  Value function = b.load(b.pointerType(), b.offsetBytes(context, b.index(offsetof(KernelContext, tell))), 8);
  Value isThere = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, function, LLVM::ZeroOp::create(b, b.pointerType()));
  auto branch = scf::IfOp::create(b, TypeRange{}, isThere, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (mask) {
    auto rare = scf::IfOp::create(b, TypeRange{}, holdsAnywhere(*this, mask, owner), /*withElse=*/false);
    b.setInsertionPointToStart(rare.thenBlock());
    tiles = tilesInMemory(*this, told, tell.getIsSigned(), owner);
  }
  SmallVector<Value> arguments = {programIdArray(*this, id), b.constant(b.getI32Type(), tell.getKindNumber()),
                                  globalText(b, tell.getSubject())};
  llvm::append_range(arguments, placeOf(b, op));
  llvm::append_range(arguments, tiles);
  callContext(offsetof(KernelContext, tell), arguments);
}

void Lowering::reportUnless(Operation *op, Value holds) {
  auto assertion = cast<tile::AssertOp>(op);
  if (isa<VectorType>(holds.getType()))
    holds = vector::ReductionOp::create(b, vector::CombiningKind::AND, holds);
  Buffer id = allocate(b.getI32Type(), {3}, op->getBlock());
  Value broken = arith::XOrIOp::create(b, holds, b.constant(b.getI1Type(), 1));
  auto branch = scf::IfOp::create(b, TypeRange{}, broken, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> arguments = {programIdArray(*this, id), globalText(b, assertion.getMessage())};
  llvm::append_range(arguments, placeOf(b, op));
  callContext(offsetof(KernelContext, assertFailed), arguments);
}

void Lowering::lowerAssert(Operation *op) {
  Value condition = cast<tile::AssertOp>(op).getCondition();
  if (!isTile(condition))
    return reportUnless(op, scalar(condition));
  Nest nest(*this, tile::shapeOf(condition.getType()));
  nest.emitLoops(
      [&](Nest &inner) {
        reportUnless(op, inner.maskVector(inner.evaluate(condition, inner.identity(inner.shape.size()))));
      },
      condition);
}

// The axis along which the access is best told as rows, if there is one: that of neighbours in memory, else the
// longest.
static std::optional<int> rowAxis(Lowering &lowering, tile::CheckAccessOp check, int64_t elementBytes) {
  ArrayRef<int64_t> shape = tile::shapeOf(check.getPointer().getType());
  std::optional<int> best;
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
    Nest nest(lowering, shape);
    nest.runAlong(axis);
    if (!nest.hasRows(check.getPointer(), check.getMask()))
      continue;
    if (shape[axis] > 1 && nest.growsBy(check.getPointer(), nest.identity(shape.size()), elementBytes))
      return axis;
    if (!best || shape[axis] > shape[*best])
      best = axis;
  }
  return best;
}

// Writes an AccessRow for each row of the tile. An i1: they say all; null: always.
static Value writeRows(Lowering &lowering, tile::CheckAccessOp check, int axis, const Buffer &rows, Block *owner) {
  Emit &b = lowering.b;
  Nest nest(lowering, tile::shapeOf(check.getPointer().getType()));
  nest.runAlong(axis);
  int64_t extent = nest.shape[axis];
  Buffer complete = lowering.allocate(b.getI64Type(), {1}, owner);
  b.store(b.index(1), complete.pointer, 8);
  bool isGuarded = false;
  nest.emitRows(check.getPointer(), check.getMask(),
                [&](const Lanes &pointer, const std::optional<Lanes> &mask, Value guardsHold) {
                  Value number = b.index(0);
                  for (int level = 0; level < static_cast<int>(nest.shape.size()); ++level)
                    if (level != axis)
                      number = b.add(b.mul(number, b.index(nest.shape[level])), nest.indices[level]);
                  Value count = b.index(extent);
                  if (mask && mask->isPrefix())
                    count = b.maxSigned(b.minSigned(mask->value, count), b.index(0));
                  else if (mask)
                    count = b.select(mask->value, count, b.index(0));
                  Value row = b.advance(rows.pointer, number, sizeof(AccessRow));
                  auto set = [&](int64_t offset, Value value) {
                    b.store(value, b.offsetBytes(row, b.index(offset)), 8);
                  };
                  set(offsetof(AccessRow, first), pointer.value);
                  set(offsetof(AccessRow, step), pointer.isLinear() ? pointer.stride : b.index(0));
                  set(offsetof(AccessRow, count), count);
                  if (!guardsHold || (Emit::known(guardsHold) && Emit::isKnown(guardsHold, -1)))
                    return;
                  isGuarded = true;
                  Value before = b.load(b.getI64Type(), complete.pointer, 8);
                  b.store(b.select(guardsHold, before, b.index(0)), complete.pointer, 8);
                });
  if (!isGuarded)
    return {};
  Value all = b.load(b.getI64Type(), complete.pointer, 8);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, all, b.index(0));
}

void Lowering::lowerCheckAccess(Operation *op) {
  auto check = cast<tile::CheckAccessOp>(op);
  Block *owner = op->getBlock();
  Type i32 = b.getI32Type(),
       pointee = cast<tile::PointerType>(getElementTypeOrSelf(check.getPointer().getType())).getPointee();
  ArrayRef<int64_t> shape = tile::shapeOf(check.getPointer().getType());
  auto told = check->getAttrOfType<IntegerAttr>(effectsAttribute);
  int64_t effects = check.getWrites() | (told ? told.getInt() : 0);
  // Nobody checks where the arrays are not known.
  Value null = LLVM::ZeroOp::create(b, b.pointerType());
  Value function = b.load(b.pointerType(), b.offsetBytes(context, b.index(offsetof(KernelContext, checkAccess))), 8);
  Value isThere = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, function, null);
  auto branch = scf::IfOp::create(b, TypeRange{}, isThere, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value extents = constantArray(*this, b.getI64Type(), shape, owner);
  Value id = programIdArray(*this, allocate(i32, {3}, owner));
  auto call = [&](int64_t what, Value addresses, Value mask) {
    SmallVector<Value> arguments = {id,
                                    globalText(b, check.getAccess()),
                                    b.constant(i32, what),
                                    b.constant(i32, scalarKindOf(pointee, /*isSigned=*/true)),
                                    b.constant(i32, byteSize(pointee)),
                                    b.constant(i32, static_cast<int32_t>(check.getArgument())),
                                    b.constant(i32, static_cast<int64_t>(shape.size())),
                                    extents,
                                    addresses,
                                    mask};
    llvm::append_range(arguments, placeOf(b, op));
    callContext(offsetof(KernelContext, checkAccess), arguments);
  };
  auto callWithElements = [&] {
    Value addresses = elementsInMemory(*this, check.getPointer(), owner);
    call(effects, addresses, check.getMask() ? elementsInMemory(*this, check.getMask(), owner) : null);
  };
  std::optional<int> axis = told ? rowAxis(*this, check, byteSize(pointee)) : std::nullopt;
  if (!axis)
    return callWithElements();
  int64_t rowCount = 1;
  for (auto [other, extent] : llvm::enumerate(shape))
    rowCount *= static_cast<int>(other) == *axis ? 1 : extent;
  Buffer rows = allocate(b.getI64Type(), {rowCount * static_cast<int64_t>(sizeof(AccessRow) / 8)}, owner);
  Value saysAll = writeRows(*this, check, *axis, rows, owner);
  int64_t what = effects | accessInRows | (check.getMask() ? accessHasMask : 0) | int64_t(*axis) << accessAxisShift;
  if (!saysAll)
    return call(what, rows.pointer, null);
  auto ways = scf::IfOp::create(b, TypeRange{}, saysAll, /*withElse=*/true);
  b.setInsertionPointToStart(ways.thenBlock());
  call(what, rows.pointer, null);
  b.setInsertionPointToStart(ways.elseBlock());
  callWithElements();
}
