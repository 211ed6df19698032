// Operations that place elements anew: reshape, split, join, concatenate, extract, gather, histogram; and scans, which
// run along an axis. Their operands are in memory; reshape and split only look at it differently.
#include "compiler/passes/cpu/Nest.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// Copies `value` into `target`, whose strides may differ from its shape's own.
static void copyInto(Lowering &lowering, Value value, Buffer target, int64_t offset) {
  Emit &b = lowering.b;
  target.pointer = b.offsetBytes(target.pointer, b.index(offset * byteSize(target.element)));
  lowering.materialise(value, target);
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
      materialise(result, target);
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
    Buffer half = target;
    half.shape.pop_back();
    half.strides.pop_back();
    copyInto(*this, join.getFirst(), half, 0);
    copyInto(*this, join.getSecond(), half, 1);
    hold(join, target);
    return;
  }
  if (auto concatenate = dyn_cast<tile::ConcatenateOp>(op)) {
    Buffer target = allocate(concatenate.getType(), owner);
    int64_t axis = concatenate.getAxis();
    copyInto(*this, concatenate.getFirst(), target, 0);
    copyInto(*this, concatenate.getSecond(), target,
             concatenate.getFirst().getType().getShape()[axis] * target.strides[axis]);
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
          if (histogram.getMask())
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

// ---- Scans: the running values are carried along the axis, vectors of the other axes at a time where there are any.

void Lowering::lowerScan(Operation *op) {
  auto scan = cast<tile::ScanOp>(op);
  Block *owner = op->getBlock();
  SmallVector<Buffer> sources, targets;
  for (auto [operand, result] : llvm::zip(scan.getOperands(), scan.getResults())) {
    sources.push_back(inMemory(operand, owner));
    targets.push_back(allocate(cast<RankedTensorType>(result.getType()), owner));
  }
  ArrayRef<int64_t> shape = sources[0].shape;
  int64_t axis = scan.getAxis(), extent = shape[axis];
  SmallVector<int64_t> others(shape);
  others.erase(others.begin() + axis);
  if (others.empty())
    others.push_back(1);
  Nest nest(*this, others);
  nest.emitLoops(
      [&](Nest &inner) {
        // The buffers seen with the scanned axis fixed at `index`.
        Coordinates coordinates = shape.size() == 1 ? Coordinates{} : inner.identity(others.size());
        auto at = [&](const Buffer &buffer, Value index) {
          Buffer view = buffer;
          view.pointer =
              b.offsetBytes(buffer.pointer, b.mul(index, b.index(buffer.strides[axis] * byteSize(buffer.element))));
          view.strides.erase(view.strides.begin() + axis);
          view.shape.erase(view.shape.begin() + axis);
          return view;
        };
        auto place = [&](Value step) -> Value { return scan.getReverse() ? b.sub(b.index(extent - 1), step) : step; };
        auto read = [&](Value index) {
          SmallVector<Value> values;
          for (Buffer &source : sources)
            values.push_back(inner.vectorOf(inner.readBuffer(at(source, index), coordinates), source.element));
          return values;
        };
        auto write = [&](Value index, ValueRange values) {
          for (auto [target, value] : llvm::zip(targets, values))
            inner.writeBuffer(at(target, index), inner.width > 1 ? Lanes::varying(value) : Lanes::uniform(value),
                              coordinates);
        };
        Value first = place(b.index(0));
        SmallVector<Value> running = read(first);
        write(first, running);
        if (extent == 1)
          return;
        auto loop = scf::ForOp::create(b, b.index(1), b.index(extent), b.index(1), running);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Value index = place(loop.getInductionVar());
        SmallVector<Value> arguments(loop.getRegionIterArgs());
        arguments.append(read(index));
        SmallVector<Value> next = combine(scan.getCombine(), arguments);
        write(index, next);
        scf::YieldOp::create(b, next);
      },
      {}, /*maxWidth=*/shape.size() == 1 ? 1 : target.vectorBytes / 4);
  for (auto [result, target] : llvm::zip(scan.getResults(), targets))
    hold(result, target);
}
