// Arithmetic with a name: what operators say, and what has no operator.
#include "compiler/language/meaning/ConstexprOperators.h"
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/Elementwise.h"

namespace nacre {

// `sanitize_overflow`, the third argument, leaves the operation out of the launch's overflow checks.
template <Operator op> static Object operatorFunction(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  if (boolArgument(evaluation, arguments[2], "sanitize_overflow"))
    return applyCheckedOperator(evaluation, op, arguments[0], arguments[1]);
  return applyOperator(evaluation, op, arguments[0], arguments[1]);
}

static Object ceilingDivide(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Object last = applyOperator(evaluation, Operator::Sub, arguments[1], 1);
  return applyOperator(evaluation, Operator::FloorDiv, applyOperator(evaluation, Operator::Add, arguments[0], last),
                       arguments[1]);
}

static Object divideFloats(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  bool isRounded = boolArgument(evaluation, arguments[2], "ieee_rounding"),
       isFast = boolArgument(evaluation, arguments[3], "approx");
  if (isRounded && isFast)
    evaluation.fail(Diagnostic::Kind::Argument, "`ieee_rounding` and `approx` exclude each other");
  auto [x, y] = unify(evaluation, arguments[0], arguments[1], /*forDivision=*/true);
  if (!x.type().isFloating())
    evaluation.fail(Diagnostic::Kind::Type,
                    "the operands must be floats, not " + describe(arguments[0]) + " and " + describe(arguments[1]),
                    "x / y divides integers as fp32");
  return evaluation.builder().binary(BinaryOp::DivF, x, y,
                                     isRounded ? Accuracy::Rounded
                                     : isFast  ? Accuracy::Fast
                                               : Accuracy::Usual);
}

static Object divideNearest(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = unify(evaluation, arguments[0], arguments[1]);
  requireWideFloat(evaluation, x, "x");
  return evaluation.builder().binary(BinaryOp::DivF, x, y);
}

static Object multiplyAdd(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Values values = unifyAll(evaluation, arguments);
  Type type = values[0].type().scalarType();
  if (!type.isFloating())
    evaluation.fail(Diagnostic::Kind::Type, "the operands must be floats, not " + type.str(), "write x * y + z");
  if (!type.isFp8())
    return evaluation.builder().fma(values[0], values[1], values[2]);
  for (Value &value : values)
    value = castTo(evaluation, value, float32());
  return castTo(evaluation, evaluation.builder().fma(values[0], values[1], values[2]), type);
}

// PropagateNan.ALL and PropagateNan.NONE are these words (Modules.cpp).
static bool propagatesNan(Evaluation &evaluation, const Object &object) {
  return choiceArgument(evaluation, object, {"none", "all"}, 0, "propagate_nan") == 1;
}

Value extremum(Evaluation &evaluation, bool isMaximum, Value x, Value y, bool propagateNan) {
  Type type = x.type();
  if (type.isFloating()) {
    BinaryOp ignoring = isMaximum ? BinaryOp::MaxNumF : BinaryOp::MinNumF;
    BinaryOp propagating = isMaximum ? BinaryOp::MaximumF : BinaryOp::MinimumF;
    return elementwise(evaluation, propagateNan ? propagating : ignoring, x, y);
  }
  if (!type.isInteger())
    evaluation.fail(Diagnostic::Kind::Type, "the operands must be numbers, not " + type.scalarType().str());
  if (type.isSigned())
    return elementwise(evaluation, isMaximum ? BinaryOp::MaxS : BinaryOp::MinS, x, y);
  return elementwise(evaluation, isMaximum ? BinaryOp::MaxU : BinaryOp::MinU, x, y);
}

template <bool isMaximum> static Object extremumFunction(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = unify(evaluation, arguments[0], arguments[1]);
  return extremum(evaluation, isMaximum, x, y, propagatesNan(evaluation, arguments[2]));
}

static Object clamp(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  bool propagateNan = propagatesNan(evaluation, arguments[3]);
  Values values = unifyAll(evaluation, arguments.take_front(3));
  Value raised = extremum(evaluation, /*isMaximum=*/true, values[0], values[1], propagateNan);
  return extremum(evaluation, /*isMaximum=*/false, raised, values[2], propagateNan);
}

static Object absolute(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = valueArgument(evaluation, arguments[0], "x");
  Type type = value.type();
  if (type.isPointerLike())
    evaluation.fail(Diagnostic::Kind::Type, "`x` must be a number, not " + describe(arguments[0]));
  if (type.isUnsigned())
    return value;
  return elementwise(evaluation, type.isFloating() ? UnaryOp::AbsF : UnaryOp::AbsI, value);
}

static Object multiplyHigh(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = unify(evaluation, arguments[0], arguments[1]);
  if (!x.type().isInteger() || x.type().bitWidth() < 32)
    evaluation.fail(Diagnostic::Kind::Type,
                    "the operands must be integers of 32 or 64 bits, not " + x.type().scalarType().str(),
                    "convert them first, e.g. x.to(tl.uint32)");
  return evaluation.builder().binary(BinaryOp::MulHighU, x, y);
}

static Object logicalAnd(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return applyLogical(evaluation, /*isAnd=*/true, arguments[0], arguments[1]);
}
static Object logicalOr(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return applyLogical(evaluation, /*isAnd=*/false, arguments[0], arguments[1]);
}

void addArithmetic(Table &table) {
  table.section(languageModule, "arithmetic");
  const char *overflow = "\n\nsanitize_overflow: False leaves this operation out of overflow checks.";
  table.add("add(x: tensor, y: tensor, sanitize_overflow: constexpr bool = True)", std::string("x + y.") + overflow,
            operatorFunction<Operator::Add>);
  table.add("sub(x: tensor, y: tensor, sanitize_overflow: constexpr bool = True)", std::string("x - y.") + overflow,
            operatorFunction<Operator::Sub>);
  table.add("mul(x: tensor, y: tensor, sanitize_overflow: constexpr bool = True)", std::string("x * y.") + overflow,
            operatorFunction<Operator::Mul>);
  table.add("cdiv(x: tensor, div: tensor)", "x / div rounded up, for positive integers. Constexprs stay constexpr.",
            ceilingDivide, Table::method);
  const char *nan = "\n\npropagate_nan: PropagateNan.NONE (the default) takes the other operand where one is NaN; "
                    "PropagateNan.ALL gives NaN.";
  table.add("maximum(x: tensor, y: tensor, propagate_nan: constexpr PropagateNan = \"none\")",
            std::string("The larger of x and y, elementwise.") + nan, extremumFunction<true>);
  table.add("minimum(x: tensor, y: tensor, propagate_nan: constexpr PropagateNan = \"none\")",
            std::string("The smaller of x and y, elementwise.") + nan, extremumFunction<false>);
  table.add("clamp(x: tensor, min: tensor, max: tensor, propagate_nan: constexpr PropagateNan = \"none\")",
            "x brought into the range from min to max, elementwise.\n\n"
            "propagate_nan: PropagateNan.NONE (the default) makes NaN min; PropagateNan.ALL keeps NaN.",
            clamp);
  table.add("logical_and(x: tensor, y: tensor)", "x and y, elementwise, of int1.", logicalAnd, Table::method);
  table.add("logical_or(x: tensor, y: tensor)", "x or y, elementwise, of int1.", logicalOr, Table::method);

  table.section(mathModule, "arithmetic");
  table.add("fdiv(x: tensor, y: tensor, ieee_rounding: constexpr bool = False, approx: constexpr bool = False)",
            "x / y of floats.\n\n"
            "ieee_rounding: round correctly (the CPU always does).\n"
            "approx: allow a less exact result, where the target has a faster one.",
            divideFloats);
  table.add("div_rn(x: tensor, y: tensor)", "x / y of fp32 or fp64, correctly rounded.", divideNearest);
  table.add("fma(x: tensor, y: tensor, z: tensor)", "x * y + z of floats with a single rounding.", multiplyAdd);
  table.add("abs(x: tensor)", "The absolute value.", absolute, Table::method);
  table.add("umulhi(x: tensor, y: tensor)", "The upper half of the unsigned product of 32- or 64-bit integers.",
            multiplyHigh);
}

} // namespace nacre
