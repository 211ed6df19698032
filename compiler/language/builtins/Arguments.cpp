// Reading a builtin's arguments (Arguments.h).
#include "compiler/language/builtins/Arguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace nacre {

[[noreturn]] static void reject(Evaluation &evaluation, const Object &object, const char *name,
                                const std::string &expected) {
  evaluation.fail(Diagnostic::Kind::Type,
                  std::string("`") + name + "` must be " + expected + ", not " + describe(object),
                  object.isValue() && llvm::StringRef(expected).contains("constexpr")
                      ? "its value must be known at compile time: pass a literal or a tl.constexpr parameter"
                      : "");
}

// A float is most often a quotient of `/`, which is a float in Python too.
[[noreturn]] static void rejectFloat(Evaluation &evaluation, const Object &object, const char *name) {
  double value = object.as<double>();
  bool isWhole = std::trunc(value) == value && std::abs(value) < 0x1p63;
  evaluation.fail(Diagnostic::Kind::Type, std::string("`") + name + "` must be a constexpr int, not " + describe(object),
                  isWhole ? "write " + std::to_string(static_cast<int64_t>(value)) + "; a // b divides integers to an integer"
                          : "a // b divides integers to an integer, and int(x) rounds towards zero");
}

int64_t integerArgument(Evaluation &evaluation, const Object &object, const char *name) {
  if (object.isBool())
    return object.as<bool>();
  if (object.isFloat())
    rejectFloat(evaluation, object, name);
  if (!object.isInt())
    reject(evaluation, object, name, "a constexpr int");
  std::optional<int64_t> value = toInt64(object.as<Integer>());
  if (!value)
    evaluation.fail(Diagnostic::Kind::Value, std::string("`") + name + "` is too large: " + object.repr());
  return *value;
}

bool boolArgument(Evaluation &evaluation, const Object &object, const char *name) {
  if (object.isBool())
    return object.as<bool>();
  if (object.isInt())
    return object.as<Integer>() != 0;
  if (object.isNone())
    return false;
  reject(evaluation, object, name, "a constexpr bool");
}

std::string stringArgument(Evaluation &evaluation, const Object &object, const char *name) {
  if (object.isNone())
    return "";
  if (!object.isString())
    reject(evaluation, object, name, "a constexpr str");
  return object.as<std::string>();
}

Type typeArgument(Evaluation &evaluation, const Object &object, const char *name) {
  if (!object.isType())
    reject(evaluation, object, name, "a dtype such as tl.float32");
  return object.as<Type>();
}

Type elementTypeArgument(Evaluation &evaluation, const Object &object, const char *name) {
  Type type = typeArgument(evaluation, object, name).scalarType();
  if (type == voidType() || !(type.isScalar() || type.isPointer()))
    evaluation.fail(Diagnostic::Kind::Type,
                    std::string("`") + name + "` must be the type of an element, not " + type.str(),
                    "for instance tl.float32");
  return type;
}

std::vector<Object> sequenceArgument(const Object &object) {
  return object.isTuple() ? object.tuple().items : std::vector<Object>{object};
}

llvm::SmallVector<int64_t> integersArgument(Evaluation &evaluation, const Object &object, const char *name) {
  llvm::SmallVector<int64_t> result;
  for (const Object &item : sequenceArgument(object)) {
    if (item.isTuple())
      llvm::append_range(result, integersArgument(evaluation, item, name));
    else
      result.push_back(integerArgument(evaluation, item, name));
  }
  return result;
}

void checkTileSize(Evaluation &evaluation, Shape shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent > largestTile || (count *= extent) > largestTile)
      evaluation.fail(Diagnostic::Kind::Value, "a tensor of shape " + shapeText(shape) +
                                                   " has more elements than a tensor may have (" +
                                                   std::to_string(largestTile) + ")");
  }
}

llvm::SmallVector<int64_t> shapeArgument(Evaluation &evaluation, const Object &object, const char *name) {
  llvm::SmallVector<int64_t> shape = integersArgument(evaluation, object, name);
  for (int64_t extent : shape)
    if (extent <= 0)
      evaluation.fail(Diagnostic::Kind::Value,
                      std::string("`") + name + "` must hold positive extents, not " + shapeText(shape));
  checkTileSize(evaluation, shape);
  return shape;
}

Value valueArgument(Evaluation &evaluation, const Object &object, const char *name) {
  if (object.isValue())
    return object.value();
  if (!object.isNumber())
    reject(evaluation, object, name, "a tensor or a number");
  return toValue(evaluation, object);
}

Value blockArgument(Evaluation &evaluation, const Object &object, const char *name) {
  Value value = valueArgument(evaluation, object, name);
  if (!value.type().isBlock())
    reject(evaluation, object, name, "a tensor with at least one axis");
  return value;
}

int axisArgument(Evaluation &evaluation, const Object &object, int64_t rank, const char *name) {
  int64_t axis = integerArgument(evaluation, object, name);
  if (axis < -rank || axis >= rank)
    evaluation.fail(Diagnostic::Kind::Value,
                    "invalid axis " + std::to_string(axis) + " for `" + name + "`: the tensor has " +
                        std::to_string(rank) + (rank == 1 ? " axis" : " axes"),
                    "axes count from 0, or from -1 backwards");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

int choiceArgument(Evaluation &evaluation, const Object &object, llvm::ArrayRef<llvm::StringRef> names, int otherwise,
                   const char *name) {
  std::string text = stringArgument(evaluation, object, name);
  if (text.empty())
    return otherwise;
  for (auto [index, candidate] : llvm::enumerate(names))
    if (text == candidate)
      return static_cast<int>(index);
  auto quote = [](llvm::StringRef word) { return "\"" + word.str() + "\""; };
  evaluation.fail(Diagnostic::Kind::Value, std::string("`") + name + "` cannot be " + quote(text),
                  "use one of " + llvm::join(llvm::map_range(names, quote), ", "));
}

} // namespace nacre
