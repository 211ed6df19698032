// Arrays that are accessed by blocks (BlockView.h).
#include "compiler/language/meaning/BlockView.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

Object makeRecord(const char *typeName, std::vector<std::string> names, std::vector<Object> items) {
  auto record = std::make_shared<TupleValue>();
  record->typeName = typeName;
  record->names = std::move(names);
  record->items = std::move(items);
  record->isRecord = true;
  return std::shared_ptr<const TupleValue>(std::move(record));
}

Object makeDescriptorRecord(Object base, Object shape, Object strides, Object blockShape, Object padding,
                            Value handle) {
  std::vector<Object> items{std::move(base), std::move(shape), std::move(strides), std::move(blockShape),
                            std::move(padding)};
  if (handle)
    items.push_back(handle);
  return makeRecord(descriptorName, {"base", "shape", "strides", "block_shape", "padding"}, std::move(items));
}

const Object &BlockView::field(const Object &record, llvm::StringRef name) {
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

BlockArray blockArray(Evaluation &evaluation, const BlockView &view) {
  BlockArray array;
  array.base = view.base;
  for (const Object &extent : view.shape)
    array.shape.push_back(toInt64(evaluation, extent));
  for (const Object &stride : view.strides)
    array.strides.push_back(toInt64(evaluation, stride));
  array.blockShape.assign(view.blockShape.begin(), view.blockShape.end());
  return array;
}

void checkPadding(Evaluation &evaluation, const BlockView &view, Padding padding) {
  if (padding == Padding::Nan && !view.element().isFloating())
    evaluation.fail(Diagnostic::Kind::Value,
                    "padding with \"nan\" needs floating-point elements, not " + view.element().str(), "use \"zero\"");
}

} // namespace nacre
