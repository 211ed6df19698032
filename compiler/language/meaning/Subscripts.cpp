// x[...]: new axes, slices and reads of tiles; items and slices of tuples and strings.
#include "compiler/language/meaning/Pointers.h"
#include "compiler/language/meaning/Scalars.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

namespace {

// A constexpr slice laid over a sequence of `length` elements, as Python does it.
struct Range {
  int64_t start, step, count;
};

std::optional<int64_t> sliceBound(Evaluation &evaluation, const Object &bound, const char *name) {
  if (bound.isNone())
    return std::nullopt;
  if (!bound.isInt() && !bound.isBool())
    evaluation.fail(
        Diagnostic::Kind::Type, std::string("a slice's ") + name + " must be a constexpr int, not " + describe(bound),
        bound.isValue() ? "a run-time part of a tile can be taken with tl.gather, or loaded through pointers" : "");
  Integer value = bound.isBool() ? Integer(bound.as<bool>()) : bound.as<Integer>();
  // Beyond any sequence's length the exact number does not matter.
  Integer limit(int64_t(1) << 40);
  return static_cast<int64_t>(value > limit ? limit : value < -limit ? -limit : value);
}

Range resolveSlice(Evaluation &evaluation, const SliceValue &slice, int64_t length) {
  int64_t step = sliceBound(evaluation, slice.step, "step").value_or(1);
  if (step == 0)
    evaluation.fail(Diagnostic::Kind::Value, "a slice's step cannot be zero");
  auto place = [&](std::optional<int64_t> bound, int64_t otherwise) {
    if (!bound)
      return otherwise;
    int64_t index = *bound < 0 ? *bound + length : *bound;
    return step > 0 ? std::clamp<int64_t>(index, 0, length) : std::clamp<int64_t>(index, -1, length - 1);
  };
  int64_t start = place(sliceBound(evaluation, slice.start, "start"), step > 0 ? 0 : length - 1);
  int64_t stop = place(sliceBound(evaluation, slice.stop, "stop"), step > 0 ? length : -1);
  int64_t distance = step > 0 ? stop - start : start - stop;
  int64_t stride = std::abs(step);
  return {start, step, distance > 0 ? (distance + stride - 1) / stride : 0};
}

bool isSlice(const Object &object) { return object.is<std::shared_ptr<const SliceValue>>(); }
const SliceValue &sliceOf(const Object &object) { return *object.as<std::shared_ptr<const SliceValue>>(); }
bool isWhole(const SliceValue &slice) { return slice.start.isNone() && slice.stop.isNone() && slice.step.isNone(); }
bool isInteger(const Object &object) { return object.isInt() || object.isBool(); }

int64_t resolveIndex(Evaluation &evaluation, const Object &index, int64_t length, const std::string &what) {
  Integer value = index.isBool() ? Integer(index.as<bool>()) : index.as<Integer>();
  Integer place = value < 0 ? value + Integer(length) : value;
  if (place < 0 || place >= Integer(length))
    evaluation.fail(Diagnostic::Kind::Value, "index " + index.repr() + " is out of range for " + what);
  return static_cast<int64_t>(place);
}

Object subscriptTuple(Evaluation &evaluation, const Object &object, const Object &index) {
  const TupleValue &tuple = object.tuple();
  int64_t length = static_cast<int64_t>(tuple.items.size());
  if (isInteger(index))
    return tuple.items[static_cast<size_t>(
        resolveIndex(evaluation, index, length, "a " + object.typeName() + " of " + std::to_string(length)))];
  if (isSlice(index)) {
    Range range = resolveSlice(evaluation, sliceOf(index), length);
    auto result = std::make_shared<TupleValue>();
    result->isList = tuple.isList;
    for (int64_t count = 0; count < range.count; ++count)
      result->items.push_back(tuple.items[static_cast<size_t>(range.start + count * range.step)]);
    return std::shared_ptr<const TupleValue>(std::move(result));
  }
  evaluation.fail(Diagnostic::Kind::Type, "a tuple is indexed by a constexpr int or a slice, not " + describe(index),
                  index.isValue() ? "a run-time index cannot choose among a tuple's items; use tl.static_range" : "");
}

Object subscriptString(Evaluation &evaluation, const std::string &text, const Object &index) {
  int64_t length = static_cast<int64_t>(text.size());
  if (isInteger(index))
    return std::string(
        1, text[static_cast<size_t>(resolveIndex(evaluation, index, length, "a str of " + std::to_string(length)))]);
  if (!isSlice(index))
    evaluation.fail(Diagnostic::Kind::Type, "a str is indexed by a constexpr int or a slice, not " + describe(index));
  Range range = resolveSlice(evaluation, sliceOf(index), length);
  std::string result;
  for (int64_t count = 0; count < range.count; ++count)
    result += text[static_cast<size_t>(range.start + count * range.step)];
  return result;
}

// Elements start, start + step, ... of one axis: a gather with constant places.
Value takeAlong(Evaluation &evaluation, Value value, int axis, Range range) {
  Builder &builder = evaluation.builder();
  Value places = builder.arange(0, range.count);
  if (range.step != 1)
    places = elementwise(evaluation, BinaryOp::MulI, places, constantOf(evaluation, places.type(), range.step));
  if (range.start != 0)
    places = elementwise(evaluation, BinaryOp::AddI, places, constantOf(evaluation, places.type(), range.start));
  llvm::SmallVector<int64_t> shape(value.type().rank(), 1);
  shape[axis] = range.count;
  places = builder.reshape(places, shape);
  llvm::SmallVector<int64_t> resultShape(value.type().shape());
  resultShape[axis] = range.count;
  places = broadcastTo(evaluation, places, resultShape);
  return builder.gather(value, places, axis);
}

bool isRunTimePlace(const Object &object) {
  return object.isValue() && object.value().type().elementCount() == 1 && object.value().type().isInteger() &&
         !object.value().type().isBool();
}

// The one element of an axis at a run-time place, the axis kept. Places count from the end when negative; beyond the
// ends they mean the first or the last element, so that nothing else is ever read.
Value takeAt(Evaluation &evaluation, Value value, int axis, Value place) {
  Builder &builder = evaluation.builder();
  llvm::SmallVector<int64_t> shape(value.type().shape());
  int64_t extent = shape[axis];
  shape[axis] = 1;
  place = castTo(evaluation, toScalar(evaluation, place), int64());
  auto number = [&](int64_t n) { return constantOf(evaluation, int64(), n); };
  Value fromEnd = elementwise(evaluation, BinaryOp::AddI, place, number(extent));
  place = builder.select(builder.compare(CompareOp::LtS, place, number(0)), fromEnd, place);
  place = elementwise(evaluation, BinaryOp::MaxS, place, number(0));
  place = elementwise(evaluation, BinaryOp::MinS, place, number(extent - 1));
  return builder.gather(value, builder.splat(place, shape), axis);
}

std::vector<Object> entriesOf(const Object &index) {
  return index.isTuple() ? index.tuple().items : std::vector<Object>{index};
}
bool isPartial(const Object &entry) { return isSlice(entry) && !isWhole(sliceOf(entry)); }

// The index with its ellipsis written out, one entry for each axis of the tile and each None.
std::vector<Object> expandIndex(Evaluation &evaluation, const Object &index, int64_t rank) {
  std::vector<Object> entries = entriesOf(index);
  Object everything = Object::makeSlice(Object(), Object(), Object());
  if (rank == 0) // a scalar in a tile's place: every `:` of it is nothing
    llvm::erase_if(entries, [](const Object &entry) { return isSlice(entry) && isWhole(sliceOf(entry)); });
  auto isEllipsis = [](const Object &entry) { return entry.is<EllipsisValue>(); };
  int64_t used = llvm::count_if(entries, [&](const Object &entry) { return !entry.isNone() && !isEllipsis(entry); });
  if (llvm::count_if(entries, isEllipsis) > 1)
    evaluation.fail(Diagnostic::Kind::Value, "an index can hold only one ...");
  if (used > rank)
    evaluation.fail(Diagnostic::Kind::Value,
                    "too many indices: " + std::to_string(used) + " for a tensor of rank " + std::to_string(rank),
                    "each index but None takes one axis; None inserts one");
  std::vector<Object> missing(static_cast<size_t>(rank - used), everything);
  std::vector<Object> result;
  bool isExpanded = false;
  for (const Object &entry : entries) {
    if (!isEllipsis(entry)) {
      result.push_back(entry);
      continue;
    }
    llvm::append_range(result, missing);
    isExpanded = true;
  }
  if (!isExpanded)
    llvm::append_range(result, missing);
  return result;
}

Object subscriptValue(Evaluation &evaluation, Value value, const Object &index) {
  // A scalar's only element can be read as if it were a tile of one.
  if (!value.type().isBlock() && isInteger(index)) {
    resolveIndex(evaluation, index, 1, "a scalar");
    return value;
  }
  if (!value.type().isBlock() && llvm::any_of(entriesOf(index), [](const Object &entry) { return isPartial(entry); }))
    evaluation.fail(Diagnostic::Kind::Value,
                    "unsupported tensor index: " + index.repr() + " of " + describe(value) +
                        ", which has no axis to slice",
                    value.type().isPointer() ? "a pointer takes offsets: tl.load(pointer + tl.arange(0, 16))" : "");
  auto isElement = [](const Object &entry) {
    return !entry.isNone() && !entry.is<EllipsisValue>() && !isSlice(entry);
  };
  if (value.type().isPointer() && llvm::any_of(entriesOf(index), isElement))
    evaluation.fail(Diagnostic::Kind::Value, describe(value) + " cannot be indexed: it is a pointer, not an array",
                    "tl.load(pointer + offsets) reads what it points to, tl.store writes it");
  std::vector<Object> entries = expandIndex(evaluation, index, value.type().rank());
  for (const Object &entry : entries)
    if (!entry.isNone() && !isSlice(entry) && !isInteger(entry) && !isRunTimePlace(entry))
      evaluation.fail(Diagnostic::Kind::Type,
                      "unsupported tensor index: " + describe(entry) +
                          "; a tensor is indexed by None, :, ..., integers and slices",
                      entry.isValue() ? "use tl.gather to read at many places" : "");
  Shape shape = value.type().shape();
  auto outOfRange = [&](size_t axis) {
    return "axis " + std::to_string(axis) + " of a tensor of shape " + shapeText(shape);
  };
  // Every axis at a constant place: one element.
  if (!entries.empty() && llvm::all_of(entries, isInteger)) {
    llvm::SmallVector<int64_t> place;
    for (auto [axis, entry] : llvm::enumerate(entries))
      place.push_back(resolveIndex(evaluation, entry, shape[axis], outOfRange(axis)));
    return evaluation.builder().extract(value, place);
  }
  // First the parts are taken, the rank kept; then axes are dropped and added.
  llvm::SmallVector<int64_t> resultShape;
  int axis = 0;
  bool changesShape = false, addsOnly = true;
  for (const Object &entry : entries) {
    if (entry.isNone()) {
      resultShape.push_back(1);
      changesShape = true;
      continue;
    }
    int64_t extent = shape[axis];
    Range range{0, 1, extent};
    if (isRunTimePlace(entry)) {
      value = takeAt(evaluation, value, axis++, entry.value());
      changesShape = true;
      addsOnly = false;
      continue;
    }
    if (isInteger(entry))
      range = {resolveIndex(evaluation, entry, extent, outOfRange(axis)), 1, 1};
    else
      range = resolveSlice(evaluation, sliceOf(entry), extent);
    if (range.count == 0)
      evaluation.fail(Diagnostic::Kind::Value, "the slice of " + outOfRange(axis) + " is empty");
    if (range.start != 0 || range.step != 1 || range.count != extent)
      value = takeAlong(evaluation, value, axis, range);
    if (isInteger(entry)) {
      changesShape = true;
      addsOnly = false;
    } else {
      resultShape.push_back(range.count);
    }
    ++axis;
  }
  if (!changesShape)
    return value;
  if (!value.type().isBlock())
    return evaluation.builder().splat(value, resultShape);
  if (resultShape.empty())
    return toScalar(evaluation, value);
  if (!addsOnly)
    return evaluation.builder().reshape(value, resultShape);
  for (auto [position, entry] : llvm::enumerate(entries))
    if (entry.isNone())
      value = evaluation.builder().expandDims(value, static_cast<int>(position));
  return value;
}

} // namespace

Object subscript(Evaluation &evaluation, const Object &object, const Object &index) {
  if (object.isTuple())
    return subscriptTuple(evaluation, object, index);
  if (object.isString())
    return subscriptString(evaluation, object.as<std::string>(), index);
  if (object.isValue())
    return subscriptValue(evaluation, object.value(), index);
  if (object.isNumber())
    return subscriptValue(evaluation, toValue(evaluation, object), index);
  evaluation.fail(Diagnostic::Kind::Type, describe(object) + " cannot be indexed");
}

} // namespace nacre
