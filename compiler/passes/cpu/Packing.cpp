// See Packing.h.
#include "compiler/passes/cpu/Packing.h"
#include "compiler/passes/cpu/PackCache.h"
#include "compiler/passes/cpu/SplitAddress.h"
#include "compiler/passes/cpu/Turned.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

Packing::Packing(Lowering &lowering, Operation *op)
    : lowering(lowering), b(lowering.b), op(op), source(op->getOperand(0)),
      blocking(op->getAttrOfType<BlockingAttr>("blocking")), operandType(blocking.getOperand()),
      size(byteSize(operandType)) {}

static Value toComputeType(Emit &b, Value value, Type from, Type to) {
  if (isa<FloatType>(to))
    return convertFloat(b, value, from, to, tile::Rounding::NearestEven);
  if (from == to)
    return value;
  Type type = to;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = b.vectorType(to, vector.getDimSize(0));
  return arith::ExtSIOp::create(b, type, value);
}

Lanes Packing::converted(Nest &nest) {
  Type from = getElementTypeOrSelf(source.getType());
  Lanes lanes = nest.evaluate(source, nest.identity(nest.shape.size()));
  if (isOffset()) { // plus 128, as an unsigned byte
    if (lanes.isUniform())
      return Lanes::uniform(arith::XOrIOp::create(b, lanes.value, b.constant(from, -128)));
    Value vector = nest.vectorOf(lanes, from);
    return Lanes::varying(arith::XOrIOp::create(b, vector, b.constant(vector.getType(), -128)));
  }
  if (from == operandType)
    return lanes;
  if (lanes.isUniform())
    return Lanes::uniform(toComputeType(b, lanes.value, from, operandType));
  return Lanes::varying(toComputeType(b, nest.vectorOf(lanes, from), from, operandType));
}

void Packing::packOnce(const Buffer &packed, llvm::function_ref<void(Value target)> pack) {
  Value target = packed.pointer;
  if (op->hasAttr("kept")) {
    int64_t bytes = byteSize(packed.element);
    for (int64_t extent : packed.shape)
      bytes *= extent;
    lowering.keepFor(op->getResult(0), packed.pointer);
    target = PackCache(lowering, op, op->getOperands().drop_front()).emit(packed.pointer, bytes, pack);
  } else {
    pack(target);
  }
  lowering.hold(op->getResult(0), {target, packed.element, packed.shape, packed.strides});
}

void Packing::run() {
  if (isa<PanelsOp>(op))
    return packPanels();
  const Buffer *existing = lowering.buffer(source);
  if (existing && existing->element == operandType && existing->strides.back() == 1 && !isOffset())
    return lowering.hold(op->getResult(0), Buffer(*existing));
  if (isOffset() || !readInPlace())
    packRows();
}

// ---- Rows

void Packing::packRows() {
  Buffer packed = lowering.allocate(operandType, tile::shapeOf(source.getType()), op->getBlock());
  packOnce(packed, [&](Value target) {
    pack(
        target,
        [&](ArrayRef<Value> index) {
          Value offset = b.index(0);
          for (auto [axis, stride] : llvm::enumerate(packed.strides))
            offset = b.add(offset, b.mul(index[axis], b.index(stride)));
          return offset;
        },
        blocking.getK());
  });
}

// Whether the mask is a conjunction of conditions on one axis each, so that it holds everywhere when it holds along
// both edges.
static bool isSeparable(Nest &nest, Value mask, const Coordinates &coordinates) {
  if (auto conjunction = mask.getDefiningOp<arith::AndIOp>())
    return isSeparable(nest, conjunction.getLhs(), coordinates) && isSeparable(nest, conjunction.getRhs(), coordinates);
  return llvm::popcount(nest.dependencies(mask, coordinates)) <= 1;
}

// The addresses of the rows in the caller's memory, when the operand is a load of contiguous rows. Whether a mask cuts
// them short is only known when the program runs: then they are packed after all, and the addresses are those of the
// packed rows.
bool Packing::readInPlace() {
  auto load = source.getDefiningOp<tile::LoadOp>();
  if (!load || lowering.plan.place(load) != nacre::cpu::Place::Deferred ||
      getElementTypeOrSelf(source.getType()) != operandType || tile::shapeOf(source.getType()).size() != 2)
    return false;
  // Along an edge the other axis stands at its first index.
  Nest both(lowering, {blocking.getM(), blocking.getK()}), alongRows(lowering, {blocking.getM()}),
      alongK(lowering, {blocking.getK()});
  Coordinates whole = both.identity(2), rowsEdge{0, -1}, kEdge{-1, 0};
  if (!both.growsBy(load.getPointer(), whole, size))
    return false;
  Value mask = load.getMask();
  if (mask && !(isSeparable(both, mask, whole) && alongRows.tellsThroughout(mask, rowsEdge) &&
                alongK.tellsThroughout(mask, kEdge)))
    return false;

  Value result = op->getResult(0);
  Type pointerElement = getElementTypeOrSelf(load.getPointer().getType());
  Buffer rows = lowering.allocate(pointerElement, {blocking.getM()}, op->getBlock());
  lowering.keepFor(result, rows.pointer);
  alongRows.emitLoops([&](Nest &inner) { inner.writeBuffer(rows, inner.evaluate(load.getPointer(), rowsEdge), {0}); },
                      {}, lowering.target.vectorBytes / 8);
  if (mask) {
    Nest maskRows(lowering, {blocking.getM()});
    Value complete =
        arith::AndIOp::create(b, maskRows.holdsThroughout(mask, rowsEdge), alongK.holdsThroughout(mask, kEdge));
    Value cut = arith::XOrIOp::create(b, complete, b.constant(b.getI1Type(), 1));
    auto branch = scf::IfOp::create(b, TypeRange{}, cut, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Buffer packed = lowering.allocate(operandType, tile::shapeOf(source.getType()), op->getBlock());
    lowering.keepFor(result, packed.pointer);
    pack(
        packed.pointer,
        [&](ArrayRef<Value> index) { return b.add(b.mul(index[0], b.index(blocking.getK())), index[1]); },
        blocking.getK());
    b.loop(blocking.getM(), [&](Value row) {
      b.store(b.advance(packed.pointer, row, blocking.getK() * size), b.advance(rows.pointer, row, 8), 8);
    });
  }
  // A loop's next tile is likely as far on as this one is from the last.
  RowTable table{rows.pointer, {}};
  if (op->getParentOfType<scf::ForOp>()) {
    Value last = lowering.allocateKept(8);
    Value now = LLVM::PtrToIntOp::create(b, b.getI64Type(), b.load(b.pointerType(), rows.pointer, 8));
    table.ahead = b.sub(now, b.load(b.getI64Type(), last, 8));
    b.store(now, last, 8);
  }
  lowering.rowTables[result] = table;
  return true;
}

// ---- Panels

void Packing::packPanels() {
  Buffer packed = lowering.allocate(operandType, tile::shapeOf(op->getResult(0).getType()), op->getBlock());
  int64_t panelShift = llvm::Log2_64(blocking.getPanel());
  // The rows of a group lie side by side: the offset of row k counts those of its group.
  auto place = [&](ArrayRef<Value> index) {
    Value column = index.back(), k = index[index.size() - 2];
    Value inPanel = arith::AndIOp::create(b, column, b.index(blocking.getPanel() - 1));
    Value offset = b.add(b.mul(k, b.index(blocking.getPanel())), b.mul(inPanel, b.index(blocking.getGroup())));
    Value panel = arith::ShRUIOp::create(b, column, b.index(panelShift));
    offset = b.add(offset, b.mul(panel, b.index(blocking.getK() * blocking.getPanel())));
    return index.size() == 3
               ? b.add(offset, b.mul(index[0], b.index(blocking.panelCount() * blocking.getK() * blocking.getPanel())))
               : offset;
  };
  packOnce(packed, [&](Value target) {
    if (blocking.getGroup() > 1)
      packGroups(target, place);
    else
      pack(target, place, blocking.getPanel());
  });
}

// ---- Loops that pack

// Writes the operand, converted, to `target` at the element offset `place` gives for its indices; neighbours along the
// last axis are neighbours there, in runs of `run`. The operand is read along the axis that its memory is contiguous
// in, or is likely to be; when that is not the last one, squares of it are transposed in registers.
void Packing::pack(Value target, Place place, int64_t run) {
  auto address = [&](ArrayRef<Value> index) { return b.offsetBytes(target, b.mul(place(index), b.index(size))); };
  Nest nest(lowering, tile::shapeOf(source.getType())), turned(lowering, nest.shape);
  int last = nest.shape.size() - 1;
  turned.lane = last - 1;
  std::swap(turned.order[last], turned.order[last - 1]);
  auto readsAlong = [&](Nest &other) { return other.readsNeighbours(source, other.identity(other.shape.size())); };
  bool isStraight = readsAlong(nest), isTurned = !isStraight && readsAlong(turned);
  SplitLoad split = isStraight || isTurned ? SplitLoad() : findSplitLoad(lowering, source, last - 1, last);
  if (isTurned || split.load) {
    int64_t square = std::min({blocking.getLanes(), run, int64_t(1) << llvm::Log2_64(nest.shape[last]),
                               int64_t(1) << llvm::Log2_64(nest.shape[last - 1])});
    TurnedCopy copy{
        lowering, source, operandType, last - 1, last, square, [&](Nest &inner) { return converted(inner); }, address};
    if (split.load)
      copy.prepare = [&](Nest &inner) { inner.splitAddressOf(split.load, *split.form); };
    return copy.emit();
  }
  nest.emitLoops(
      [&](Nest &inner) {
        Lanes lanes = converted(inner);
        Value pointer = address(inner.indices);
        inner.store(operandType, inner.width > 1 ? Lanes::linear(pointer, b.index(size)) : Lanes::uniform(pointer),
                    lanes, {});
      },
      source, std::min(blocking.getLanes(), run));
}

// The rows of a group of B at a time, their elements interleaved; where memory is contiguous along k the groups are
// there already.
void Packing::packGroups(Value target, Place place) {
  int64_t group = blocking.getGroup();
  auto address = [&](ArrayRef<Value> index) { return b.offsetBytes(target, b.mul(place(index), b.index(size))); };
  Nest nest(lowering, tile::shapeOf(source.getType())), turned(lowering, nest.shape);
  int last = nest.shape.size() - 1;
  turned.lane = last - 1;
  std::swap(turned.order[last], turned.order[last - 1]);
  auto readsAlong = [&](Nest &other) { return other.readsNeighbours(source, other.identity(other.shape.size())); };
  if (!readsAlong(nest) && readsAlong(turned)) {
    turned.emitLoops(
        [&](Nest &inner) {
          Value vector = inner.vectorOf(converted(inner), operandType);
          if (inner.width == 1) { // a part of a group
            SmallVector<Value> index(inner.indices);
            Value k = index[last - 1], part = arith::AndIOp::create(b, k, b.index(group - 1));
            index[last - 1] = b.sub(k, part);
            b.store(vector, b.advance(address(index), part, size), size);
            return;
          }
          assert(inner.width % group == 0 && "vectors have four lanes or more");
          Type joinedType = b.getIntegerType(group * size * 8);
          Value joined = vector::BitCastOp::create(b, b.vectorType(joinedType, inner.width / group), vector);
          for (int64_t i = 0; i < inner.width / group; ++i) {
            SmallVector<Value> index(inner.indices);
            index[last - 1] = b.add(index[last - 1], b.index(group * i));
            b.store(b.lane(joined, i), address(index), size);
          }
        },
        source, blocking.getLanes());
    return;
  }
  nest.movedLevel = last - 1;
  nest.movedStep = group;
  nest.emitLoops(
      [&](Nest &inner) {
        Value first = inner.indices[last - 1];
        SmallVector<Value> rows;
        for (int64_t i = 0; i < group; ++i) {
          inner.moveIndex(first, i);
          rows.push_back(inner.vectorOf(converted(inner), operandType));
        }
        inner.moveIndex(first, 0);
        Value pointer = address(inner.indices);
        if (inner.width == 1) {
          for (auto [i, row] : llvm::enumerate(rows))
            b.store(row, b.offsetBytes(pointer, b.index(i * size)), size);
          return;
        }
        // Row i with row i + half, until one vector holds them all.
        for (size_t half = rows.size() / 2; half > 0; half /= 2)
          for (size_t i = 0; i < half; ++i)
            rows[i] = vector::InterleaveOp::create(b, rows[i], rows[i + half]);
        b.store(rows[0], pointer, size);
      },
      source, blocking.getLanes());
}
