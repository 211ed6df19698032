// Choosing elements: by condition, by index.
#include "compiler/language/builtins/Definitions.h"

namespace nacre {

static Object where(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  requireOperand(evaluation, arguments[0]);
  Value condition = toValue(evaluation, arguments[0]);
  if (condition.type().isPointerLike())
    evaluation.fail(Diagnostic::Kind::Type, "`condition` must be int1, not " + describe(arguments[0]));
  condition = castTo(evaluation, condition, int1());
  auto [x, y] = unify(evaluation, arguments[1], arguments[2]);
  Values parts = broadcastTogether(evaluation, {condition, x, y});
  return evaluation.builder().select(parts[0], parts[1], parts[2]);
}

static Object gather(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value source = blockArgument(evaluation, arguments[0], "src"),
        index = blockArgument(evaluation, arguments[1], "index");
  if (!index.type().isInteger() || index.type().isBool())
    evaluation.fail(Diagnostic::Kind::Type, "`index` must hold integers, not " + index.type().scalarType().str(),
                    "convert it: index.to(tl.int32)");
  int64_t rank = source.type().rank();
  int axis = axisArgument(evaluation, arguments[2], rank);
  Shape from = source.type().shape(), to = index.type().shape();
  bool isCompatible = index.type().rank() == rank;
  for (int64_t position = 0; isCompatible && position < rank; ++position)
    isCompatible = position == axis || from[position] == to[position];
  if (!isCompatible)
    evaluation.fail(Diagnostic::Kind::Value, "`src` has shape " + shapeText(from) + " and `index` " + shapeText(to) +
                                                 "; they may differ on axis " + std::to_string(axis) + " only");
  bool needsWidening = index.type().bitWidth() < 32;
  return evaluation.builder().gather(source, needsWidening ? castTo(evaluation, index, int32()) : index, axis);
}

void addIndexing(Table &table) {
  table.section(languageModule, "indexing");
  table.add("where(condition: tensor, x: tensor, y: tensor)",
            "Takes x where the condition is true and y elsewhere. Both are computed; use a mask to keep a load from "
            "happening.\n\n"
            "condition: int1; anything else is compared with zero.\n"
            "x, y: brought to one type and shape.",
            where);
  table.add("gather(src: tensor, index: tensor, axis: constexpr int)",
            "Picks elements along one axis: result[.., i, ..] = src[.., index[.., i, ..], ..].\n\n"
            "src: the tensor to read.\n"
            "index: integers, of the result's shape; equal to src's except along axis.\n"
            "axis: the axis the index counts along.",
            gather, Table::method);
}

} // namespace nacre
