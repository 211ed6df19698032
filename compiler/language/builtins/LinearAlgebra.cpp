// Matrix products.
#include "compiler/language/builtins/Definitions.h"

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

// One side of dot_scaled: its value and its scale, which is given with the common axis last.
ScaledOperand scaledOperand(Evaluation &evaluation, const Object &value, const Object &scale, const Object &format,
                            const Object &packsAlongK, const std::string &side) {
  ScaledOperand operand;
  std::string formatName = side + "_format", packName = side + "_k_pack";
  operand.value = operandArgument(evaluation, value, side.c_str(), /*isTransposed=*/false);
  int choice = choiceArgument(evaluation, format, {"e2m1", "e4m3", "e5m2", "bf16", "fp16"}, -1, formatName.c_str());
  if (choice < 0)
    evaluation.fail(Diagnostic::Kind::Value,
                    "`" + formatName + "` must be \"e2m1\", \"e4m3\", \"e5m2\", \"bf16\" or \"fp16\"");
  operand.format = static_cast<ScaledFormat>(choice);
  operand.isPackedAlongK = boolArgument(evaluation, packsAlongK, packName.c_str());
  Type type = operand.value.type().scalarType();
  bool isPacked = operand.format == ScaledFormat::E2M1;
  if (isPacked && type.bitWidth() != 8)
    evaluation.fail(Diagnostic::Kind::Type,
                    "e2m1 is packed two in a byte: `" + side + "` must be uint8, not " + type.str());
  if (!isPacked && !operand.isPackedAlongK)
    evaluation.fail(Diagnostic::Kind::Value, "only e2m1 is packed: `" + packName + "` must be True");
  if (!scale.isNone())
    operand.scale = blockArgument(evaluation, scale, (side + "_scale").c_str());
  return operand;
}

// The operand's shape with K and its other axis (M or N) as they are once unpacked.
struct ScaledShape {
  llvm::SmallVector<int64_t> batch;
  int64_t other, common;
};
ScaledShape scaledShape(const ScaledOperand &operand, bool isRight) {
  Shape shape = operand.value.type().shape();
  ScaledShape result{llvm::SmallVector<int64_t>(shape.drop_back(2)), shape[shape.size() - (isRight ? 1 : 2)],
                     shape[shape.size() - (isRight ? 2 : 1)]};
  if (operand.format == ScaledFormat::E2M1)
    (operand.isPackedAlongK ? result.common : result.other) *= 2;
  return result;
}

void checkScale(Evaluation &evaluation, const ScaledOperand &operand, const ScaledShape &shape, const char *name) {
  if (!operand.scale)
    return;
  Shape scale = operand.scale.type().shape();
  bool fits = scale.size() == shape.batch.size() + 2 && scale.drop_back(2) == Shape(shape.batch) &&
              scale[scale.size() - 2] == shape.other && shape.common % scale.back() == 0;
  if (!fits)
    evaluation.fail(Diagnostic::Kind::Value,
                    std::string("`") + name + "` has shape " + shapeText(scale) +
                        ": a scale has the operand's shape with the common axis last, divided by the group",
                    "for an operand of " + std::to_string(shape.other) + " by " + std::to_string(shape.common) +
                        " values and groups of 32 that is [" + std::to_string(shape.other) + ", " +
                        std::to_string(shape.common / 32) + "]");
}

Object dotScaled(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  ScaledOperand a = scaledOperand(evaluation, arguments[0], arguments[1], arguments[2], arguments[8], "lhs");
  ScaledOperand b = scaledOperand(evaluation, arguments[3], arguments[4], arguments[5], arguments[9], "rhs");
  ScaledShape left = scaledShape(a, /*isRight=*/false), right = scaledShape(b, /*isRight=*/true);
  if (left.common != right.common || left.batch != right.batch)
    evaluation.fail(Diagnostic::Kind::Value,
                    "shapes " + shapeText(a.value.type().shape()) + " and " + shapeText(b.value.type().shape()) +
                        " cannot be multiplied: they have " + std::to_string(left.common) + " and " +
                        std::to_string(right.common) + " values along the common axis",
                    "the shapes are [M, K] and [K, N], with equal leading axes");
  checkScale(evaluation, a, left, "lhs_scale");
  checkScale(evaluation, b, right, "rhs_scale");
  llvm::SmallVector<int64_t> shape(left.batch);
  shape.append({left.other, right.other});
  Value accumulator = arguments[6].isNone()
                          ? constantOf(evaluation, Type::block(float32(), shape), Object(0.0))
                          : castTo(evaluation, blockArgument(evaluation, arguments[6], "acc"), float32());
  if (accumulator.type().shape() != Shape(shape))
    evaluation.fail(Diagnostic::Kind::Value, "`acc` has shape " + shapeText(accumulator.type().shape()) +
                                                 ", but the product has " + shapeText(shape));
  bool ignoresNan = boolArgument(evaluation, arguments[7], "fast_math");
  if (shape.size() > 3) { // builders take one batch axis
    int64_t batch = 1;
    for (int64_t extent : left.batch)
      batch *= extent;
    for (Value *part : {&a.value, &a.scale, &b.value, &b.scale, &accumulator})
      if (*part) {
        Shape full = part->type().shape();
        *part = evaluation.builder().reshape(*part, {batch, full[full.size() - 2], full.back()});
      }
  }
  Value product = evaluation.builder().dotScaled(a, b, accumulator, ignoresNan);
  if (shape.size() > 3)
    product = evaluation.builder().reshape(product, shape);
  return castTo(evaluation, product, typeArgument(evaluation, arguments[10], "out_dtype"));
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
  table.add(
      "dot_scaled(lhs: tensor, lhs_scale: tensor, lhs_format: constexpr str, rhs: tensor, rhs_scale: tensor, "
      "rhs_format: constexpr str, acc: tensor = None, fast_math: constexpr bool = False, lhs_k_pack: constexpr bool "
      "= True, rhs_k_pack: constexpr bool = True, out_dtype: dtype = float32)",
      "The matrix product of [M, K] and [K, N] in block-scaled formats, plus acc.\n\n"
      "lhs, rhs: values in the formats below; e2m1 has two in a byte, the first one low.\n"
      "lhs_scale, rhs_scale: one scale for each group (32 values) along K, as [M, K / 32] and [N, K / 32]; bytes are "
      "e8m0. May be None.\n"
      "lhs_format, rhs_format: \"e2m1\", \"e4m3\", \"e5m2\", \"bf16\" or \"fp16\".\n"
      "acc: what to add to; zero when left out.\n"
      "fast_math: leave NaN scales to chance; on the CPU they always count.\n"
      "lhs_k_pack, rhs_k_pack: whether e2m1 is packed along K; otherwise along M or N.\n"
      "out_dtype: the result's type.",
      dotScaled);
}

} // namespace nacre
