// Reductions: first within each thread's registers, then between lanes by shuffles, then between warps through shared
// memory, each warp giving one value a row. A layout whose bits move along the axis and others at once, and a tile with
// padding along the axis, go through shared memory element by element.
#include "compiler/passes/gpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

namespace {

// The places of a layout's bits: along the axis, or not; none where a bit does both.
struct AxisBits {
  SmallVector<unsigned> registers, lanes, warps; // along the axis, in the order of their coordinates
};

std::optional<AxisBits> splitBits(const LinearLayout &layout, unsigned axis) {
  uint32_t mask = layout.maskOf(axis);
  AxisBits bits;
  Span seen;
  auto collect = [&](Place place, SmallVectorImpl<unsigned> &along) {
    for (auto [bit, basis] : llvm::enumerate(layout.basesOf(place))) {
      if (!(basis & mask))
        continue;
      if (basis & ~mask || !seen.insert(basis))
        return false;
      along.push_back(bit);
    }
    llvm::sort(along, [&](unsigned left, unsigned right) {
      return layout.basesOf(place)[left] < layout.basesOf(place)[right];
    });
    return true;
  };
  if (!collect(Place::Register, bits.registers) || !collect(Place::Lane, bits.lanes) ||
      !collect(Place::Warp, bits.warps))
    return std::nullopt;
  return bits;
}

// One operation that gives the same for either order of its operands.
bool isCommutative(Region &region) {
  Block &block = region.front();
  return llvm::hasSingleElement(block.without_terminator()) &&
         isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp>(block.front());
}

} // namespace

Value Lowering::shuffleXor(Value value, uint32_t mask) {
  return throughWords(value, [&](Value word) { return machine.shuffleXor(b, word, mask); });
}

Value Lowering::throughWords(Value value, llvm::function_ref<Value(Value)> move) {
  Type type = value.getType(), i32Type = b.getI32Type();
  unsigned width = isa<LLVM::LLVMPointerType>(type) ? 64 : type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  Value bits = bitcast(value, integer);
  if (width < 32) {
    Value wide = LLVM::ZExtOp::create(b, i32Type, bits);
    return bitcast(LLVM::TruncOp::create(b, integer, move(wide)), type);
  }
  if (width == 32)
    return bitcast(move(bits), type);
  auto pair = VectorType::get({2}, i32Type);
  Value words = LLVM::BitcastOp::create(b, pair, bits), moved = LLVM::PoisonOp::create(b, pair);
  for (int64_t i = 0; i < 2; ++i)
    moved = LLVM::InsertElementOp::create(b, pair, moved, move(LLVM::ExtractElementOp::create(b, words, i32(i))),
                                          i32(i));
  return bitcast(LLVM::BitcastOp::create(b, integer, moved), type);
}

Value Lowering::sharedElement(Value base, Type element, Value index) {
  return LLVM::GEPOp::create(b, base.getType(), b.getIntegerType(8 * byteSize(element)), base,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value Lowering::loadShared(Value base, Type element, Value index, Value predicate) {
  Type word = b.getIntegerType(8 * byteSize(element));
  Value bits = machine.load(b, word, sharedElement(base, element, index), predicate, constant(word, 0), {}).front();
  return fromMemory(bitcast(bits, memoryType(element)), element);
}

void Lowering::storeShared(Value value, Value base, Type element, Value index, Value predicate) {
  Type word = b.getIntegerType(8 * byteSize(element));
  machine.store(b, bitcast(toMemory(value, element), word), sharedElement(base, element, index), predicate, {});
}

// Each of several tiles of one shape has its part of the scratch, one after the other.
SmallVector<Value> Lowering::scratchParts(Operation *op, ValueRange tiles, int64_t elements) {
  SmallVector<Value> parts;
  Value base = scratch(op);
  int64_t offset = 0;
  for (Value tile : tiles) {
    parts.push_back(offset ? byteOffset(base, i32(offset)) : base);
    offset += llvm::alignTo(elements * byteSize(getElementTypeOrSelf(tile.getType())), 16);
  }
  return parts;
}

// Element by element: every thread goes along the axis for each row that it holds.
static LogicalResult reduceThroughMemory(Lowering &lowering, tile::ReduceOp op) {
  gpu::Builder &b = lowering.b;
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  unsigned axis = op.getAxis();
  ArrayRef<int64_t> shape = type.getShape();
  int64_t stride = 1;
  for (int64_t extent : shape.drop_front(axis + 1))
    stride *= extent;
  SmallVector<Value> parts = lowering.scratchParts(op, op.getOperands(), type.getNumElements());
  lowering.barrierBefore(op);
  for (auto [operand, part] : llvm::zip(op.getOperands(), parts))
    lowering.writeTile(operand, part);
  lowering.barrier();
  Type resultType = op.getResult(0).getType();
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  for (unsigned reg = 0; reg < Lowering::registerCount(resultType); ++reg) {
    // Where the row begins: the result's coordinates, with 0 along the axis; padding takes row 0.
    Value start = lowering.i32(0);
    int64_t step = 1;
    if (isa<RankedTensorType>(resultType))
      for (unsigned i = shape.size(); i-- > 0; step *= shape[i]) {
        if (i == axis)
          continue;
        Value at = lowering.coordinate(layoutOf(resultType), reg, i < axis ? i : i - 1);
        start = LLVM::AddOp::create(b, start, LLVM::MulOp::create(b, at, lowering.i32(step)));
      }
    if (isa<RankedTensorType>(resultType))
      if (Value inside = lowering.isInside(resultType, reg))
        start = LLVM::SelectOp::create(b, inside, start, lowering.i32(0));
    auto elementsAt = [&](Value index) {
      SmallVector<Value> values;
      for (auto [operand, part] : llvm::zip(op.getOperands(), parts))
        values.push_back(lowering.loadShared(part, getElementTypeOrSelf(operand.getType()), index, Value()));
      return values;
    };
    auto loop = scf::ForOp::create(b, lowering.i32(1), lowering.i32(shape[axis]), lowering.i32(1), elementsAt(start));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value place = LLVM::MulOp::create(b, loop.getInductionVar(), lowering.i32(stride));
      SmallVector<Value> arguments(loop.getRegionIterArgs());
      llvm::append_range(arguments, elementsAt(LLVM::AddOp::create(b, start, place)));
      SmallVector<Value> next = lowering.inlineRegion(op.getCombine(), arguments);
      if (next.empty())
        return failure();
      scf::YieldOp::create(b, next);
    }
    for (auto [values, value] : llvm::zip(results, loop.getResults()))
      values.push_back(value);
  }
  for (auto [result, values] : llvm::zip(op.getResults(), results))
    lowering.define(result, values);
  return success();
}

LogicalResult Lowering::lowerReduce(tile::ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  const LinearLayout &layout = layoutOf(type);
  unsigned axis = op.getAxis();
  std::optional<AxisBits> bits = splitBits(layout, axis);
  if (!bits || type.getShape()[axis] != layout.extent(axis))
    return reduceThroughMemory(*this, op);

  bool failed = false;
  auto combine = [&](ArrayRef<Value> left, ArrayRef<Value> right) {
    SmallVector<Value> arguments(left);
    llvm::append_range(arguments, right);
    SmallVector<Value> results = inlineRegion(op.getCombine(), arguments);
    failed |= results.size() != left.size();
    return failed ? SmallVector<Value>(left) : results;
  };
  // Rows of registers: one set of values for each register whose bits along the axis are 0.
  uint32_t alongAxis = 0;
  for (unsigned bit : bits->registers)
    alongAxis |= uint32_t(1) << bit;
  SmallVector<SmallVector<Value>> rows;
  SmallVector<uint32_t> firstRegisters;
  for (uint32_t first = 0; first < layout.count(Place::Register); ++first) {
    if (first & alongAxis)
      continue;
    SmallVector<SmallVector<Value>> partial;
    for (uint32_t i = 0; i < uint32_t(1) << bits->registers.size(); ++i) {
      uint32_t reg = first;
      for (auto [position, bit] : llvm::enumerate(bits->registers))
        reg |= (i >> position & 1) << bit;
      SmallVector<Value> &values = partial.emplace_back();
      for (Value operand : op.getOperands())
        values.push_back(registers(operand)[reg]);
    }
    while (partial.size() > 1) { // a balanced tree
      for (size_t i = 0; i < partial.size() / 2; ++i)
        partial[i] = combine(partial[2 * i], partial[2 * i + 1]);
      partial.resize(partial.size() / 2);
    }
    rows.push_back(partial.front());
    firstRegisters.push_back(first);
  }
  bool anyOrder = isCommutative(op.getCombine());
  for (unsigned bit : bits->lanes) {
    Value isRight;
    if (!anyOrder) {
      Value own = LLVM::AndOp::create(b, laneId(), i32(int64_t(1) << bit));
      isRight = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, own, i32(0));
    }
    for (SmallVector<Value> &row : rows) {
      SmallVector<Value> left = row, right;
      for (Value value : row)
        right.push_back(shuffleXor(value, uint32_t(1) << bit));
      if (isRight)
        for (auto [a, c] : llvm::zip(left, right)) {
          Value first = LLVM::SelectOp::create(b, isRight, c, a);
          c = LLVM::SelectOp::create(b, isRight, a, c);
          a = first;
        }
      row = combine(left, right);
    }
  }
  if (!bits->warps.empty()) {
    // [row of the tile, warp along the axis]
    int64_t parts = int64_t(1) << bits->warps.size(), count = type.getNumElements() / type.getShape()[axis];
    SmallVector<Value> scratches = scratchParts(op, op.getOperands(), count * parts);
    Value part = i32(0);
    for (auto [position, bit] : llvm::enumerate(bits->warps)) {
      Value own = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, warpId(), i32(bit)), i32(1));
      part = LLVM::OrOp::create(b, part, LLVM::ShlOp::create(b, own, i32(position)));
    }
    // One lane of each row writes: those of the lanes along the axis have all the same.
    Value writer = laneWriter(layout, bits->lanes);
    auto rowIndex = [&](uint32_t reg) {
      Value index = i32(0);
      int64_t stride = 1;
      for (unsigned i = layout.rank(); i-- > 0; stride *= type.getShape()[i]) {
        if (i == axis) {
          stride /= type.getShape()[i];
          continue;
        }
        index = LLVM::AddOp::create(b, index, LLVM::MulOp::create(b, coordinate(layout, reg, i), i32(stride)));
      }
      return Value(LLVM::MulOp::create(b, index, i32(parts)));
    };
    auto isRowInside = [&](uint32_t reg) {
      Value inside;
      for (unsigned i = 0; i < layout.rank(); ++i)
        if (i != axis && type.getShape()[i] != layout.extent(i))
          inside = both(inside, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, coordinate(layout, reg, i),
                                                     i32(type.getShape()[i])));
      return inside;
    };
    barrierBefore(op);
    for (auto [row, reg] : llvm::zip(rows, firstRegisters)) {
      Value index = LLVM::AddOp::create(b, rowIndex(reg), part);
      for (auto [value, place, operand] : llvm::zip(row, scratches, op.getOperands()))
        storeShared(value, place, getElementTypeOrSelf(operand.getType()), index, both(writer, isRowInside(reg)));
    }
    barrier();
    for (auto [row, reg] : llvm::zip(rows, firstRegisters)) {
      Value start = rowIndex(reg), inside = isRowInside(reg);
      SmallVector<Value> sum;
      for (int64_t i = 0; i < parts; ++i) {
        SmallVector<Value> values;
        for (auto [place, operand] : llvm::zip(scratches, op.getOperands()))
          values.push_back(loadShared(place, getElementTypeOrSelf(operand.getType()),
                                      LLVM::AddOp::create(b, start, i32(i)), inside));
        sum = i == 0 ? values : combine(sum, values);
      }
      row = sum;
    }
  }
  if (failed)
    return failure();
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    SmallVector<Value> values;
    for (const SmallVector<Value> &row : rows)
      values.push_back(row[number]);
    define(result, isa<RankedTensorType>(result.getType()) ? ArrayRef<Value>(values)
                                                           : ArrayRef<Value>(values).take_front(1));
  }
  return success();
}

// The lanes with 0 in these bits, and in those that only repeat elements.
Value Lowering::laneWriter(const LinearLayout &layout, ArrayRef<unsigned> laneBits) {
  uint32_t zeroBits = layout.copies(Place::Lane);
  for (unsigned bit : laneBits)
    zeroBits |= uint32_t(1) << bit;
  uint32_t warpCopies = layout.copies(Place::Warp);
  Value result;
  if (zeroBits)
    result = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, LLVM::AndOp::create(b, laneId(), i32(zeroBits)), i32(0));
  if (warpCopies)
    result = both(result, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq,
                                               LLVM::AndOp::create(b, warpId(), i32(warpCopies)), i32(0)));
  return result;
}
