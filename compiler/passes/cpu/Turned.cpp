// See Turned.h.
#include "compiler/passes/cpu/Turned.h"
#include "compiler/support/PlantedBugs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// Exchanges, for each bit, the elements whose row and lane differ in that bit.
void nacre::cpu::transposeSquare(Emit &b, SmallVectorImpl<Value> &vectors) {
  int64_t count = vectors.size();
  for (int64_t bit = 1; bit < count; bit *= 2)
    for (int64_t row = 0; row < count; ++row) {
      if (row & bit)
        continue;
      SmallVector<int64_t> low, high;
      for (int64_t i = 0; i < count; ++i) {
        low.push_back(i & bit ? count + i - bit : i);
        high.push_back(i & bit ? count + i : i + bit);
      }
      Value upper = vectors[row], lower = vectors[row | bit];
      vectors[row] = vector::ShuffleOp::create(b, upper, lower, low);
      vectors[row | bit] = vector::ShuffleOp::create(b, upper, lower, high);
    }
}

void TurnedCopy::emit() {
  Emit &b = lowering.b;
  int64_t size = byteSize(element);
  ArrayRef<int64_t> shape = tile::shapeOf(source.getType());
  int64_t extent = shape[to];
  auto nestOf = [&] {
    Nest nest(lowering, shape);
    nest.runAlong(to);
    nest.runAlong(from);
    nest.movedLevel = to;
    if (member)
      nest.runs(member);
    if (prepare)
      prepare(nest);
    return nest;
  };
  auto addressOfLane = [&](Nest &inner, int64_t lane) {
    SmallVector<Value> index(inner.indices);
    index[from] = b.add(index[from], b.index(lane));
    return at(index);
  };
  auto inRegisters = [&](Nest &inner, const Lanes &lanes) {
    return b.toMemory(inner.vectorOf(lanes, element), element);
  };
  auto storeOneByOne = [&](Nest &inner, const Lanes &lanes) {
    Value vector = inRegisters(inner, lanes);
    for (int64_t i = 0; i < inner.width; ++i)
      b.store(inner.width > 1 ? b.lane(vector, i) : vector, addressOfLane(inner, i), size);
  };

  // A square is as wide as the steps, which may be narrower than asked for.
  if (int64_t width = nestOf().widthOfLoops([](Nest &) {}, source, square); width > 1)
    square = width;
  Nest turned = nestOf();
  turned.movedStep = square;
  turned.emitLoops(
      [&](Nest &inner) {
        Value first = inner.indices[to];
        SmallVector<Value> vectors;
        for (int64_t i = 0; i < square; ++i) {
          inner.moveIndex(first, i);
          Lanes lanes = evaluate(inner);
          if (inner.width != square)
            storeOneByOne(inner, lanes);
          else
            vectors.push_back(inRegisters(inner, lanes));
        }
        inner.moveIndex(first, 0);
        if (inner.width != square)
          return;
        transposeSquare(b, vectors);
        for (auto [i, vector] : llvm::enumerate(vectors))
          b.store(vector, addressOfLane(inner, i), size);
      },
      source, square);
  int64_t rest = extent % square;
  if (rest == 0 || planted(PlantedBug::TurnedEdge))
    return;
  Nest remaining = nestOf();
  remaining.shape[to] = rest;
  remaining.emitLoops(
      [&](Nest &inner) {
        Value index = inner.indices[to];
        inner.moveIndex(index, extent - rest);
        storeOneByOne(inner, evaluate(inner));
        inner.moveIndex(index, 0);
      },
      source, square);
}

static constexpr int64_t leastSquare = 4, mostSquare = 16;

std::optional<int> nacre::cpu::turnedAxis(Nest &nest, Operation *access) {
  auto load = dyn_cast<tile::LoadOp>(access);
  auto store = dyn_cast<tile::StoreOp>(access);
  if ((!load && !store) || (load && load.getIsVolatile()))
    return std::nullopt;
  Value pointer = access->getOperand(0);
  Type element = getElementTypeOrSelf((load ? load.getResult() : store.getValue()).getType());
  if (nest.shape.size() < 2 || nest.shape[nest.lane] < leastSquare || !memoryType(element).isIntOrFloat())
    return std::nullopt;
  int64_t size = byteSize(element);
  // Near neighbours are picked out of whole vectors (Nest::loadInterleaved).
  if (nest.hasNeighbours(pointer, element))
    return std::nullopt;
  for (int64_t step : {2, 3, 4})
    if (load && nest.growsBy(pointer, nest.identity(nest.shape.size()), step * size))
      return std::nullopt;
  for (int axis = static_cast<int>(nest.shape.size()) - 1; axis >= 0; --axis)
    if (axis != nest.lane && nest.shape[axis] >= leastSquare &&
        nest.strideAlong(pointer, axis, /*mayAssume=*/true) == size)
      return axis;
  return std::nullopt;
}

static int64_t squareOf(const VectorTarget &target, Type element, ArrayRef<int64_t> shape, int from, int to) {
  int64_t lanes = std::max<int64_t>(target.vectorBytes / byteSize(element), leastSquare);
  return std::min(
      {lanes, mostSquare, int64_t(1) << llvm::Log2_64(shape[from]), int64_t(1) << llvm::Log2_64(shape[to])});
}

void nacre::cpu::copyTurned(Lowering &lowering, tile::LoadOp load, const Buffer &target, int from, int to) {
  assert(target.strides[to] == 1 && "rows of a square are vectors");
  auto type = cast<RankedTensorType>(load.getType());
  TurnedCopy copy{lowering,
                  load.getResult(),
                  type.getElementType(),
                  from,
                  to,
                  squareOf(lowering.target, type.getElementType(), type.getShape(), from, to),
                  [&](Nest &nest) { return nest.evaluate(load.getResult(), nest.identity(type.getRank())); },
                  [&](ArrayRef<Value> index) { return target.at(lowering.b, index); },
                  load};
  copy.emit();
}

// The value is turned in scratch memory, then stored along its memory.
void Lowering::lowerTurnedStore(tile::StoreOp store, int lane, int axis) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  int rank = type.getRank();
  Type element = type.getElementType();
  Buffer turned = allocate(type, store->getBlock());
  turned.layAlong(axis);
  Value value = store.getValue();
  // Perhaps no other loops run a load that is read again: these fetch ahead for it.
  auto runLoads = [&](Nest &nest) {
    SmallVector<Value> pending{value};
    DenseSet<Value> seen;
    while (!pending.empty()) {
      Value read = pending.pop_back_val();
      Operation *op = read.getDefiningOp();
      if (!op || buffer(read) || !seen.insert(read).second)
        continue;
      if (auto load = dyn_cast<tile::LoadOp>(op); load && isReadAgain(load))
        nest.runs(load);
      else if (isElementwise(op))
        pending.append(op->operand_begin(), op->operand_end());
    }
  };
  TurnedCopy copy{*this,
                  value,
                  element,
                  lane,
                  axis,
                  squareOf(target, element, type.getShape(), lane, axis),
                  [&](Nest &nest) { return nest.evaluate(value, nest.identity(rank)); },
                  [&](ArrayRef<Value> index) { return turned.at(b, index); },
                  /*member=*/nullptr,
                  runLoads};
  copy.emit();

  Nest nest(*this, type.getShape());
  nest.runAlong(axis);
  SmallVector<Value> evaluated{store.getPointer()};
  if (store.getMask())
    evaluated.push_back(nest.bodyMask = store.getMask());
  nest.emitLoops(
      [&](Nest &inner) {
        Coordinates coordinates = inner.identity(rank);
        std::optional<Lanes> mask;
        if (store.getMask())
          mask = inner.evaluate(store.getMask(), coordinates);
        Lanes pointer = inner.evaluate(store.getPointer(), coordinates);
        inner.store(element, pointer, inner.readBuffer(turned, coordinates), mask, isStreaming(store));
      },
      evaluated, target.vectorBytes / byteSize(element) * 2);
}
