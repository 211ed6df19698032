// Pointers and masks of blocks of an array (BlockView.h).
#include "compiler/language/BlockView.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

namespace nacre {

Object makeRecord(const char *typeName, std::vector<std::string> names, std::vector<Object> items) {
  auto record = std::make_shared<TupleValue>();
  record->typeName = typeName;
  record->names = std::move(names);
  record->items = std::move(items);
  record->isRecord = true;
  return std::shared_ptr<const TupleValue>(std::move(record));
}

static const Object &field(const Object &record, llvm::StringRef name) {
  const TupleValue &tuple = record.tuple();
  return tuple.items[llvm::find(tuple.names, name) - tuple.names.begin()];
}

BlockView::BlockView(const Object &record)
    : base(field(record, "base").value()), shape(field(record, "shape").tuple().items),
      strides(field(record, "strides").tuple().items) {
  for (const Object &extent : field(record, "block_shape").tuple().items)
    blockShape.push_back(static_cast<int64_t>(extent.as<Integer>()));
}

// ---- Arguments

static Object integerScalar(Evaluation &evaluation, const Object &object, const char *name) {
  if (object.isBool())
    return Object(Integer(object.as<bool>() ? 1 : 0));
  if (object.isInt())
    return object;
  bool isScalar = object.isValue() && object.value().type().elementCount() == 1 && object.value().type().isInteger();
  if (!isScalar)
    evaluation.fail(Diagnostic::Kind::Type,
                    std::string("`") + name + "` must hold integer scalars, not " + describe(object));
  return toScalar(evaluation, object.value());
}

static void requireRank(Evaluation &evaluation, const char *name, size_t found, size_t rank, const char *what) {
  if (found != rank)
    evaluation.fail(Diagnostic::Kind::Value, std::string("`") + name + "` has " + std::to_string(found) +
                                                 (found == 1 ? " entry" : " entries") + ", but " + what + " has " +
                                                 std::to_string(rank) + (rank == 1 ? " axis" : " axes"));
}

static Object integerScalars(Evaluation &evaluation, const Object &object, size_t rank, const char *name) {
  std::vector<Object> items = sequenceArgument(object);
  requireRank(evaluation, name, items.size(), rank, "the array");
  for (Object &item : items)
    item = integerScalar(evaluation, item, name);
  return Object::makeTuple(std::move(items));
}

ArrayArguments arrayArguments(Evaluation &evaluation, const Object &base, const Object &shape, const Object &strides,
                              const Object &blockShape) {
  bool isPointer = base.isValue() && base.value().type().isPointer();
  if (!isPointer)
    evaluation.fail(Diagnostic::Kind::Type, "`base` must be a scalar pointer, not " + describe(base));
  ArrayArguments result;
  result.base = base.value();
  result.rank = sequenceArgument(shape).size();
  if (result.rank == 0)
    evaluation.fail(Diagnostic::Kind::Value, "`shape` is empty: an array has at least one axis");
  result.shape = integerScalars(evaluation, shape, result.rank, "shape");
  result.strides = integerScalars(evaluation, strides, result.rank, "strides");
  llvm::SmallVector<int64_t> extents = shapeArgument(evaluation, blockShape, "block_shape");
  requireRank(evaluation, "block_shape", extents.size(), result.rank, "the array");
  result.blockShape = Object::makeTuple(std::vector<Object>(extents.begin(), extents.end()));
  return result;
}

static Value toInt64(Evaluation &evaluation, const Object &object) {
  return object.isValue() ? castTo(evaluation, object.value(), int64()) : toValue(evaluation, object, int64());
}

llvm::SmallVector<Value> offsetsArgument(Evaluation &evaluation, const Object &object, size_t rank, const char *name) {
  llvm::SmallVector<Value> offsets;
  Object scalars = integerScalars(evaluation, object, rank, name);
  for (const Object &item : scalars.tuple().items)
    offsets.push_back(toInt64(evaluation, item));
  return offsets;
}

// ---- Addresses

namespace {

// One axis of a block: a vector along it, laid out in the block's rank, then grown to its shape.
Value alongAxis(Evaluation &evaluation, Value vector, size_t axis, Shape shape) {
  Builder &builder = evaluation.builder();
  for (size_t other = 0; other < shape.size(); ++other)
    if (other != axis)
      vector = builder.expandDims(vector, static_cast<int>(other));
  return broadcastTo(evaluation, vector, shape);
}

// A scalar's steps along an axis: 0, stride, 2 * stride, ...
Value steps(Evaluation &evaluation, int64_t count, Value stride) {
  Value indices = castTo(evaluation, evaluation.builder().arange(0, count), int64());
  return elementwise(evaluation, BinaryOp::MulI, indices, evaluation.builder().splat(stride, {count}));
}

Value both(Evaluation &evaluation, Value mask, Value more) {
  return mask ? evaluation.builder().binary(BinaryOp::And, mask, more) : more;
}

// Which of `count` indices from `offset` on lie in [0, extent). The bounds are moved to the indices' origin as scalars,
// so that the tile compares plain 32-bit indices, whatever the size of the array.
Value insideAxis(Evaluation &evaluation, Value offset, Value extent, int64_t count) {
  Builder &builder = evaluation.builder();
  auto constant = [&](int64_t number) { return constantOf(evaluation, int64(), number); };
  auto clamped = [&](Value bound) {
    bound = builder.binary(BinaryOp::MaxS, bound, constant(0));
    bound = builder.binary(BinaryOp::MinS, bound, constant(count));
    return builder.splat(castTo(evaluation, bound, int32()), {count});
  };
  Value indices = builder.arange(0, count);
  Value below = builder.compare(CompareOp::LtS, indices, clamped(builder.binary(BinaryOp::SubI, extent, offset)));
  Value first = clamped(builder.binary(BinaryOp::SubI, constant(0), offset));
  return builder.binary(BinaryOp::And, below, builder.compare(CompareOp::GeS, indices, first));
}

Value multiply(Evaluation &evaluation, Value lhs, Value rhs) {
  return evaluation.builder().binary(BinaryOp::MulI, lhs, rhs);
}

Value add(Evaluation &evaluation, Value lhs, Value rhs) {
  return lhs ? evaluation.builder().binary(BinaryOp::AddI, lhs, rhs) : rhs;
}

} // namespace

BlockPlace locate(Evaluation &evaluation, const BlockView &view, llvm::ArrayRef<Value> offsets,
                  llvm::ArrayRef<bool> checked) {
  Builder &builder = evaluation.builder();
  Shape shape = view.blockShape;
  BlockPlace place;
  Value origin, tile;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Value stride = toInt64(evaluation, view.strides[axis]);
    origin = add(evaluation, origin, multiply(evaluation, offsets[axis], stride));
    tile = add(evaluation, tile, alongAxis(evaluation, steps(evaluation, shape[axis], stride), axis, shape));
    if (!checked[axis])
      continue;
    Value inside = insideAxis(evaluation, offsets[axis], toInt64(evaluation, view.shape[axis]), shape[axis]);
    place.mask = both(evaluation, place.mask, alongAxis(evaluation, inside, axis, shape));
  }
  Value start = builder.addPointer(view.base, origin);
  place.pointers = builder.addPointer(builder.splat(start, shape), tile);
  return place;
}

BlockPlace locateRows(Evaluation &evaluation, const BlockView &view, Value rows, Value column) {
  Builder &builder = evaluation.builder();
  int64_t count = rows.type().shape()[0], width = view.blockShape[1];
  llvm::SmallVector<int64_t> shape{count, width};
  rows = castTo(evaluation, rows, int64());
  auto spread = [&](Value scalar) { return builder.splat(scalar, {count}); };
  Value rowStride = toInt64(evaluation, view.strides[0]), columnStride = toInt64(evaluation, view.strides[1]);
  Value start = builder.addPointer(view.base, multiply(evaluation, column, columnStride));
  Value tile = add(evaluation, alongAxis(evaluation, multiply(evaluation, rows, spread(rowStride)), 0, shape),
                   alongAxis(evaluation, steps(evaluation, width, columnStride), 1, shape));
  Value extent = toInt64(evaluation, view.shape[0]);
  Value inside = builder.compare(CompareOp::LtS, rows, spread(extent));
  inside = both(evaluation, inside, builder.compare(CompareOp::GeS, rows, spread(constantOf(evaluation, int64(), 0))));
  Value insideColumns = insideAxis(evaluation, column, toInt64(evaluation, view.shape[1]), width);
  return {builder.addPointer(builder.splat(start, shape), tile),
          both(evaluation, alongAxis(evaluation, inside, 0, shape), alongAxis(evaluation, insideColumns, 1, shape))};
}

Value paddingValue(Evaluation &evaluation, const BlockView &view, llvm::StringRef padding) {
  if (padding != "nan")
    return Value();
  if (!view.element().isFloating())
    evaluation.fail(Diagnostic::Kind::Value,
                    "padding with \"nan\" needs floating-point elements, not " + view.element().str(), "use \"zero\"");
  return constantOf(evaluation, view.element(), std::numeric_limits<double>::quiet_NaN());
}

} // namespace nacre
