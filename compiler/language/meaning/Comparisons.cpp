// Comparisons, `and`/`or`, and conditions.
#include "compiler/language/meaning/ConstexprOperators.h"
#include "compiler/language/meaning/Scalars.h"

namespace nacre {

Value compareValues(Evaluation &evaluation, Comparison op, Value lhs, Value rhs) {
  // In the order of Comparison.
  static constexpr CompareOp onFloats[] = {CompareOp::EqF, CompareOp::NeF, CompareOp::LtF,
                                           CompareOp::LeF, CompareOp::GtF, CompareOp::GeF};
  static constexpr CompareOp onSigned[] = {CompareOp::Eq,  CompareOp::Ne,  CompareOp::LtS,
                                           CompareOp::LeS, CompareOp::GtS, CompareOp::GeS};
  static constexpr CompareOp onUnsigned[] = {CompareOp::Eq,  CompareOp::Ne,  CompareOp::LtU,
                                             CompareOp::LeU, CompareOp::GtU, CompareOp::GeU};
  Type type = lhs.type().scalarType();
  if (type.isFp8()) {
    lhs = castTo(evaluation, lhs, float32());
    rhs = castTo(evaluation, rhs, float32());
  }
  const CompareOp *table = type.isFloating() ? onFloats : type.isSigned() ? onSigned : onUnsigned;
  return evaluation.builder().compare(table[static_cast<int>(op)], lhs, rhs);
}

// `==` and `!=` of tuples with run-time elements: the elements' comparisons, joined.
static Object compareTuples(Evaluation &evaluation, Comparison op, const Object &lhs, const Object &rhs) {
  if (op != Comparison::Eq && op != Comparison::Ne)
    evaluation.fail(Diagnostic::Kind::Type, "tuples with run-time elements can only be compared with == and !=");
  const std::vector<Object> &left = lhs.tuple().items, &right = rhs.tuple().items;
  if (left.size() != right.size())
    return op == Comparison::Ne;
  Object result = true;
  for (size_t index = 0; index < left.size(); ++index) {
    Object equal = applyComparison(evaluation, Comparison::Eq, left[index], right[index]);
    result = result.isBool() && result.as<bool>() ? equal : applyLogical(evaluation, /*isAnd=*/true, result, equal);
  }
  return op == Comparison::Eq ? result : applyUnary(evaluation, UnaryOperator::Not, result);
}

Object applyComparison(Evaluation &evaluation, Comparison op, const Object &lhs, const Object &rhs) {
  bool isIdentity = op == Comparison::Is || op == Comparison::IsNot;
  bool isMembership = op == Comparison::In || op == Comparison::NotIn;
  if (isMembership && (lhs.isValue() || rhs.isValue() || !rhs.isConstexpr()))
    evaluation.fail(Diagnostic::Kind::Unsupported, "`in` is not defined on tensors", "compare with == and join with |");
  if ((lhs.isConstexpr() && rhs.isConstexpr()) || isIdentity)
    return constexprComparison(evaluation, op, lhs, rhs);
  if (lhs.isTuple() && rhs.isTuple())
    return compareTuples(evaluation, op, lhs, rhs);
  bool isEquality = op == Comparison::Eq || op == Comparison::Ne;
  if (isEquality && (lhs.isNone() || rhs.isNone()))
    return op == Comparison::Ne;
  for (const Object *operand : {&lhs, &rhs})
    if (!operand->isNumber() && !operand->isValue())
      evaluation.fail(Diagnostic::Kind::Type, "cannot compare " + describe(lhs) + " with " + describe(rhs));
  auto isPointer = [](const Object &operand) { return operand.isValue() && operand.value().type().isPointerLike(); };
  if (isPointer(lhs) || isPointer(rhs))
    evaluation.fail(Diagnostic::Kind::Type, "cannot compare " + describe(lhs) + " with " + describe(rhs),
                    isPointer(lhs) && isPointer(rhs)
                        ? "convert pointers to tl.int64 first"
                        : std::string("convert pointers to tl.int64 first; ") + numberInsteadOfPointer);
  auto [left, right] = unify(evaluation, lhs, rhs);
  return compareValues(evaluation, op, left, right);
}

Object applyLogical(Evaluation &evaluation, bool isAnd, const Object &lhs, const Object &rhs) {
  const char *word = isAnd ? "and" : "or";
  auto toBool = [&](const Object &object) -> Object {
    if (!object.isValue())
      return truth(evaluation, object);
    if (!object.value().type().isBool())
      evaluation.fail(Diagnostic::Kind::Type,
                      std::string("`") + word + "` needs int1 operands, not " + describe(object), "write x != 0");
    return object;
  };
  Object left = toBool(lhs), right = toBool(rhs);
  if (left.isBool() && right.isBool())
    return isAnd ? left.as<bool>() && right.as<bool>() : left.as<bool>() || right.as<bool>();
  auto [first, second] = unify(evaluation, left, right);
  return elementwise(evaluation, isAnd ? BinaryOp::And : BinaryOp::Or, first, second);
}

std::variant<bool, Value> toCondition(Evaluation &evaluation, const Object &object) {
  if (!object.isValue())
    return truth(evaluation, object);
  Value value = object.value();
  if (value.type().elementCount() != 1)
    evaluation.fail(Diagnostic::Kind::Type, "a condition must be a scalar, not " + describe(object),
                    "reduce it first, e.g. tl.max(x, axis=0), or choose per element with tl.where");
  return castTo(evaluation, toScalar(evaluation, value), int1());
}

} // namespace nacre
