// Python's operators on constexprs (ConstexprOperators.h).
#include "compiler/language/meaning/ConstexprOperators.h"
#include "compiler/language/meaning/Scalars.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace nacre {

// A longer text or sequence is a mistake in the kernel; doubled a few more times it would fill the memory.
static constexpr size_t longestText = size_t(1) << 20;

void checkLength(Evaluation &evaluation, size_t length) {
  if (length > longestText)
    evaluation.fail(Diagnostic::Kind::Value, "this would be a text or sequence of " + std::to_string(length) +
                                                 " elements; the most is " + std::to_string(longestText));
}

std::string displayText(const Object &object) { return object.isString() ? object.as<std::string>() : object.repr(); }

const char *operatorSymbol(Operator op) {
  static const char *const symbols[] = {"+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>"};
  return symbols[static_cast<int>(op)];
}

bool truth(Evaluation &evaluation, const Object &object) {
  if (object.isNone())
    return false;
  if (object.isBool())
    return object.as<bool>();
  if (object.isInt())
    return object.as<Integer>() != 0;
  if (object.isFloat())
    return object.as<double>() != 0;
  if (object.isString())
    return !object.as<std::string>().empty();
  if (object.isTuple())
    return !object.tuple().items.empty();
  if (object.isValue())
    evaluation.fail(Diagnostic::Kind::Type, "the truth of " + describe(object) + " is not known at compile time");
  return true;
}

namespace {

[[noreturn]] void rejectOperands(Evaluation &evaluation, const char *symbol, const Object &lhs, const Object &rhs) {
  evaluation.fail(Diagnostic::Kind::Type,
                  std::string("cannot use ") + symbol + " on " + describe(lhs) + " and " + describe(rhs),
                  lhs.isRecord() ? whatToPutInstead(lhs) : "");
}

Integer integerOf(const Object &object) { return object.isBool() ? Integer(object.as<bool>()) : object.as<Integer>(); }

double doubleOf(Evaluation &evaluation, const Object &object) {
  if (object.isFloat())
    return object.as<double>();
  std::optional<double> value = toDouble(integerOf(object));
  if (!value)
    evaluation.fail(Diagnostic::Kind::Value, "the integer " + object.repr() + " is too large to be a float");
  return *value;
}

[[noreturn]] void divisionByZero(Evaluation &evaluation, const Object &lhs, Operator op) {
  evaluation.fail(Diagnostic::Kind::Value, "division by zero: " + lhs.repr() + " " + operatorSymbol(op) + " 0");
}

Object floatPower(Evaluation &evaluation, double base, double exponent) {
  if (base == 0 && exponent < 0)
    evaluation.fail(Diagnostic::Kind::Value, "0.0 cannot be raised to a negative power");
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) && exponent != std::floor(exponent))
    evaluation.fail(Diagnostic::Kind::Value, "a negative number to a fractional power is not a real number");
  double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
    evaluation.fail(Diagnostic::Kind::Value, "the result of ** is too large for a float");
  return result;
}

Object integerOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  Integer a = integerOf(lhs), b = integerOf(rhs);
  bool areBools = lhs.isBool() && rhs.isBool();
  auto bits = [&](BitOperation operation) -> Object {
    Integer result = bitwise(operation, a, b);
    return areBools ? Object(result != 0) : Object(result);
  };
  auto operand = [](const Integer &value) { return toInt64(value) ? integerText(value) : "a large integer"; };
  auto sized = [&](std::optional<Integer> result) -> Object {
    if (!result || isAbsurdlyLarge(*result))
      evaluation.fail(Diagnostic::Kind::Value,
                      "the result of " + operand(a) + " " + operatorSymbol(op) + " " + operand(b) + " is too large");
    return *result;
  };
  bool isDivision = op == Operator::Div || op == Operator::FloorDiv || op == Operator::Mod;
  if (isDivision && b == 0)
    divisionByZero(evaluation, lhs, op);
  if ((op == Operator::Shl || op == Operator::Shr) && b < 0)
    evaluation.fail(Diagnostic::Kind::Value, "a shift count cannot be negative: " + rhs.repr());
  switch (op) {
  case Operator::Add:
    return sized(a + b);
  case Operator::Sub:
    return sized(a - b);
  case Operator::Mul:
    return sized(a * b);
  case Operator::Div:
    return trueDivide(a, b);
  case Operator::FloorDiv:
    return floorDivide(a, b);
  case Operator::Mod:
    return floorModulo(a, b);
  case Operator::Pow:
    if (b < 0)
      return floatPower(evaluation, doubleOf(evaluation, lhs), doubleOf(evaluation, rhs));
    return sized(power(a, b));
  case Operator::And:
    return bits(BitOperation::And);
  case Operator::Or:
    return bits(BitOperation::Or);
  case Operator::Xor:
    return bits(BitOperation::Xor);
  case Operator::Shl:
    return sized(shiftLeft(a, b));
  case Operator::Shr:
    return shiftRight(a, b);
  case Operator::MatMul:
    break;
  }
  rejectOperands(evaluation, operatorSymbol(op), lhs, rhs);
}

Object floatOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  double a = doubleOf(evaluation, lhs), b = doubleOf(evaluation, rhs);
  bool isDivision = op == Operator::Div || op == Operator::FloorDiv || op == Operator::Mod;
  if (isDivision && b == 0)
    divisionByZero(evaluation, lhs, op);
  switch (op) {
  case Operator::Add:
    return a + b;
  case Operator::Sub:
    return a - b;
  case Operator::Mul:
    return a * b;
  case Operator::Div:
    return a / b;
  case Operator::FloorDiv:
    return floorDivide(a, b);
  case Operator::Mod:
    return floorModulo(a, b);
  case Operator::Pow:
    return floatPower(evaluation, a, b);
  default:
    rejectOperands(evaluation, operatorSymbol(op), lhs, rhs);
  }
}

// How often a sequence is repeated by `* count`.
size_t repetitions(Evaluation &evaluation, const Object &count, size_t length) {
  Integer times = integerOf(count);
  if (times <= 0 || length == 0)
    return 0;
  if (times > Integer(int64_t(1) << 24))
    evaluation.fail(Diagnostic::Kind::Value, "cannot repeat a sequence " + count.repr() + " times");
  size_t result = static_cast<size_t>(static_cast<int64_t>(times));
  checkLength(evaluation, result * std::min(length, longestText + 1));
  return result;
}

Object tupleLike(const TupleValue &original, std::vector<Object> items) {
  auto tuple = std::make_shared<TupleValue>();
  tuple->items = std::move(items);
  tuple->isList = original.isList;
  return std::shared_ptr<const TupleValue>(std::move(tuple));
}

std::optional<Object> sequenceOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  if (op == Operator::Add && lhs.isString() && rhs.isString()) {
    checkLength(evaluation, lhs.as<std::string>().size() + rhs.as<std::string>().size());
    return lhs.as<std::string>() + rhs.as<std::string>();
  }
  if (op == Operator::Add && lhs.isTuple() && rhs.isTuple()) {
    checkLength(evaluation, lhs.tuple().items.size() + rhs.tuple().items.size());
    std::vector<Object> items = lhs.tuple().items;
    llvm::append_range(items, rhs.tuple().items);
    return tupleLike(lhs.tuple(), std::move(items));
  }
  if (op == Operator::Mod && lhs.isString())
    return formatPercent(evaluation, lhs.as<std::string>(), rhs);
  if (op != Operator::Mul)
    return std::nullopt;
  bool isLeft = lhs.isString() || lhs.isTuple();
  const Object &sequence = isLeft ? lhs : rhs, &count = isLeft ? rhs : lhs;
  if (!count.isInt() && !count.isBool())
    return std::nullopt;
  if (sequence.isString()) {
    std::string result;
    for (size_t index = repetitions(evaluation, count, sequence.as<std::string>().size()); index; --index)
      result += sequence.as<std::string>();
    return result;
  }
  if (sequence.isTuple()) {
    std::vector<Object> items;
    for (size_t index = repetitions(evaluation, count, sequence.tuple().items.size()); index; --index)
      llvm::append_range(items, sequence.tuple().items);
    return tupleLike(sequence.tuple(), std::move(items));
  }
  return std::nullopt;
}

// -1, 0, 1 as `a` is below, equal to or above `b`; 2 when they are unordered (NaN); none when they cannot be compared.
std::optional<int> order(const Object &a, const Object &b) {
  if (a.isNumber() && b.isNumber()) {
    if (!a.isFloat() && !b.isFloat()) {
      Integer left = integerOf(a), right = integerOf(b);
      return left < right ? -1 : left == right ? 0 : 1;
    }
    if (a.isFloat() && b.isFloat()) {
      double left = a.as<double>(), right = b.as<double>();
      return left < right ? -1 : left == right ? 0 : left > right ? 1 : 2;
    }
    int result =
        a.isFloat() ? compareNumbers(integerOf(b), a.as<double>()) : compareNumbers(integerOf(a), b.as<double>());
    return result == 2 || !a.isFloat() ? result : -result;
  }
  if (a.isString() && b.isString()) {
    int result = a.as<std::string>().compare(b.as<std::string>());
    return result < 0 ? -1 : result > 0;
  }
  if (a.isTuple() && b.isTuple()) {
    for (auto [left, right] : llvm::zip(a.tuple().items, b.tuple().items))
      if (!Object::equal(left, right))
        return order(left, right);
    size_t left = a.tuple().items.size(), right = b.tuple().items.size();
    return left < right ? -1 : left > right;
  }
  return std::nullopt;
}

// Python's `is`, for what has an identity worth asking about: None, bools, types, functions. Numbers and strings: same
// kind and equal, as CPython answers for literals.
bool identical(const Object &a, const Object &b) {
  if (a.isValue() || b.isValue())
    return a.isValue() && b.isValue() && a.value().get() == b.value().get();
  return a.variant.index() == b.variant.index() && Object::equal(a, b);
}

bool contains(Evaluation &evaluation, const Object &container, const Object &item) {
  if (container.isTuple())
    return llvm::any_of(container.tuple().items, [&](const Object &element) { return Object::equal(element, item); });
  if (container.isString() && item.isString())
    return llvm::StringRef(container.as<std::string>()).contains(item.as<std::string>());
  evaluation.fail(Diagnostic::Kind::Type, "`in` needs a tuple or a string on the right, not " + describe(container));
}

} // namespace

Object constexprOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  if (lhs.isNumber() && rhs.isNumber())
    return lhs.isFloat() || rhs.isFloat() ? floatOperator(evaluation, op, lhs, rhs)
                                          : integerOperator(evaluation, op, lhs, rhs);
  if (std::optional<Object> result = sequenceOperator(evaluation, op, lhs, rhs))
    return *result;
  rejectOperands(evaluation, operatorSymbol(op), lhs, rhs);
}

Object constexprUnary(Evaluation &evaluation, UnaryOperator op, const Object &operand) {
  if (op == UnaryOperator::Not)
    return !truth(evaluation, operand);
  if (operand.isNumber()) {
    if (op == UnaryOperator::Plus)
      return operand.isBool() ? Object(integerOf(operand)) : operand;
    if (op == UnaryOperator::Minus)
      return operand.isFloat() ? Object(-operand.as<double>()) : Object(-integerOf(operand));
    if (!operand.isFloat())
      return -integerOf(operand) - Integer(1);
  }
  const char *symbol = op == UnaryOperator::Plus ? "+" : op == UnaryOperator::Minus ? "-" : "~";
  evaluation.fail(Diagnostic::Kind::Type, std::string("cannot use ") + symbol + " on " + describe(operand));
}

Object constexprComparison(Evaluation &evaluation, Comparison op, const Object &lhs, const Object &rhs) {
  static const char *const symbols[] = {"==", "!=", "<", "<=", ">", ">="};
  switch (op) {
  case Comparison::Eq:
    return Object::equal(lhs, rhs);
  case Comparison::Ne:
    return !Object::equal(lhs, rhs);
  case Comparison::Is:
    return identical(lhs, rhs);
  case Comparison::IsNot:
    return !identical(lhs, rhs);
  case Comparison::In:
    return contains(evaluation, rhs, lhs);
  case Comparison::NotIn:
    return !contains(evaluation, rhs, lhs);
  default:
    break;
  }
  std::optional<int> result = order(lhs, rhs);
  if (!result)
    rejectOperands(evaluation, symbols[static_cast<int>(op)], lhs, rhs);
  if (*result == 2)
    return false;
  switch (op) {
  case Comparison::Lt:
    return *result < 0;
  case Comparison::Le:
    return *result <= 0;
  case Comparison::Gt:
    return *result > 0;
  default:
    return *result >= 0;
  }
}

} // namespace nacre
