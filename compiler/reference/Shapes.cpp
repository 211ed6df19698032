// Operations that move elements without computing: views where strides can say it, copies where not.
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/Loops.h"

using namespace nacre;

Value EagerBuilder::splat(Value scalar, Shape shape) {
  Buffer &source = bufferOf(scalar);
  return valueOf(makeUniform(withShape(source.type, shape), source, source.data));
}

Value EagerBuilder::expandDims(Value value, int axis) {
  Buffer &source = bufferOf(value);
  llvm::SmallVector<int64_t> shape(source.shape());
  llvm::SmallVector<int64_t, 4> strides(source.strides);
  shape.insert(shape.begin() + axis, 1);
  strides.insert(strides.begin() + axis, 0);
  return valueOf(makeView(source, withShape(source.type, shape), source.data, strides));
}

Value EagerBuilder::broadcast(Value value, Shape shape) {
  Buffer &source = bufferOf(value);
  if (source.shape() == shape)
    return value;
  llvm::SmallVector<int64_t, 4> strides(source.strides);
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (source.shape()[axis] == 1)
      strides[axis] = 0;
  return valueOf(makeView(source, withShape(source.type, shape), source.data, strides));
}

Value EagerBuilder::reshape(Value value, Shape shape) {
  BufferRef source = bufferRef(value);
  if (source->shape() == shape)
    return value;
  Type type = withShape(source->type, shape);
  if (source->isUniform())
    return valueOf(makeUniform(type, *source, source->data));
  source = contiguous(source);
  llvm::SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis])
    strides[axis] = stride;
  return valueOf(makeView(*source, type, source->data, strides));
}

Value EagerBuilder::permute(Value value, llvm::ArrayRef<int> order) {
  Buffer &source = bufferOf(value);
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t, 4> strides;
  for (int axis : order) {
    shape.push_back(source.shape()[axis]);
    strides.push_back(source.strides[axis]);
  }
  return valueOf(makeView(source, withShape(source.type, shape), source.data, strides));
}

Value EagerBuilder::concatenate(Value first, Value second, int axis) {
  Buffer &left = bufferOf(first), &right = bufferOf(second);
  llvm::SmallVector<int64_t> shape(left.shape());
  shape[axis] += right.shape()[axis];
  BufferRef result = makeBuffer(withShape(left.type, shape));
  copyOver(left, *slice(*result, axis, 0, left.shape()[axis]));
  copyOver(right, *slice(*result, axis, left.shape()[axis], right.shape()[axis]));
  return valueOf(result);
}

Value EagerBuilder::join(Value first, Value second) {
  int axis = static_cast<int>(first.type().rank());
  if (axis == 0) {
    Value one = splat(first, {1}), other = splat(second, {1});
    return concatenate(one, other, 0);
  }
  return concatenate(expandDims(first, axis), expandDims(second, axis), axis);
}

std::pair<Value, Value> EagerBuilder::split(Value value) {
  Buffer &source = bufferOf(value);
  Type half = withShape(source.type, source.shape().drop_back());
  llvm::ArrayRef<int64_t> strides = llvm::ArrayRef<int64_t>(source.strides).drop_back();
  std::byte *second = source.data + source.strides.back() * source.elementSize();
  if (!half.isBlock())
    return {valueOf(makeUniform(half, source, source.data)), valueOf(makeUniform(half, source, second))};
  return {valueOf(makeView(source, half, source.data, strides)), valueOf(makeView(source, half, second, strides))};
}

Value EagerBuilder::extract(Value value, llvm::ArrayRef<int64_t> index) {
  Buffer &source = bufferOf(value);
  int64_t offset = 0;
  for (auto [place, stride] : llvm::zip_equal(index, source.strides))
    offset += place * stride;
  return valueOf(makeUniform(source.type.scalarType(), source, source.data + offset * source.elementSize()));
}

Value EagerBuilder::gather(Value sourceValue, Value indexValue, int axis) {
  if (indexValue.type().bitWidth() < 64)
    indexValue = cast(indexValue.type().isUnsigned() ? CastOp::ExtendUnsigned : CastOp::ExtendSigned, indexValue,
                      withScalar(indexValue.type(), int64()));
  Buffer &source = bufferOf(sourceValue), &index = bufferOf(indexValue);
  BufferRef result = makeBuffer(withShape(source.type, index.shape()));
  int size = source.elementSize();
  int64_t extent = source.shape()[axis], axisStride = source.strides[axis];
  // The axis is walked by the index, not by the loop.
  llvm::SmallVector<int64_t, 4> sourceStrides(source.strides);
  sourceStrides[axis] = 0;
  llvm::ArrayRef<int64_t> strides[] = {sourceStrides, index.strides};
  Loops loops(index.shape(), strides);
  std::byte *target = result->data;
  loops.forEachRun([&](llvm::ArrayRef<int64_t> offsets) {
    for (int64_t i = 0; i < loops.runLength(); ++i) {
      int64_t at = index.as<int64_t>()[offsets[1] + i * loops.runStride(1)];
      if (at < 0 || at >= extent)
        fail(Diagnostic::Kind::Value, "program " + programName() + ": gather reads index " + std::to_string(at) +
                                          " of an axis of " + std::to_string(extent) + " elements");
      int64_t offset = offsets[0] + i * loops.runStride(0) + at * axisStride;
      copyStrided(source.data + offset * size, 1, target, 1, size, 1);
      target += size;
    }
  });
  return valueOf(result);
}
