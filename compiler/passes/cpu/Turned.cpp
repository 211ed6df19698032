// See Turned.h.
#include "compiler/passes/cpu/Turned.h"
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
    nest.lane = from;
    llvm::erase(nest.order, from);
    llvm::erase(nest.order, to);
    nest.order.push_back(to);
    nest.order.push_back(from);
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
  if (rest == 0)
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

std::optional<int> nacre::cpu::turnedAxis(Lowering &lowering, Operation *access) {
  auto load = dyn_cast<tile::LoadOp>(access);
  auto store = dyn_cast<tile::StoreOp>(access);
  if (!load && !store)
    return std::nullopt;
  Value pointer = access->getOperand(0);
  ArrayRef<int64_t> shape = tile::shapeOf(pointer.getType());
  int rank = shape.size();
  if (rank < 2 || (load && load.getIsVolatile()))
    return std::nullopt;
  Type element = getElementTypeOrSelf((load ? load.getResult() : store.getValue()).getType());
  if (shape[rank - 1] < leastSquare || shape[rank - 2] < leastSquare || !memoryType(element).isIntOrFloat())
    return std::nullopt;
  int64_t size = byteSize(element);
  Nest straight(lowering, shape), turned(lowering, shape);
  turned.lane = rank - 2;
  std::swap(turned.order[rank - 1], turned.order[rank - 2]);
  Coordinates coordinates = straight.identity(rank);
  bool variesAlongLast = straight.dependencies(pointer, coordinates) & (1u << (rank - 1));
  if (!variesAlongLast || straight.growsBy(pointer, coordinates, size) || !turned.growsBy(pointer, coordinates, size))
    return std::nullopt;
  // Near neighbours along the last axis are picked out of whole vectors (Nest::loadInterleaved).
  for (int64_t step : {2, 3, 4})
    if (load && straight.growsBy(pointer, coordinates, step * size))
      return std::nullopt;
  return rank - 2;
}

static int64_t squareOf(const VectorTarget &target, Type element, ArrayRef<int64_t> shape) {
  int64_t lanes = std::max<int64_t>(target.vectorBytes / byteSize(element), leastSquare);
  int rank = shape.size();
  return std::min(
      {lanes, mostSquare, int64_t(1) << llvm::Log2_64(shape[rank - 1]), int64_t(1) << llvm::Log2_64(shape[rank - 2])});
}

// The load's elements, row-major in scratch memory.
void Lowering::lowerTurnedLoad(tile::LoadOp load) {
  auto type = cast<RankedTensorType>(load.getType());
  int rank = type.getRank();
  Buffer target = allocate(type, load->getBlock());
  TurnedCopy copy{*this,
                  load.getResult(),
                  type.getElementType(),
                  /*from=*/rank - 2,
                  /*to=*/rank - 1,
                  squareOf(this->target, type.getElementType(), type.getShape()),
                  [&](Nest &nest) { return nest.evaluate(load.getResult(), nest.identity(rank)); },
                  [&](ArrayRef<Value> index) { return target.at(b, index); },
                  load};
  copy.emit();
  hold(load.getResult(), target);
}

// The value is turned in scratch memory, then stored along its memory.
void Lowering::lowerTurnedStore(tile::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  int rank = type.getRank(), axis = rank - 2;
  Type element = type.getElementType();
  Buffer turned = allocate(type, store->getBlock());
  turned.strides[axis] = 1;
  turned.strides[rank - 1] = type.getShape()[axis];
  Value value = store.getValue();
  TurnedCopy copy{*this,
                  value,
                  element,
                  /*from=*/rank - 1,
                  /*to=*/axis,
                  squareOf(target, element, type.getShape()),
                  [&](Nest &nest) { return nest.evaluate(value, nest.identity(rank)); },
                  [&](ArrayRef<Value> index) { return turned.at(b, index); }};
  copy.emit();

  Nest nest(*this, type.getShape());
  nest.lane = axis;
  std::swap(nest.order[rank - 1], nest.order[axis]);
  SmallVector<Value> evaluated{store.getPointer()};
  if (store.getMask())
    evaluated.push_back(store.getMask());
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
