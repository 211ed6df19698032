// What goes from thread to thread through shared memory in the plainest way: every element is written at its row-major
// place, and read where it is wanted.
#include "compiler/ir/layout/Conversion.h"
#include "compiler/passes/gpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

Value Lowering::scratch(Operation *op) {
  constexpr StringLiteral name = "shared_memory";
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    global = LLVM::GlobalOp::create(builder, builder.getUnknownLoc(), type, /*isConstant=*/false,
                                    LLVM::Linkage::External, name, Attribute(), /*alignment=*/1024, /*addrSpace=*/3);
  }
  Value base = atEntry([&]() -> Value {
    return LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 3), global.getSymName());
  });
  auto offset = op->getAttrOfType<IntegerAttr>(offsetAttribute);
  Value own = offset && offset.getInt() ? byteOffset(base, i32(offset.getInt())) : base;
  return acrossBlocks ? machine.clusters()->inFirstBlock(b, own) : own;
}

void Lowering::barrierBefore(Operation *op) {
  // What is ordered is ordered within each block.
  if (acrossBlocks ? !hasClusterMet : !op->hasAttr(orderedAttribute))
    barrier();
}

Value Lowering::sharedElement(Value base, Type element, Value index) {
  return LLVM::GEPOp::create(b, base.getType(), b.getIntegerType(8 * byteSize(element)), base,
                             ArrayRef<LLVM::GEPArg>{index});
}

int64_t nacre::simt::elementsAtOnce(int64_t elements, int64_t bytes, int64_t unit) {
  return elements * bytes <= mostScratchBytes ? elements : mostScratchBytes / bytes / unit * unit;
}

SmallVector<ScratchPart> nacre::simt::scratchParts(int64_t elements, int64_t bytes, int64_t unit) {
  int64_t atOnce = elementsAtOnce(elements, bytes, unit);
  if (atOnce == elements)
    return {ScratchPart{}};
  SmallVector<ScratchPart> parts;
  for (int64_t first = 0; first < elements; first += atOnce)
    parts.push_back({first, std::min(atOnce, elements - first)});
  return parts;
}

Value Lowering::isOfPart(Value &index, ScratchPart part) {
  if (!part.count)
    return {};
  if (part.first)
    index = LLVM::SubOp::create(b, index, i32(part.first));
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, index, i32(part.count));
}

Value Lowering::loadShared(Value base, Type element, Value index, Value predicate, Value otherwise) {
  Type word = b.getIntegerType(8 * byteSize(element));
  otherwise = otherwise ? bitcast(toMemory(otherwise, element), word) : constant(word, 0);
  Value bits = machine.load(b, word, sharedElement(base, element, index), predicate, otherwise, {}).front();
  return fromMemory(bitcast(bits, memoryType(element)), element);
}

void Lowering::storeShared(Value value, Value base, Type element, Value index, Value predicate) {
  Type word = b.getIntegerType(8 * byteSize(element));
  machine.store(b, bitcast(toMemory(value, element), word), sharedElement(base, element, index), predicate, {});
}

void Lowering::writeTile(Value tileValue, Value base, ScratchPart part) {
  Type type = tileValue.getType(), element = getElementTypeOrSelf(type);
  Value holder = isScratchHolder(layoutOf(type));
  for (auto [reg, value] : llvm::enumerate(registers(tileValue))) {
    Value index = elementIndex(type, reg), isHere = isOfPart(index, part);
    storeShared(value, base, element, index, both(both(holder, isInside(type, reg)), isHere));
  }
}

void Lowering::readRegisters(Type type, Value base, ScratchPart part, SmallVectorImpl<Value> &results) {
  results.resize(registerCount(type));
  for (auto [reg, value] : llvm::enumerate(results)) {
    Value index = elementIndex(type, reg), isHere = isOfPart(index, part);
    value = loadShared(base, getElementTypeOrSelf(type), index, both(isInside(type, reg), isHere), value);
  }
}

// Each operand is a box of the result.
static void writeOperands(Lowering &lowering, tile::ConcatenateOp op, Value base, ScratchPart scratchPart) {
  simt::Builder &b = lowering.b;
  ArrayRef<int64_t> shape = tile::shapeOf(op.getType());
  int64_t start = 0;
  for (Value operand : {op.getFirst(), op.getSecond()}) {
    Type part = operand.getType();
    const LinearLayout &layout = layoutOf(part);
    for (auto [reg, value] : llvm::enumerate(lowering.registers(operand))) {
      Value index = lowering.i32(0);
      int64_t stride = 1;
      for (unsigned axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
        Value place = lowering.coordinate(layout, reg, axis);
        if (axis == op.getAxis() && start)
          place = LLVM::AddOp::create(b, place, lowering.i32(start));
        index = LLVM::AddOp::create(b, index, LLVM::MulOp::create(b, place, lowering.i32(stride)));
      }
      Value isHere = lowering.isOfPart(index, scratchPart);
      lowering.storeShared(
          value, base, getElementTypeOrSelf(part), index,
          lowering.both(lowering.both(lowering.isScratchHolder(layout), lowering.isInside(part, reg)), isHere));
    }
    start += tile::shapeOf(part)[op.getAxis()];
  }
}

LogicalResult Lowering::lowerThroughMemory(Operation *op) {
  Value base = scratch(op);
  Type type = op->getResult(0).getType();
  SmallVector<Value> results;
  for (auto [number, part] : llvm::enumerate(
           scratchParts(cast<RankedTensorType>(type).getNumElements(), byteSize(getElementTypeOrSelf(type))))) {
    number ? barrier() : barrierBefore(op);
    if (auto concatenate = dyn_cast<tile::ConcatenateOp>(op))
      writeOperands(*this, concatenate, base, part);
    else
      writeTile(op->getOperand(0), base, part);
    barrier();
    readRegisters(type, base, part, results);
  }
  define(op->getResult(0), results);
  return success();
}

// The thread that holds the element writes it, and all read it.
LogicalResult Lowering::lowerExtract(tile::ExtractOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  Value base = scratch(op);
  barrierBefore(op);
  int64_t index = 0;
  for (auto [place, extent] : llvm::zip(op.getIndex(), type.getShape()))
    index = index * extent + place;
  writeTile(op.getSource(), base, {index, 1});
  barrier();
  define(op, loadShared(base, type.getElementType(), i32(0), Value()));
  return success();
}

// A pair becomes two scalars.
LogicalResult Lowering::lowerScalarSplit(tile::SplitOp op) {
  Type element = getElementTypeOrSelf(op.getSource().getType());
  Value base = scratch(op);
  barrierBefore(op);
  writeTile(op.getSource(), base);
  barrier();
  define(op.getFirst(), loadShared(base, element, i32(0), Value()));
  define(op.getSecond(), loadShared(base, element, i32(1), Value()));
  return success();
}

// ---- Products without matrix instructions: both operands lie in shared memory, and a loop over k adds to each
// thread's own accumulators.

// The value of an operand as the products are made: f64 as it is, other floats in f32, integers in the accumulator's.
static Value asFactor(Lowering &lowering, Value value, Type element, Type accumulator) {
  simt::Builder &b = lowering.b;
  if (isa<IntegerType>(element)) {
    if (element == accumulator)
      return value;
    return LLVM::SExtOp::create(b, accumulator, value);
  }
  return element.isF64() ? value : lowering.convertFloat(value, element, b.getF32Type(), tile::Rounding::NearestEven);
}

LogicalResult Lowering::lowerDot(tile::DotOp op) {
  auto a = cast<RankedTensorType>(op.getA().getType()), bType = cast<RankedTensorType>(op.getB().getType());
  auto type = cast<RankedTensorType>(op.getType());
  const LinearLayout &layout = layoutOf(type);
  unsigned rank = type.getRank(), rows = rank - 2, columns = rank - 1;
  int64_t depth = a.getShape()[rank - 1], width = bType.getShape()[rank - 1], height = a.getShape()[rank - 2];
  Type element = type.getElementType(), sumType = registerType(element);
  bool isFloat = !isa<IntegerType>(element);
  Type working = isFloat && !element.isF64() ? Type(b.getF32Type()) : sumType;

  Value baseA = scratch(op);
  Value baseB = byteOffset(baseA, i32(llvm::alignTo(a.getNumElements() * byteSize(a.getElementType()), 16)));
  barrierBefore(op);
  writeTile(op.getA(), baseA);
  writeTile(op.getB(), baseB);
  barrier();

  unsigned count = registerCount(type);
  SmallVector<Value> sums;
  for (Value value : registers(op.getAccumulator()))
    sums.push_back(isFloat ? convertFloat(value, element, working, tile::Rounding::NearestEven) : value);
  // Where each register's row of A and column of B begin; padding reads row or column 0.
  SmallVector<Value> rowStarts, columnStarts;
  for (unsigned reg = 0; reg < count; ++reg) {
    auto inTile = [&](unsigned axis) {
      Value place = coordinate(layout, reg, axis);
      if (type.getShape()[axis] == layout.extent(axis))
        return place;
      Value inside = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, place, i32(type.getShape()[axis]));
      return Value(LLVM::SelectOp::create(b, inside, place, i32(0)));
    };
    Value row = inTile(rows), column = inTile(columns);
    if (rank == 3) {
      Value batch = inTile(0);
      row = LLVM::AddOp::create(b, row, LLVM::MulOp::create(b, batch, i32(height)));
      column = LLVM::AddOp::create(b, column, LLVM::MulOp::create(b, batch, i32(depth * width)));
    }
    rowStarts.push_back(LLVM::MulOp::create(b, row, i32(depth)));
    columnStarts.push_back(column);
  }
  auto loop = scf::ForOp::create(b, i32(0), i32(depth), i32(1), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    Value rowOfB = LLVM::MulOp::create(b, k, i32(width));
    std::map<uint32_t, Value> left, right; // by the coordinates that a register fixes
    SmallVector<Value> next;
    for (unsigned reg = 0; reg < count; ++reg) {
      uint32_t packed = layout.apply(Position{.reg = reg});
      Value &x = left[packed & ~layout.maskOf(columns)], &y = right[packed & ~layout.maskOf(rows)];
      if (!x)
        x = asFactor(*this, loadShared(baseA, a.getElementType(), LLVM::AddOp::create(b, rowStarts[reg], k), Value()),
                     a.getElementType(), working);
      if (!y)
        y = asFactor(
            *this,
            loadShared(baseB, bType.getElementType(), LLVM::AddOp::create(b, columnStarts[reg], rowOfB), Value()),
            bType.getElementType(), working);
      Value sum = loop.getRegionIterArgs()[reg];
      if (isFloat)
        next.push_back(LLVM::FMAOp::create(b, x, y, sum));
      else
        next.push_back(LLVM::AddOp::create(b, LLVM::MulOp::create(b, x, y), sum));
    }
    scf::YieldOp::create(b, next);
  }
  SmallVector<Value> results;
  for (Value sum : loop.getResults())
    results.push_back(isFloat ? convertFloat(sum, working, element, tile::Rounding::NearestEven) : sum);
  define(op, results);
  return success();
}
