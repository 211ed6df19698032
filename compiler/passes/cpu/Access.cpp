// Loads and stores of a nest's lanes: one vector access where the addresses are neighbours, one scalar access where
// they are the same, a gather or scatter otherwise.
#include "compiler/passes/cpu/Nest.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static bool isTrue(const std::optional<Lanes> &mask) {
  return !mask || (mask->isUniform() && Emit::isKnown(mask->value, -1));
}

Lanes Nest::load(Type element, const Lanes &pointer, std::optional<Lanes> mask, std::optional<Lanes> other,
                 bool isVolatile) {
  int64_t size = byteSize(element);
  Type memory = memoryType(element), inRegister = registerType(element);
  if (!pointer.isUniform() || (mask && !mask->isUniform()))
    mask = withinSpan(mask);
  if (mask && mask->isUniform() && Emit::isKnown(mask->value, 0))
    return other ? *other : Lanes::uniform(b.zero(inRegister));
  bool unmasked = isTrue(mask);
  auto otherVector = [&]() -> Value {
    if (other && !planted(PlantedBug::MaskedLoadOther))
      return b.toMemory(vectorOf(*other, element), element);
    return b.zero(b.vectorType(memory, width));
  };

  bool maskIsUniform = unmasked || mask->isUniform() || width == 1;
  if (pointer.isUniform() && maskIsUniform) {
    if (unmasked)
      return Lanes::uniform(b.fromMemory(b.load(memory, pointer.value, size, isVolatile), element));
    Value condition = width == 1 ? maskVector(*mask) : mask->value;
    bool scalarOther = !other || other->isUniform() || width == 1;
    Value otherwise = other && scalarOther ? other->value : b.zero(inRegister);
    auto branch = scf::IfOp::create(b, TypeRange{inRegister}, condition, /*withElse=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, b.fromMemory(b.load(memory, pointer.value, size, isVolatile), element));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, otherwise);
    }
    if (scalarOther)
      return Lanes::uniform(branch.getResult(0));
    return Lanes::varying(
        b.select(b.splat(condition, width), b.splat(branch.getResult(0), width), vectorOf(*other, element)));
  }

  VectorType type = b.vectorType(memory, width);
  if (pointer.isLinear() && Emit::isKnown(pointer.stride, size)) {
    if (unmasked)
      return Lanes::varying(b.fromMemory(b.load(type, pointer.value, size, isVolatile), element));
    Value loaded = LLVM::MaskedLoadOp::create(b, type, pointer.value, maskVector(*mask), otherVector(), size);
    return Lanes::varying(b.fromMemory(loaded, element));
  }
  if (pointer.isLinear() && Emit::isKnown(pointer.stride, -size)) { // neighbours, the last one first
    Value lowest = b.offsetBytes(pointer.value, b.index(-(width - 1) * size));
    auto reversedMask = [&] {
      Value lanes = maskVector(*mask);
      return planted(PlantedBug::ReversedLoadMask) ? lanes : reversed(lanes);
    };
    Value loaded = unmasked ? b.load(type, lowest, size, isVolatile)
                            : Value(LLVM::MaskedLoadOp::create(b, type, lowest, reversedMask(),
                                                               reversed(otherVector()), size));
    return Lanes::varying(b.fromMemory(reversed(loaded), element));
  }
  if (pointer.isLinear() && Emit::known(pointer.stride)) {
    int64_t stride = *Emit::known(pointer.stride);
    if (stride % size == 0 && stride / size >= 2 && stride / size <= 4 && width >= 4) {
      Value picked = loadInterleaved(memory, pointer.value, stride / size, unmasked ? std::nullopt : mask);
      if (!unmasked)
        picked = b.select(maskVector(*mask), picked, otherVector());
      return Lanes::varying(b.fromMemory(picked, element));
    }
  }
  Value pointers = vectorOf(pointer, tile::PointerType::get(element));
  Value lanesMask = unmasked ? b.constant(b.vectorType(b.getI1Type(), width), 1) : maskVector(*mask);
  Value gathered = LLVM::masked_gather::create(b, type, pointers, lanesMask, ValueRange{otherVector()}, size);
  return Lanes::varying(b.fromMemory(gathered, element));
}

// A term of an address: a vector of i64 where it varies along the lanes, else one i64.
Value Nest::evaluateTerm(const AccessTerm &term, const Coordinates &coordinates) {
  Value factor = b.index(term.constant);
  for (Value scalar : term.scalars)
    factor = b.mul(factor, b.toI64(lowering.scalar(scalar)));
  if (term.axis < 0 && term.isAffine())
    return factor;
  int level = term.axis < 0 ? -1 : coordinates[term.axis];
  Lanes place;
  if (term.isAffine()) {
    Value first = level < 0 ? b.index(0) : indices[level];
    place = level == lane ? Lanes::linear(first, b.index(1)) : Lanes::uniform(first);
  } else {
    Coordinates ofTile(isTile(term.tile) ? tile::shapeOf(term.tile.getType()).size() : 0, -1);
    if (term.axis >= 0)
      ofTile[term.tileAxis] = level;
    place = evaluate(term.tile, ofTile);
  }
  if (place.isUniform())
    return b.mul(b.toI64(place.value), factor);
  Value vector = place.isLinear() && term.isAffine()
                     ? Value(arith::AddIOp::create(b, b.splat(place.value, width), b.iota(b.getI64Type(), width)))
                     : vectorOf(place, getElementTypeOrSelf(term.tile.getType()));
  VectorType type = b.vectorType(b.getI64Type(), width);
  if (vector.getType() != type && planted(PlantedBug::TermZeroExtended))
    vector = arith::ExtUIOp::create(b, type, vector);
  else if (vector.getType() != type)
    vector = arith::ExtSIOp::create(b, type, vector);
  return Emit::isKnown(factor, 1) ? vector : Value(arith::MulIOp::create(b, vector, b.splat(factor, width)));
}

Lanes Nest::loadSplit(tile::LoadOp load, const AccessForm &form, const Coordinates &coordinates) {
  assert(width > 1 && !load.getIsVolatile() && form.base && !isTile(form.base) && "see findSplitLoad");
  Type element = getElementTypeOrSelf(load.getType());
  std::optional<Lanes> mask, other;
  if (load.getMask())
    mask = evaluate(load.getMask(), coordinates);
  if (load.getOther())
    other = evaluate(load.getOther(), coordinates);
  b.setLoc(load.getLoc());
  int64_t size = byteSize(element);
  Value along, across = b.index(0);
  for (const AccessTerm &term : form.terms) {
    Value value = evaluateTerm(term, coordinates);
    if (!isa<VectorType>(value.getType()))
      across = b.add(across, value);
    else
      along = along ? Value(arith::AddIOp::create(b, along, value)) : value;
  }
  Value base = b.advance(lowering.scalar(form.base), across, size);
  if (!along)
    return this->load(element, Lanes::uniform(base), mask, other, /*isVolatile=*/false);
  Value first = b.lane(along, 0);
  Value even = arith::AddIOp::create(b, b.splat(first, width), b.iota(b.getI64Type(), width));
  Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, along, even);
  Value isEven = planted(PlantedBug::SplitAddressFirstPair)
                     ? b.lane(same, 1)
                     : Value(vector::ReductionOp::create(b, vector::CombiningKind::AND, same));
  auto branch = scf::IfOp::create(b, TypeRange{b.vectorType(registerType(element), width)}, isEven, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool atOnce : {true, false}) {
    b.setInsertionPointToStart(atOnce ? branch.thenBlock() : branch.elseBlock());
    Lanes pointer =
        atOnce ? Lanes::linear(b.advance(base, first, size), b.index(size))
               : Lanes::varying(b.offsetBytes(base, arith::MulIOp::create(b, along, b.splat(b.index(size), width))));
    Lanes loaded = this->load(element, pointer, mask, other, /*isVolatile=*/false);
    scf::YieldOp::create(b, vectorOf(loaded, element));
  }
  return Lanes::varying(branch.getResult(0));
}

Value Nest::reversed(Value vector) {
  SmallVector<int64_t> lanes;
  for (int64_t i = width - 1; i >= 0; --i)
    lanes.push_back(i);
  return vector::ShuffleOp::create(b, vector, vector, lanes);
}

// Whether the value is computed from what a load gave.
static bool comesFromMemory(Value value, DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(value).second)
    return false;
  return isa<tile::LoadOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return comesFromMemory(operand, seen); });
}

// Where the next program, or the next iteration, will read or write: as far on, most likely, as this one's row is from
// the last one's. Memory can bring it meanwhile. Worth it for a row that is read a second time, and so is near by then;
// and for the short rows of a tile, which end before the machine has seen that they are rows.
void Nest::prefetchNext(Value key, Value pointers, const Lanes &pointer, const Coordinates &coordinates, bool isWrite) {
  constexpr int64_t line = 64;
  std::optional<int64_t> step = pointer.isLinear() ? Emit::known(pointer.stride) : std::nullopt;
  if (!step || *step <= 0 || *step > line ||
      order.back() != lane) // lines with nothing of the row between are not worth it
    return;
  if (DenseSet<Value> seen; comesFromMemory(pointers, seen)) // the next row is anywhere
    return;
  Value &ahead = nextProgram[key];
  if (!ahead) {
    Value start = evaluateElement(pointers, coordinates, 0);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(positions[order.size() - 1].anchor);
    int64_t rows = 1;
    Value row = b.index(0);
    for (int level : order)
      if (level != lane) {
        row = b.add(b.mul(row, b.index(shape[level])), indices[level]);
        rows *= shape[level];
      }
    Value last = b.advance(lowering.allocateKept(8 * rows), row, 8);
    Value now = LLVM::PtrToIntOp::create(b, b.getI64Type(), start);
    // Programs of rows that are one line each end before memory has answered: it is asked for one of those after the
    // next.
    constexpr int64_t bytesAhead = 16 << 10, mostAhead = 8;
    int64_t rowBytes = shape[lane] * *step, programs = 1;
    while (rowBytes <= line && programs < mostAhead && programs * rows * rowBytes < bytesAhead)
      programs *= 2;
    ahead = b.mul(b.sub(now, b.load(b.getI64Type(), last, 8)), b.index(programs));
    b.store(now, last, 8);
  }
  Value next = b.offsetBytes(pointer.value, ahead);
  for (int64_t offset = 0; offset < width * *step; offset += line)
    LLVM::Prefetch::create(b, b.offsetBytes(next, b.index(offset)), /*rw=*/isWrite, /*hint=*/2, /*cache=*/1);
}

bool Nest::hasShortRows(int64_t elementSize) {
  constexpr int64_t shortBytes = 1024, mostRows = 256;
  int64_t rows = 1;
  for (int64_t extent : shape)
    rows *= extent;
  rows /= shape[lane];
  int64_t bytes = shape[lane] * elementSize;
  return rows > 1 && rows <= mostRows && bytes >= 64 && bytes <= shortBytes && !lowering.multiplies() &&
         !lowering.takesTurns;
}

// Every `step`-th element from `pointer` on, as interleaved channels lie in memory: whole vectors cover exactly the
// span from the first to the last of them (the last vector overlaps its neighbour rather than reach beyond), and
// shuffles pick. Under a mask only elements that are asked for are read, or those between them.
Value Nest::loadInterleaved(Type memory, Value pointer, int64_t step, const std::optional<Lanes> &lanesMask) {
  int64_t size = byteSize(memory), span = step * (width - 1) + 1;
  VectorType type = b.vectorType(memory, width);
  auto load = [&](int64_t first) -> Value {
    Value address = b.offsetBytes(pointer, b.index(first * size));
    if (!lanesMask)
      return b.load(type, address, size);
    Value read;
    if (lanesMask->isVarying()) { // the elements of its lanes alone
      Value none = b.zero(b.vectorType(b.getI1Type(), width));
      SmallVector<int64_t> from;
      for (int64_t i = 0; i < width; ++i)
        from.push_back((first + i) % step == 0 ? (first + i) / step : width);
      read = vector::ShuffleOp::create(b, lanesMask->value, none, from);
    } else {
      Value count = lanesMask->isPrefix() ? lanesMask->value : b.select(lanesMask->value, b.index(width), b.index(0));
      count = b.minSigned(b.maxSigned(count, b.index(0)), b.index(width));
      Value end = b.sub(b.add(b.mul(b.sub(count, b.index(1)), b.index(step)), b.index(1)), b.index(first));
      read = maskVector(Lanes::prefix(end));
    }
    return LLVM::MaskedLoadOp::create(b, type, address, read, b.zero(type), size);
  };
  Value picked;
  SmallVector<int64_t> mask(width, 0);
  for (int64_t part = 0; part < step; ++part) {
    int64_t first = std::min(part * width, span - width);
    if (first != part * width && planted(PlantedBug::InterleavedOverread))
      first = part * width;
    Value piece = load(first);
    for (int64_t i = 0; i < width; ++i) {
      int64_t element = i * step;
      if (part == 0)
        mask[i] = element < width ? element : 0;
      else
        mask[i] = element >= part * width && element < (part + 1) * width ? width + element - first : i;
    }
    if (part == 0)
      picked = vector::ShuffleOp::create(b, piece, piece, mask);
    else
      picked = vector::ShuffleOp::create(b, picked, piece, mask);
  }
  return picked;
}

void Nest::store(Type element, const Lanes &pointer, const Lanes &value, std::optional<Lanes> mask, Value streaming) {
  int64_t size = byteSize(element);
  mask = withinSpan(mask);
  bool unmasked = isTrue(mask);
  if (width == 1) {
    Value stored = b.toMemory(value.isPrefix() ? maskVector(value) : value.value, element);
    if (unmasked)
      return b.store(stored, pointer.value, size);
    auto branch = scf::IfOp::create(b, TypeRange{}, maskVector(*mask), /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    return b.store(stored, pointer.value, size);
  }
  Value vector = b.toMemory(vectorOf(value, element), element);
  if (pointer.isLinear() && Emit::isKnown(pointer.stride, size)) {
    if (unmasked && streaming && width * size % 64 == 0) {
      Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), pointer.value);
      Value low = arith::AndIOp::create(b, address, b.index(63));
      Value aligned = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, low, b.index(0));
      auto branch = scf::IfOp::create(b, TypeRange{}, arith::AndIOp::create(b, streaming, aligned), /*withElse=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      LLVM::StoreOp::create(b, vector, pointer.value, /*alignment=*/64, /*isVolatile=*/false, /*isNonTemporal=*/true);
      b.setInsertionPointToStart(branch.elseBlock());
      return b.store(vector, pointer.value, size);
    }
    if (unmasked)
      return b.store(vector, pointer.value, size);
    LLVM::MaskedStoreOp::create(b, vector, pointer.value, maskVector(*mask), size);
    return;
  }
  if (pointer.isLinear() && Emit::isKnown(pointer.stride, -size)) {
    Value lowest = b.offsetBytes(pointer.value, b.index(-(width - 1) * size));
    if (unmasked)
      return b.store(reversed(vector), lowest, size);
    Value lanes = maskVector(*mask);
    if (!planted(PlantedBug::ReversedStoreMask))
      lanes = reversed(lanes);
    LLVM::MaskedStoreOp::create(b, reversed(vector), lowest, lanes, size);
    return;
  }
  // Lanes that share an address are written in order: the last one stays.
  unmasked = unmasked || planted(PlantedBug::ScatterMask);
  Value lanesMask = unmasked ? b.constant(b.vectorType(b.getI1Type(), width), 1) : maskVector(*mask);
  LLVM::masked_scatter::create(b, vector, vectorOf(pointer, tile::PointerType::get(element)), lanesMask, size);
}

// ---- Scratch buffers

Value Buffer::at(Emit &b, ArrayRef<Value> index) const {
  Value offset = b.index(0);
  for (auto [place, stride] : llvm::zip_equal(index, strides))
    offset = b.add(offset, b.mul(place, b.index(stride)));
  return b.advance(pointer, offset, byteSize(element));
}

// The address of the buffer's element at the coordinates (of the first lane), and the step between lanes in bytes.
static Lanes address(Nest &nest, const Buffer &buffer, const Coordinates &coordinates) {
  Emit &b = nest.b;
  int64_t size = byteSize(buffer.element);
  Value offset = b.index(0);
  int64_t stride = 0;
  for (auto [axis, level] : llvm::enumerate(coordinates)) {
    if (level < 0)
      continue;
    offset = b.add(offset, b.mul(nest.indices[level], b.index(buffer.strides[axis] * size)));
    if (level == nest.lane)
      stride += buffer.strides[axis] * size;
  }
  Value pointer = b.offsetBytes(buffer.pointer, offset);
  if (nest.width == 1 || stride == 0)
    return Lanes::uniform(pointer);
  return Lanes::linear(pointer, b.index(stride));
}

Lanes Nest::readBuffer(const Buffer &buffer, const Coordinates &coordinates) {
  return load(buffer.element, address(*this, buffer, coordinates), std::nullopt, std::nullopt, false);
}

void Nest::writeBuffer(const Buffer &buffer, const Lanes &value, const Coordinates &coordinates) {
  store(buffer.element, address(*this, buffer, coordinates), value, std::nullopt);
}
