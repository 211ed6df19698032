// Facts the author knows and the compiler does not, and barriers.
#include "compiler/language/builtins/Definitions.h"

namespace nacre {

static Object hint(Evaluation &evaluation, llvm::ArrayRef<Object> arguments, HintKind kind) {
  if (!arguments[0].isValue())
    return arguments[0]; // a constexpr is known anyway
  Value value = arguments[0].value();
  llvm::SmallVector<int64_t> values = integersArgument(evaluation, arguments[1], "values");
  if (value.type().isFloating())
    evaluation.fail(Diagnostic::Kind::Type,
                    "`input` must hold integers or pointers, not " + value.type().scalarType().str());
  if (static_cast<int64_t>(values.size()) != std::max<int64_t>(1, value.type().rank()))
    evaluation.fail(Diagnostic::Kind::Value,
                    "`values` has " + std::to_string(values.size()) + " entries for a tensor of shape " +
                        shapeText(value.type().shape()),
                    "give one for each axis");
  for (int64_t entry : values)
    if (entry <= 0)
      evaluation.fail(Diagnostic::Kind::Value, "`values` must be positive, not " + std::to_string(entry));
  return evaluation.builder().hint(kind, value, values);
}

static Object multipleOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return hint(evaluation, arguments, HintKind::Divisibility);
}
static Object maxContiguous(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return hint(evaluation, arguments, HintKind::Contiguity);
}
static Object maxConstancy(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return hint(evaluation, arguments, HintKind::Constancy);
}

static Object assume(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::variant<bool, Value> condition = toCondition(evaluation, arguments[0]);
  if (const bool *known = std::get_if<bool>(&condition)) {
    if (!*known)
      evaluation.fail(Diagnostic::Kind::Value, "the assumption is false");
    return Object();
  }
  evaluation.builder().assume(std::get<Value>(condition));
  return Object();
}

static Object debugBarrier(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  evaluation.builder().barrier();
  return Object();
}

void addHints(Table &table) {
  table.section(languageModule, "hints");
  table.add("multiple_of(input: tensor, values: constexpr int)",
            "Promises that input is divisible: along each axis, the first element of each contiguous run is a multiple "
            "of values. Returns input.\n\n"
            "values: one number an axis.",
            multipleOf);
  table.add("max_contiguous(input: tensor, values: constexpr int)",
            "Promises that along each axis, every group of this many elements counts up by one. Returns input.\n\n"
            "values: one number an axis.",
            maxContiguous);
  table.add("max_constancy(input: tensor, values: constexpr int)",
            "Promises that along each axis, every group of this many elements is equal. Returns input.\n\n"
            "values: one number an axis.",
            maxConstancy);
  table.add("assume(cond: scalar)", "Promises that a condition holds here.\n\ncond: an int1 scalar.", assume);
  table.add("debug_barrier()", "Orders all memory accesses of this program before it with all after it.", debugBarrier);
}

} // namespace nacre
