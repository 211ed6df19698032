// Making tensors: ranges, constants, concatenation and conversion.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/Scalars.h"

namespace nacre {

static Object arange(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  int64_t start = integerArgument(evaluation, arguments[0], "start"),
          end = integerArgument(evaluation, arguments[1], "end");
  if (end <= start)
    evaluation.fail(Diagnostic::Kind::Value,
                    "`end` (" + std::to_string(end) + ") must be greater than `start` (" + std::to_string(start) + ")");
  if (start < INT32_MIN || end - 1 > INT32_MAX)
    evaluation.fail(Diagnostic::Kind::Value,
                    "the range from " + std::to_string(start) + " to " + std::to_string(end) + " does not fit int32");
  checkTileSize(evaluation, {end - start});
  return evaluation.builder().arange(start, end);
}

// A number beyond a signed type that its bits can hold is a pattern of bits: 1 << 31 and 0xFFFF0000 for int32.
static bool isBitPattern(const Object &value, Type dtype) {
  if (!value.isInt() || !dtype || !dtype.isInteger() || !dtype.isSigned())
    return false;
  const Integer &number = value.as<Integer>();
  return number >= 0 && !integerFits(number, dtype) &&
         toBits(number).getActiveBits() <= static_cast<unsigned>(dtype.bitWidth());
}

static Value filled(Evaluation &evaluation, Shape shape, const Object &value, Type dtype) {
  if (value.isValue() && value.value().type().elementCount() != 1)
    evaluation.fail(Diagnostic::Kind::Type, "`value` must be a scalar, not " + describe(value));
  if (!value.isValue() && !value.isNumber())
    evaluation.fail(Diagnostic::Kind::Type, "`value` must be a number or a scalar, not " + describe(value));
  if (dtype && (dtype == voidType() || dtype.isBlock()))
    evaluation.fail(Diagnostic::Kind::Type, "`dtype` must be a scalar type, not " + dtype.str());
  Value scalar = value.isValue() ? toScalar(evaluation, value.value()) : Value();
  if (isBitPattern(value, dtype))
    scalar = toValue(evaluation, value, uint64());
  scalar = scalar ? (dtype ? castTo(evaluation, scalar, dtype) : scalar) : toValue(evaluation, value, dtype);
  return broadcastTo(evaluation, scalar, shape);
}

static Object full(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto shape = shapeArgument(evaluation, arguments[0], "shape");
  Type dtype = arguments[2].isNone() ? Type() : typeArgument(evaluation, arguments[2], "dtype");
  if (!dtype && !arguments[1].isValue())
    evaluation.fail(Diagnostic::Kind::Argument, "`dtype` is needed when `value` is a number", "write dtype=tl.float32");
  return filled(evaluation, shape, arguments[1], dtype);
}

static Object zeros(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto shape = shapeArgument(evaluation, arguments[0], "shape");
  return filled(evaluation, shape, 0, typeArgument(evaluation, arguments[1], "dtype"));
}

static Object zerosLike(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Type type = valueArgument(evaluation, arguments[0], "input").type();
  return filled(evaluation, type.shape(), 0, type.scalarType());
}

static Object concatenate(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value first = blockArgument(evaluation, arguments[0], "input"),
        second = blockArgument(evaluation, arguments[1], "other");
  Shape left = first.type().shape(), right = second.type().shape();
  if (left.size() != right.size())
    evaluation.fail(Diagnostic::Kind::Value,
                    "the tensors have shapes " + shapeText(left) + " and " + shapeText(right) + ", of different ranks");
  int axis = axisArgument(evaluation, arguments[3], first.type().rank(), "dim");
  for (size_t index = 0; index < left.size(); ++index)
    if (static_cast<int>(index) != axis && left[index] != right[index])
      evaluation.fail(Diagnostic::Kind::Value, "shapes " + shapeText(left) + " and " + shapeText(right) +
                                                   " differ on axis " + std::to_string(index) +
                                                   ", which is not joined");
  Type type = promote(evaluation, first, second);
  first = castTo(evaluation, first, type);
  second = castTo(evaluation, second, type);
  llvm::SmallVector<int64_t> shape(left);
  shape[axis] += right[axis];
  checkTileSize(evaluation, shape);
  return evaluation.builder().concatenate(first, second, axis);
}

static std::optional<Rounding> roundingArgument(Evaluation &evaluation, const Object &object) {
  int choice = choiceArgument(evaluation, object, {"rtne", "rtz"}, -1, "fp_downcast_rounding");
  return choice < 0 ? std::nullopt : std::optional(choice == 1 ? Rounding::TowardZero : Rounding::NearestEven);
}

static Object cast(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Type dtype = typeArgument(evaluation, arguments[1], "dtype");
  bool isBitcast = boolArgument(evaluation, arguments[3], "bitcast");
  std::optional<Rounding> rounding = roundingArgument(evaluation, arguments[2]);
  if (!isBitcast && !rounding)
    return convertOperand(evaluation, arguments[0], dtype);
  return castTo(evaluation, valueArgument(evaluation, arguments[0], "input"), dtype, rounding, isBitcast);
}

static Object toTensor(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return valueArgument(evaluation, arguments[0], "x");
}

static Object item(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = valueArgument(evaluation, arguments[0], "input");
  if (value.type().elementCount() != 1)
    evaluation.fail(Diagnostic::Kind::Value, "only a tensor of one element has an item, not " + describe(arguments[0]),
                    "x[0] takes one element, tl.sum(x) and tl.max(x) make one of all");
  return toScalar(evaluation, value);
}

void addCreation(Table &table) {
  table.section(languageModule, "creation");
  table.add("arange(start: constexpr int, end: constexpr int)",
            "The integers from start up to, not including, end: an int32 tensor of one axis.\n\n"
            "start: the first number.\n"
            "end: one past the last number; greater than start.",
            arange);
  table.add("full(shape: constexpr tuple, value: scalar, dtype: dtype = None)",
            "A tensor of this shape with every element equal to value.\n\n"
            "shape: the extents; () makes a scalar.\n"
            "value: a number or a scalar.\n"
            "dtype: the element type; may be left out when value is a run-time scalar.",
            full);
  table.add("zeros(shape: constexpr tuple, dtype: dtype)",
            "A tensor of this shape and type with every element zero.\n\n"
            "shape: the extents.\n"
            "dtype: the element type.",
            zeros);
  table.add("zeros_like(input: tensor)", "A tensor of zeros with the shape and type of input.", zerosLike);
  table.add("cat(input: tensor, other: tensor, can_reorder: constexpr bool = False, dim: constexpr int = 0)",
            "Joins two tensors along one axis: the elements of input, then those of other.\n\n"
            "input, other: tensors of equal extents on every other axis.\n"
            "can_reorder: allows any order of the elements; the order above is kept anyway.\n"
            "dim: the axis that grows.",
            concatenate);
  const char *castDocumentation = "Converts to another element type. Float to int truncates, to int1 asks whether it "
                                  "is not zero, to a narrower float rounds.\n\n"
                                  "dtype: the new type.\n"
                                  "fp_downcast_rounding: \"rtne\" (nearest, ties to even: the default) or \"rtz\" "
                                  "(toward zero), for narrower floats only.\n"
                                  "bitcast: keep the bits and change only their meaning; the widths must be equal.";
  table.add(
      "cast(input: tensor, dtype: dtype, fp_downcast_rounding: constexpr str = None, bitcast: constexpr bool = False)",
      castDocumentation, cast, Table::method);
  table.add(
      "to(input: tensor, dtype: dtype, fp_downcast_rounding: constexpr str = None, bitcast: constexpr bool = False)",
      castDocumentation, cast, Table::method);
  table.add("to_tensor(x: scalar)",
            "A number as a run-time scalar of the type it would take; tensors come back as they are.", toTensor);
  table.add("item(input: tensor)", "The element of a tensor that has only one, as a scalar.", item, Table::method);
}

} // namespace nacre
