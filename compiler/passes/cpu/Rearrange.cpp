// Operations that place elements anew: reshape, split, join, concatenate, extract, gather, histogram. Their operands
// are in memory; reshape and split only look at it differently.
#include "compiler/passes/cpu/Nest.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// Copies `value` into `target`, whose strides may differ from its shape's own.
static void copyInto(Lowering &lowering, Value value, Buffer target, int64_t offset) {
  Emit &b = lowering.b;
  target.pointer = b.offsetBytes(target.pointer, b.index(offset * byteSize(target.element)));
  lowering.materialize(value, target);
}

void Lowering::lowerRearrangement(Operation *op) {
  Block *owner = op->getBlock();
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    Buffer source = inMemory(reshape.getSource(), owner);
    Buffer view = source;
    view.shape.assign(reshape.getType().getShape().begin(), reshape.getType().getShape().end());
    view.strides.resize(view.shape.size());
    int64_t stride = 1;
    for (int64_t axis = static_cast<int64_t>(view.shape.size()) - 1; axis >= 0; --axis) {
      view.strides[axis] = stride;
      stride *= view.shape[axis];
    }
    hold(reshape, view);
    return;
  }
  if (auto split = dyn_cast<tile::SplitOp>(op)) {
    Buffer source = inMemory(split.getSource(), owner);
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      Value pointer = b.offsetBytes(source.pointer, b.index(i * byteSize(source.element)));
      if (!isTile(result)) {
        scalars[result] =
            b.fromMemory(b.load(memoryType(source.element), pointer, byteSize(source.element)), source.element);
        continue;
      }
      // Whoever forces the halves into memory wants them contiguous, so they are copied out.
      Buffer half = source;
      half.pointer = pointer;
      half.shape.pop_back();
      half.strides.pop_back();
      Buffer target = allocate(cast<RankedTensorType>(result.getType()), owner);
      hold(result, half);
      materialize(result, target);
      hold(result, target);
    }
    return;
  }
  if (auto extract = dyn_cast<tile::ExtractOp>(op)) {
    Buffer source = inMemory(extract.getSource(), owner);
    int64_t offset = 0;
    for (auto [index, stride] : llvm::zip(extract.getIndex(), source.strides))
      offset += index * stride;
    Value pointer = b.offsetBytes(source.pointer, b.index(offset * byteSize(source.element)));
    scalars[extract] =
        b.fromMemory(b.load(memoryType(source.element), pointer, byteSize(source.element)), source.element);
    return;
  }
  if (auto join = dyn_cast<tile::JoinOp>(op)) {
    Buffer target = allocate(join.getType(), owner);
    Type element = target.element;
    int64_t size = byteSize(element);
    Nest nest(*this, join.getFirst().getType().getShape());
    nest.emitLoops(
        [&](Nest &inner) {
          Coordinates coordinates = inner.identity(inner.shape.size());
          SmallVector<Value> index(inner.indices), halves;
          for (Value half : {join.getFirst(), join.getSecond()})
            halves.push_back(b.toMemory(inner.vectorOf(inner.evaluate(half, coordinates), element), element));
          index.push_back(b.index(0));
          Value pointer = target.at(b, index);
          if (inner.width > 1 && halves[0].getType() == halves[1].getType() && memoryType(element).isIntOrFloat())
            return b.store(vector::InterleaveOp::create(b, halves[0], halves[1]), pointer, size);
          for (auto [i, half] : llvm::enumerate(halves))
            for (int64_t lane = 0; lane < inner.width; ++lane)
              b.store(inner.width > 1 ? b.lane(half, lane) : half,
                      b.offsetBytes(pointer, b.index((2 * lane + static_cast<int64_t>(i)) * size)), size);
        },
        {join.getFirst(), join.getSecond()}, this->target.vectorBytes / size);
    hold(join, target);
    return;
  }
  if (auto concatenate = dyn_cast<tile::ConcatenateOp>(op)) {
    Buffer target = allocate(concatenate.getType(), owner);
    int64_t axis = concatenate.getAxis();
    copyInto(*this, concatenate.getFirst(), target, 0);
    int64_t stride = target.strides[planted(PlantedBug::ConcatenateAxis) ? 0 : axis];
    copyInto(*this, concatenate.getSecond(), target, concatenate.getFirst().getType().getShape()[axis] * stride);
    hold(concatenate, target);
    return;
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    Buffer source = inMemory(gather.getSource(), owner);
    Buffer target = allocate(gather.getType(), owner);
    int64_t size = byteSize(source.element);
    Nest nest(*this, gather.getType().getShape());
    nest.emitLoops(
        [&](Nest &inner) {
          Coordinates coordinates = inner.identity(inner.shape.size());
          Value index = inner.vectorOf(inner.evaluate(gather.getIndex(), coordinates),
                                       getElementTypeOrSelf(gather.getIndex().getType()));
          // Beyond the axis is the kernel's mistake, but other memory is never read.
          Value last = b.index(gather.getSource().getType().getShape()[gather.getAxis()] - 1);
          Value place = arith::MinUIOp::create(b, b.toI64(index), last);
          Value offset = b.mul(place, b.index(source.strides[gather.getAxis()]));
          for (auto [axis, stride] : llvm::enumerate(source.strides))
            if (axis != gather.getAxis())
              offset = b.add(offset, b.mul(inner.indices[axis], b.index(stride)));
          Value pointer = b.offsetBytes(source.pointer, b.mul(offset, b.index(size)));
          Lanes value = inner.load(source.element, Lanes::uniform(pointer), std::nullopt, std::nullopt, false);
          inner.writeBuffer(target, value, coordinates);
        },
        ArrayRef<Value>{gather.getIndex()}, /*maxWidth=*/1);
    hold(gather, target);
    return;
  }
  if (auto histogram = dyn_cast<tile::HistogramOp>(op)) {
    Buffer target = allocate(histogram.getType(), owner);
    Type count = target.element;
    int64_t size = byteSize(count), bins = histogram.getType().getShape()[0];
    LLVM::MemsetOp::create(b, target.pointer, b.constant(b.getI8Type(), 0), b.index(bins * size), false);
    Nest nest(*this, histogram.getSource().getType().getShape());
    SmallVector<Value> evaluated{histogram.getSource()};
    if (histogram.getMask())
      evaluated.push_back(histogram.getMask());
    nest.emitLoops(
        [&](Nest &inner) {
          Coordinates coordinates = inner.identity(inner.shape.size());
          Value bin = b.toI64(inner.evaluate(histogram.getSource(), coordinates).value, false);
          Value inRange = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, bin, b.index(bins));
          if (histogram.getMask() && !planted(PlantedBug::HistogramMask))
            inRange =
                arith::AndIOp::create(b, inRange, inner.maskVector(inner.evaluate(histogram.getMask(), coordinates)));
          auto branch = scf::IfOp::create(b, TypeRange{}, inRange, false);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          Value pointer = b.offsetBytes(target.pointer, b.mul(bin, b.index(size)));
          b.store(arith::AddIOp::create(b, b.load(count, pointer, size), b.constant(count, 1)), pointer, size);
        },
        evaluated, /*maxWidth=*/1);
    hold(histogram, target);
    return;
  }
  (void)fail(op, "this operation has no lowering for the CPU");
}
