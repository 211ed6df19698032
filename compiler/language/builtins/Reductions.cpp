// Reductions and scans with a function of the user's, and histograms. sum, max and their like are the standard
// library's.
#include "compiler/language/builtins/Definitions.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

namespace {

// The tensors of a reduction: one, or a tuple of equal shapes.
Values operandsArgument(Evaluation &evaluation, const Object &object) {
  Values operands;
  for (const Object &item : sequenceArgument(object))
    operands.push_back(valueArgument(evaluation, item, "input"));
  if (operands.empty())
    evaluation.fail(Diagnostic::Kind::Value, "`input` is empty");
  for (const Value &operand : operands)
    if (operand.type().shape() != operands[0].type().shape())
      evaluation.fail(Diagnostic::Kind::Value, "the tensors have different shapes, " +
                                                   shapeText(operands[0].type().shape()) + " and " +
                                                   shapeText(operand.type().shape()));
  return operands;
}

// `function` as the builder calls it, its results checked.
Builder::Combine combineWith(Evaluation &evaluation, const Object &function) {
  if (!function.is<JitReference>() && !function.is<const Builtin *>() && !function.is<OpaqueReference>())
    evaluation.fail(Diagnostic::Kind::Type,
                    "`combine_fn` must be a function of the language, not " + describe(function),
                    "mark it with @triton.jit");
  return [&evaluation, function](llvm::ArrayRef<Value> lhs, llvm::ArrayRef<Value> rhs) {
    std::vector<Object> arguments(lhs.begin(), lhs.end());
    arguments.insert(arguments.end(), rhs.begin(), rhs.end());
    SourceLocation place = evaluation.builder().location();
    Object result = evaluation.call(function, arguments);
    evaluation.builder().setLocation(place);
    std::vector<Object> items = sequenceArgument(result);
    if (items.size() != lhs.size())
      evaluation.fail(Diagnostic::Kind::Type, "`combine_fn` must return " + std::to_string(lhs.size()) +
                                                  " values, not " + std::to_string(items.size()));
    Values values;
    for (auto [item, operand] : llvm::zip(items, lhs)) {
      Value value = item.isNumber() ? constantOf(evaluation, operand.type(), item)
                                    : valueArgument(evaluation, item, "combine_fn's result");
      if (value.type().scalarType() != operand.type().scalarType())
        evaluation.fail(Diagnostic::Kind::Type,
                        "`combine_fn` takes " + operand.type().scalarType().str() + " and returns " +
                            value.type().scalarType().str(),
                        "both must be one type; convert the result");
      values.push_back(broadcastTo(evaluation, value, operand.type().shape()));
    }
    return values;
  };
}

// A sum or a product of fp16 or bf16 is carried in fp32 and rounded once, at the end: `build` makes the reduction or
// the scan of the operands it is given.
Values carried(Evaluation &evaluation, const Values &operands, const Object &function,
               llvm::function_ref<Values(llvm::ArrayRef<Value>, const Builder::Combine &)> build) {
  Builder::Combine combine = combineWith(evaluation, function);
  Type narrow = operands[0].type().scalarType();
  bool isNarrow = operands.size() == 1 && (narrow == float16() || narrow == bfloat16());
  std::optional<BinaryOp> op = isNarrow ? evaluation.sumOrProduct(function, narrow) : std::nullopt;
  if (!op)
    return build(operands, combine);
  Builder &builder = evaluation.builder();
  Values results =
      build(castTo(evaluation, operands[0], float32()), [&](llvm::ArrayRef<Value> lhs, llvm::ArrayRef<Value> rhs) {
        return Values{builder.binary(*op, lhs[0], rhs[0])};
      });
  return {castTo(evaluation, results[0], narrow)};
}

Object asResult(const Object &input, const Values &values) {
  if (!input.isTuple())
    return values[0];
  return Object::makeTuple(std::vector<Object>(values.begin(), values.end()));
}

Object reduce(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Values operands = operandsArgument(evaluation, arguments[0]);
  bool keepDims = boolArgument(evaluation, arguments[3], "keep_dims");
  Builder &builder = evaluation.builder();
  llvm::SmallVector<int64_t> shape(operands[0].type().shape());
  // A scalar is its own reduction.
  if (shape.empty() && arguments[1].isNone())
    return arguments[0];
  int axis = 0;
  if (arguments[1].isNone()) {
    if (shape.size() > 1)
      for (Value &operand : operands)
        operand = builder.reshape(operand, {operand.type().elementCount()});
    for (int64_t &extent : shape)
      extent = 1;
  } else {
    axis = axisArgument(evaluation, arguments[1], static_cast<int64_t>(shape.size()));
    shape[axis] = 1;
  }
  Values results =
      carried(evaluation, operands, arguments[2], [&](llvm::ArrayRef<Value> inputs, const Builder::Combine &combine) {
        return builder.reduce(inputs, axis, combine);
      });
  if (keepDims)
    for (Value &result : results)
      result = result.type().isBlock() ? builder.expandDims(result, axis) : builder.splat(result, shape);
  return asResult(arguments[0], results);
}

Object associativeScan(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Values operands = operandsArgument(evaluation, arguments[0]);
  int axis = axisArgument(evaluation, arguments[1], operands[0].type().rank());
  bool reverse = boolArgument(evaluation, arguments[3], "reverse");
  Builder &builder = evaluation.builder();
  return asResult(arguments[0], carried(evaluation, operands, arguments[2],
                                        [&](llvm::ArrayRef<Value> inputs, const Builder::Combine &combine) {
                                          return builder.scan(inputs, axis, reverse, combine);
                                        }));
}

Object histogram(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = blockArgument(evaluation, arguments[0], "input");
  int64_t bins = integerArgument(evaluation, arguments[1], "num_bins");
  if (value.type().rank() != 1)
    evaluation.fail(Diagnostic::Kind::Value, "`input` must have one axis, not shape " + shapeText(value.type().shape()),
                    "use x.ravel()");
  if (!value.type().isInteger() || value.type().bitWidth() != 32)
    evaluation.fail(Diagnostic::Kind::Type, "`input` must hold 32-bit integers, not " + value.type().scalarType().str(),
                    "convert it first: x.to(tl.int32)");
  if (bins <= 0)
    evaluation.fail(Diagnostic::Kind::Value, "`num_bins` must be positive, not " + std::to_string(bins));
  checkTileSize(evaluation, {bins});
  Value mask;
  if (!arguments[2].isNone()) {
    mask = valueArgument(evaluation, arguments[2], "mask");
    if (!mask.type().isBool())
      evaluation.fail(Diagnostic::Kind::Type, "`mask` must be int1, not " + describe(arguments[2]), "write mask != 0");
    mask = broadcastTo(evaluation, mask, value.type().shape());
  }
  return evaluation.builder().histogram(value, bins, mask);
}

} // namespace

void addReductions(Table &table) {
  table.section(languageModule, "reductions");
  table.add(
      "reduce(input: tensor, axis: constexpr int, combine_fn: function, keep_dims: constexpr bool = False)",
      "Combines the elements along an axis with a function of the language, in any order.\n\n"
      "input: a tensor, or a tuple of tensors of one shape, which are combined together.\n"
      "axis: the axis to reduce; None reduces all of them.\n"
      "combine_fn: takes two elements (of a tuple: all left ones, then all right ones) and returns one; associative. One that\n"
      "    only adds or multiplies fp16 or bf16 has its result carried in fp32 and rounded at the end.\n"
      "keep_dims: leave the reduced axes with an extent of 1.",
      reduce, Table::method);
  table.section(languageModule, "scans and sorts");
  table.add(
      "associative_scan(input: tensor, axis: constexpr int, combine_fn: function, reverse: constexpr bool = False)",
      "The running combination along an axis: element i combines elements 0 to i.\n\n"
      "input: a tensor, or a tuple of tensors of one shape.\n"
      "axis: the axis to go along.\n"
      "combine_fn: as for reduce.\n"
      "reverse: go from the last element to the first.",
      associativeScan, Table::method);
  table.add("histogram(input: tensor, num_bins: constexpr int, mask: tensor = None)",
            "How often each of 0, 1, .. num_bins - 1 occurs: an int32 tensor of num_bins.\n\n"
            "input: 32-bit integers, of one axis; others than these are not counted.\n"
            "num_bins: the number of bins.\n"
            "mask: int1; elements where it is false are not counted.",
            histogram, Table::method);
}

} // namespace nacre
