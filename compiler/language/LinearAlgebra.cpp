// Matrix products.
#include "compiler/language/Definitions.h"

namespace nacre {

namespace {

DotPrecision precisionArgument(Evaluation &evaluation, const Object &inputPrecision, const Object &allowTf32) {
  if (!inputPrecision.isNone() && !allowTf32.isNone())
    evaluation.fail(Diagnostic::Kind::Argument, "`input_precision` and `allow_tf32` are both given",
                    "`input_precision` says it all");
  if (!allowTf32.isNone())
    return boolArgument(evaluation, allowTf32, "allow_tf32") ? DotPrecision::TF32 : DotPrecision::IEEE;
  std::string fallback = evaluation.defaultInputPrecision();
  if (inputPrecision.isNone() && !fallback.empty())
    return precisionArgument(evaluation, Object(fallback), allowTf32);
  Object lowered =
      inputPrecision.isString() ? Object(llvm::StringRef(inputPrecision.as<std::string>()).lower()) : inputPrecision;
  int choice =
      choiceArgument(evaluation, lowered, {"tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"}, 0, "input_precision");
  return static_cast<DotPrecision>(choice);
}

Value transposeLast(Evaluation &evaluation, Value value) {
  llvm::SmallVector<int> order;
  int rank = static_cast<int>(value.type().rank());
  for (int axis = 0; axis < rank; ++axis)
    order.push_back(axis);
  std::swap(order[rank - 2], order[rank - 1]);
  return evaluation.builder().permute(value, order);
}

Value operandArgument(Evaluation &evaluation, const Object &object, const char *name, bool isTransposed) {
  Value value = blockArgument(evaluation, object, name);
  if (value.type().rank() < 2)
    evaluation.fail(Diagnostic::Kind::Value,
                    std::string("`") + name + "` must have at least two axes, not shape " +
                        shapeText(value.type().shape()),
                    "insert an axis, e.g. x[None, :], or write tl.sum(a * b) for the product of two vectors");
  return isTransposed ? transposeLast(evaluation, value) : value;
}

// The operands' types, checked and brought to what builders take: equal types.
void unifyOperands(Evaluation &evaluation, Value &a, Value &b) {
  Type left = a.type().scalarType(), right = b.type().scalarType();
  if (left.isFp8() && right.isFp8()) {
    // Every fp8 value is an fp16 value. Only equal types that machines multiply stay as they are.
    if (left != right || left.scalarKind() == ScalarKind::Float8E4B15) {
      a = castTo(evaluation, a, float16());
      b = castTo(evaluation, b, float16());
    }
    return;
  }
  if (left != right)
    evaluation.fail(Diagnostic::Kind::Type, "the operands have different types, " + left.str() + " and " + right.str(),
                    "convert one of them, e.g. x.to(tl." + std::string(left.isFloating() ? "float16" : "int8") + ")");
  if (left == uint8() || (left.isInteger() && left != int8()))
    evaluation.fail(Diagnostic::Kind::Type, "integer operands must be int8, not " + left.str(),
                    "convert them, x.to(tl.int8), or compute in a float: x.to(tl.float32)");
  if (!left.isInteger() && !left.isFloating())
    evaluation.fail(Diagnostic::Kind::Type, "operands cannot be " + left.str());
}

Type resultType(Evaluation &evaluation, Type operand, Type requested) {
  if (operand.isInteger())
    return int32();
  if (requested == bfloat16())
    evaluation.fail(Diagnostic::Kind::Type, "the result cannot be bf16",
                    "take fp32 and convert it: tl.dot(a, b).to(tl.bfloat16)");
  if (operand == float64())
    return float64();
  if (operand == float32() || operand == bfloat16())
    return float32();
  if (requested != float16() && requested != float32())
    evaluation.fail(Diagnostic::Kind::Type,
                    "the result of " + operand.str() + " operands is fp32 or fp16, not " + requested.str());
  return requested;
}

Object dot(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value a = operandArgument(evaluation, arguments[0], "input", boolArgument(evaluation, arguments[7], "trans_a"));
  Value b = operandArgument(evaluation, arguments[1], "other", boolArgument(evaluation, arguments[8], "trans_b"));
  DotOptions options{precisionArgument(evaluation, arguments[3], arguments[4])};
  if (!arguments[5].isNone()) {
    int64_t count = integerArgument(evaluation, arguments[5], "max_num_imprecise_acc");
    if (count < 0 || count > INT32_MAX)
      evaluation.fail(Diagnostic::Kind::Value,
                      "`max_num_imprecise_acc` must be a number that is not negative, not " + arguments[5].repr());
    options.maxImpreciseAcc = static_cast<int>(count);
  }
  llvm::SmallVector<int64_t> left(a.type().shape()), right(b.type().shape());
  size_t rank = left.size();
  bool isCompatible = rank == right.size() && left[rank - 1] == right[rank - 2] &&
                      Shape(left).drop_back(2) == Shape(right).drop_back(2);
  if (!isCompatible)
    evaluation.fail(Diagnostic::Kind::Value,
                    "shapes " + shapeText(left) + " and " + shapeText(right) + " cannot be multiplied",
                    "the shapes are [M, K] and [K, N], with equal leading axes");
  Type operand = a.type().scalarType();
  unifyOperands(evaluation, a, b);

  Value accumulator = arguments[2].isNone() ? Value() : blockArgument(evaluation, arguments[2], "acc");
  Type requested = !arguments[6].isNone() ? typeArgument(evaluation, arguments[6], "out_dtype")
                   : accumulator          ? accumulator.type().scalarType()
                                          : float32();
  Type result = resultType(evaluation, operand, requested);
  llvm::SmallVector<int64_t> shape(left);
  shape[rank - 1] = right[rank - 1];
  if (!accumulator)
    accumulator = constantOf(evaluation, Type::block(result, shape), result.isInteger() ? Object(0) : Object(0.0));
  if (accumulator.type().shape() != Shape(shape))
    evaluation.fail(Diagnostic::Kind::Value, "`acc` has shape " + shapeText(accumulator.type().shape()) +
                                                 ", but the product has " + shapeText(shape));
  if (accumulator.type().scalarType() != result)
    evaluation.fail(Diagnostic::Kind::Type,
                    "`acc` is " + accumulator.type().scalarType().str() + ", but the product of " + operand.str() +
                        " operands is " + result.str(),
                    result == float16()  ? "pass out_dtype=tl.float32, or make it tl.zeros((M, N), dtype=tl.float16)"
                    : result.isInteger() ? "make it tl.zeros((M, N), dtype=tl.int32)"
                                         : "make it tl.zeros((M, N), dtype=tl." +
                                               std::string(result == float64() ? "float64" : "float32") + ")");
  // Builders take one batch axis.
  if (rank <= 3)
    return evaluation.builder().dot(a, b, accumulator, options);
  int64_t batch = 1;
  for (int64_t extent : Shape(left).drop_back(2))
    batch *= extent;
  auto flatten = [&](Value value) {
    Shape full = value.type().shape();
    return evaluation.builder().reshape(value, {batch, full[rank - 2], full[rank - 1]});
  };
  return evaluation.builder().reshape(evaluation.builder().dot(flatten(a), flatten(b), flatten(accumulator), options),
                                      shape);
}

} // namespace

void addLinearAlgebra(Table &table) {
  table.section(languageModule, "linear algebra");
  table.add(
      "dot(input: tensor, other: tensor, acc: tensor = None, input_precision: constexpr str = None, allow_tf32: "
      "constexpr bool = None, "
      "max_num_imprecise_acc: constexpr int = None, out_dtype: dtype = None, trans_a: constexpr bool = False, trans_b: "
      "constexpr bool = False)",
      "The matrix product of [M, K] and [K, N], plus acc; leading axes are a batch.\n\n"
      "input, other: of equal types (int8, fp16, bf16, fp32, fp64) or any two fp8 types.\n"
      "acc: what to add to; zero when left out.\n"
      "input_precision: how fp32 operands are multiplied where hardware has faster ways: \"tf32\", \"tf32x3\", "
      "\"ieee\", \"bf16x3\", \"bf16x6\".\n"
      "allow_tf32: older spelling: True is \"tf32\", False is \"ieee\".\n"
      "max_num_imprecise_acc: how many fp8 products may be added in lower precision; a hint.\n"
      "out_dtype: fp32 (the default) or fp16, for fp16 and fp8 operands. int8 gives int32, bf16 and fp32 give fp32.\n"
      "trans_a, trans_b: take input or other with its last two axes swapped.",
      dot);
}

} // namespace nacre
