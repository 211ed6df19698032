// Pointers and masks of blocks (BlockAddresses.h).
#include "compiler/language/builtins/BlockAddresses.h"
#include <limits>

namespace nacre {

namespace {

Value constant(Builder &builder, int64_t number) {
  return builder.constantInt(int64(), llvm::APInt(64, static_cast<uint64_t>(number), /*isSigned=*/true));
}

// One axis of a block: a vector along it, laid out in the block's rank, then grown to its shape.
Value alongAxis(Builder &builder, Value vector, size_t axis, Shape shape) {
  for (size_t other = 0; other < shape.size(); ++other)
    if (other != axis)
      vector = builder.expandDims(vector, static_cast<int>(other));
  return vector.type().shape() == shape ? vector : builder.broadcast(vector, shape);
}

// A scalar's steps along an axis: 0, stride, 2 * stride, ...
Value steps(Builder &builder, int64_t count, Value stride) {
  Value indices = builder.cast(CastOp::ExtendSigned, builder.arange(0, count), Type::block(int64(), {count}));
  return builder.binary(BinaryOp::MulI, indices, builder.splat(stride, {count}));
}

Value both(Builder &builder, Value mask, Value more) { return mask ? builder.binary(BinaryOp::And, mask, more) : more; }
Value add(Builder &builder, Value lhs, Value rhs) { return lhs ? builder.binary(BinaryOp::AddI, lhs, rhs) : rhs; }

// Which of `count` indices from `offset` on lie in [0, extent). The bounds are moved to the indices' origin as scalars,
// so that the tile compares plain 32-bit indices, whatever the size of the array.
Value insideAxis(Builder &builder, Value offset, Value extent, int64_t count) {
  auto clamped = [&](Value bound) {
    bound = builder.binary(BinaryOp::MaxS, bound, constant(builder, 0));
    bound = builder.binary(BinaryOp::MinS, bound, constant(builder, count));
    return builder.splat(builder.cast(CastOp::Truncate, bound, int32()), {count});
  };
  Value indices = builder.arange(0, count);
  Value below = builder.compare(CompareOp::LtS, indices, clamped(builder.binary(BinaryOp::SubI, extent, offset)));
  Value first = clamped(builder.binary(BinaryOp::SubI, constant(builder, 0), offset));
  return builder.binary(BinaryOp::And, below, builder.compare(CompareOp::GeS, indices, first));
}

} // namespace

BlockPlace locate(Builder &builder, const BlockArray &array, llvm::ArrayRef<Value> offsets,
                  llvm::ArrayRef<bool> checked) {
  Shape shape = array.blockShape;
  BlockPlace place;
  Value origin, tile;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Value stride = array.strides[axis];
    origin = add(builder, origin, builder.binary(BinaryOp::MulI, offsets[axis], stride));
    tile = add(builder, tile, alongAxis(builder, steps(builder, shape[axis], stride), axis, shape));
    if (!checked[axis])
      continue;
    Value inside = insideAxis(builder, offsets[axis], array.shape[axis], shape[axis]);
    place.mask = both(builder, place.mask, alongAxis(builder, inside, axis, shape));
  }
  Value start = builder.addPointer(array.base, origin);
  place.pointers = builder.addPointer(builder.splat(start, shape), tile);
  return place;
}

BlockPlace locateRows(Builder &builder, const BlockArray &array, Value rows, Value column) {
  int64_t count = rows.type().shape()[0], width = array.blockShape[1];
  llvm::SmallVector<int64_t> shape{count, width};
  auto spread = [&](Value scalar) { return builder.splat(scalar, {count}); };
  Value rowStride = array.strides[0], columnStride = array.strides[1];
  Value start = builder.addPointer(array.base, builder.binary(BinaryOp::MulI, column, columnStride));
  Value tile = add(builder, alongAxis(builder, builder.binary(BinaryOp::MulI, rows, spread(rowStride)), 0, shape),
                   alongAxis(builder, steps(builder, width, columnStride), 1, shape));
  Value inside = builder.compare(CompareOp::LtS, rows, spread(array.shape[0]));
  inside = both(builder, inside, builder.compare(CompareOp::GeS, rows, spread(constant(builder, 0))));
  Value insideColumns = insideAxis(builder, column, array.shape[1], width);
  return {builder.addPointer(builder.splat(start, shape), tile),
          both(builder, alongAxis(builder, inside, 0, shape), alongAxis(builder, insideColumns, 1, shape))};
}

Value paddingTile(Builder &builder, Padding padding, Type tile) {
  if (padding == Padding::Zero)
    return Value();
  Value nan = builder.constantFloat(tile.scalarType(), llvm::APFloat(std::numeric_limits<double>::quiet_NaN()));
  return builder.splat(nan, tile.shape());
}

} // namespace nacre
