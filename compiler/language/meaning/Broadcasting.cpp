// Bringing values to one shape.
#include "compiler/language/meaning/BlockView.h"
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/Scalars.h"
#include "compiler/language/builtins/StandardLibrary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre {

std::string shapeText(Shape shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t extent) { return std::to_string(extent); }), ", ") + "]";
}

std::string describe(const Object &object) {
  if (object.isNumber() || object.isString())
    return "the " + object.typeName() + " " + object.repr();
  return object.typeName();
}

std::string whatToPutInstead(const Object &object) {
  if (object.isNone())
    return "give it a value, or leave this branch out at compile time with `if x is not None`";
  if (object.isRecord())
    return object.tuple().typeName == blockPointerName ? "a block pointer moves with tl.advance(pointer, offsets)" : "";
  if (object.isTuple())
    return "take one of its items, e.g. x[0]";
  if (object.is<JitReference>() || object.is<const Builtin *>() || object.is<BoundMethod>())
    return "call the function: its result is a value";
  if (object.is<OpaqueReference>() && llvm::StringRef(object.as<OpaqueReference>().key).starts_with("<class 'numpy."))
    return "NumPy's functions make arrays, which are no tiles: use the language's own, such as tl.sqrt for np.sqrt";
  return "";
}

std::string languageFunction(llvm::StringRef name) {
  static const std::pair<llvm::StringRef, llvm::StringRef> otherNames[] = {
      {"absolute", "abs"},    {"fabs", "abs"},
      {"power", "pow"},       {"arctan", "atan"},
      {"arctan2", "atan2"},   {"arcsin", "asin"},
      {"arccos", "acos"},     {"clip", "clamp"},
      {"concatenate", "cat"}, {"matmul", "dot"},
      {"amax", "max"},        {"amin", "min"},
      {"transpose", "trans"}, {"broadcast_to", "broadcast_to"}};
  for (auto [theirs, ours] : otherNames)
    if (name == theirs)
      name = ours;
  if (findBuiltin(languageModule, name) || isStandardFunction(languageModule, name))
    return ("tl." + name).str();
  return findBuiltin(libdeviceModule, name) ? ("tl.extra.libdevice." + name).str() : "";
}

Value broadcastTo(Evaluation &evaluation, Value value, Shape shape) {
  Shape source = value.type().shape();
  if (source == shape)
    return value;
  if (!value.type().isBlock())
    return evaluation.builder().splat(value, shape);
  if (source.size() != shape.size())
    evaluation.fail(Diagnostic::Kind::Value,
                    "cannot broadcast shape " + shapeText(source) + " to " + shapeText(shape) + ": the ranks differ",
                    "add axes first, e.g. x[:, None]");
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (source[axis] != shape[axis] && source[axis] != 1)
      evaluation.fail(Diagnostic::Kind::Value, "cannot broadcast shape " + shapeText(source) + " to " +
                                                   shapeText(shape) + ": axis " + std::to_string(axis) + " has " +
                                                   std::to_string(source[axis]) + " elements, not " +
                                                   std::to_string(shape[axis]) + " or 1");
  return evaluation.builder().broadcast(value, shape);
}

// Adds axes of extent 1 in front.
static Value withRank(Evaluation &evaluation, Value value, int64_t rank) {
  while (value.type().rank() < rank)
    value = evaluation.builder().expandDims(value, 0);
  return value;
}

static llvm::SmallVector<int64_t> commonShape(Evaluation &evaluation, Shape lhs, Shape rhs) {
  size_t rank = std::max(lhs.size(), rhs.size());
  llvm::SmallVector<int64_t> result(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    auto extent = [&](Shape shape) { return axis + shape.size() < rank ? 1 : shape[axis + shape.size() - rank]; };
    int64_t left = extent(lhs), right = extent(rhs);
    if (left != right && left != 1 && right != 1)
      evaluation.fail(Diagnostic::Kind::Value,
                      "shapes " + shapeText(lhs) + " and " + shapeText(rhs) + " do not go together: axis " +
                          std::to_string(axis) + " has " + std::to_string(left) + " and " + std::to_string(right) +
                          " elements",
                      "extents must be equal or 1; x[:, None] and x[None, :] insert an axis of 1");
    result[axis] = left == 1 ? right : left;
  }
  return result;
}

Values broadcastTogether(Evaluation &evaluation, llvm::ArrayRef<Value> values) {
  llvm::SmallVector<int64_t> shape;
  for (const Value &value : values)
    shape = commonShape(evaluation, shape, value.type().shape());
  Values results;
  for (Value value : values) {
    if (value.type().isBlock())
      value = withRank(evaluation, value, static_cast<int64_t>(shape.size()));
    results.push_back(broadcastTo(evaluation, value, shape));
  }
  return results;
}

Value growTo(Evaluation &evaluation, Value value, Shape shape, const char *name) {
  llvm::SmallVector<int64_t> common = commonShape(evaluation, shape, value.type().shape());
  if (Shape(common) != shape)
    evaluation.fail(Diagnostic::Kind::Value, std::string("`") + name + "` of shape " + shapeText(value.type().shape()) +
                                                 " does not fit a block of shape " + shapeText(shape));
  if (value.type().isBlock())
    value = withRank(evaluation, value, static_cast<int64_t>(shape.size()));
  return broadcastTo(evaluation, value, shape);
}

std::pair<Value, Value> unifyShapes(Evaluation &evaluation, Value lhs, Value rhs) {
  Values values = broadcastTogether(evaluation, {lhs, rhs});
  return {values[0], values[1]};
}

Value toScalar(Evaluation &evaluation, Value value) {
  if (!value.type().isBlock())
    return value;
  llvm::SmallVector<int64_t> origin(value.type().rank(), 0);
  return evaluation.builder().extract(value, origin);
}

} // namespace nacre
