// Python's binary and unary operators. Constexpr operands stay constexpr (ConstexprOperators.h); with a run-time value
// the operands are promoted, broadcast, and the primitive for their type is built.
#include "compiler/language/meaning/ConstexprOperators.h"
#include "compiler/language/meaning/Scalars.h"
#include "compiler/language/meaning/Term.h"

namespace nacre {

void Evaluation::fail(Diagnostic::Kind kind, const std::string &message, const std::string &hint) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.location = builder().location();
  diagnostic.message = message;
  diagnostic.hint = hint;
  throw CompileError(std::move(diagnostic));
}

Value elementwise(Evaluation &evaluation, UnaryOp op, Value value) {
  Type type = value.type().scalarType();
  if (!type.isFp8())
    return evaluation.builder().unary(op, value);
  return castTo(evaluation, evaluation.builder().unary(op, castTo(evaluation, value, float32())), type);
}

Value elementwise(Evaluation &evaluation, BinaryOp op, Value lhs, Value rhs, Accuracy accuracy) {
  Type type = lhs.type().scalarType();
  if (!type.isFp8())
    return evaluation.builder().binary(op, lhs, rhs, accuracy);
  Value left = castTo(evaluation, lhs, float32()), right = castTo(evaluation, rhs, float32());
  return castTo(evaluation, evaluation.builder().binary(op, left, right, accuracy), type);
}

namespace {

// The offset of a pointer addition as the builder takes it: int32 or int64. Narrow unsigned offsets are zero-extended.
Value pointerOffset(Evaluation &evaluation, const Object &offset) {
  Value value = toValue(evaluation, offset);
  Type scalar = value.type().scalarType();
  if (scalar.isUnsigned())
    return castTo(evaluation, value, int64());
  return scalar.bitWidth() < 32 ? castTo(evaluation, value, int32()) : value;
}

bool isPointer(const Object &object) { return object.isValue() && object.value().type().isPointerLike(); }
bool isIntegral(const Object &object) {
  return object.isBool() || object.isInt() || (object.isValue() && object.value().type().isInteger());
}

std::string invalidOperands(const Object &lhs, const Object &rhs) {
  return "invalid operands of type " + describe(lhs) + " and " + describe(rhs);
}

Object pointerArithmetic(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  bool isLeft = isPointer(lhs);
  const Object &pointer = isLeft ? lhs : rhs;
  const Object &offset = isLeft ? rhs : lhs;
  if (isPointer(offset))
    evaluation.fail(Diagnostic::Kind::Type, invalidOperands(lhs, rhs) + ": two pointers have no " + operatorSymbol(op),
                    op == Operator::Sub ? "convert both to tl.int64 first; the difference is then in bytes"
                                        : numberInsteadOfPointer);
  bool isSupported = op == Operator::Add || (op == Operator::Sub && isLeft);
  if (!isSupported)
    evaluation.fail(Diagnostic::Kind::Type, invalidOperands(lhs, rhs) + ": a pointer has no " + operatorSymbol(op),
                    std::string("a pointer takes + offset and - offset; ") + numberInsteadOfPointer);
  if (!isIntegral(offset))
    evaluation.fail(Diagnostic::Kind::Type, invalidOperands(lhs, rhs) + ": a pointer's offset must be an integer",
                    offset.isValue()   ? std::string("convert it, offset.to(tl.int32); ") + numberInsteadOfPointer
                    : offset.isFloat() ? "convert it: offset.to(tl.int32)"
                                       : "");
  Value amount = pointerOffset(evaluation, offset);
  if (op == Operator::Sub)
    amount = elementwise(evaluation, BinaryOp::SubI, constantOf(evaluation, amount.type(), 0), amount);
  auto [address, step] = unifyShapes(evaluation, pointer.value(), amount);
  return evaluation.builder().addPointer(address, step);
}

struct Primitive {
  BinaryOp onFloats, onSigned, onUnsigned;
};

Object arithmetic(Evaluation &evaluation, const Object &lhs, const Object &rhs, Primitive primitive,
                  Accuracy accuracy) {
  auto [left, right] = unify(evaluation, lhs, rhs);
  Type type = left.type();
  return elementwise(evaluation,
                     type.isFloating() ? primitive.onFloats
                     : type.isSigned() ? primitive.onSigned
                                       : primitive.onUnsigned,
                     left, right, accuracy);
}

Object divide(Evaluation &evaluation, const Object &lhs, const Object &rhs, Accuracy accuracy) {
  Type type = promote(evaluation, lhs, rhs, /*forDivision=*/true);
  if (type.isInteger())
    type = float32();
  auto [left, right] = unifyShapes(evaluation, toOperand(evaluation, lhs, type), toOperand(evaluation, rhs, type));
  return elementwise(evaluation, BinaryOp::DivF, left, right, accuracy);
}

Object floorDivide(Evaluation &evaluation, const Object &lhs, const Object &rhs) {
  auto [left, right] = unify(evaluation, lhs, rhs, /*forDivision=*/true);
  if (!left.type().isInteger())
    evaluation.fail(Diagnostic::Kind::Type, invalidOperands(lhs, rhs) + ": // needs integers", "use tl.floor(a / b)");
  return elementwise(evaluation, left.type().isSigned() ? BinaryOp::DivS : BinaryOp::DivU, left, right);
}

Object modulo(Evaluation &evaluation, const Object &lhs, const Object &rhs) {
  auto [left, right] = unify(evaluation, lhs, rhs, /*forDivision=*/true);
  Type type = left.type();
  return elementwise(evaluation,
                     type.isFloating() ? BinaryOp::RemF
                     : type.isSigned() ? BinaryOp::RemS
                                       : BinaryOp::RemU,
                     left, right);
}

std::pair<Value, Value> unifyIntegers(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  auto [left, right] = unify(evaluation, lhs, rhs);
  if (!left.type().isInteger())
    evaluation.fail(Diagnostic::Kind::Type, invalidOperands(lhs, rhs) + ": " + operatorSymbol(op) + " needs integers",
                    "to work on a float's bits use x.to(tl.int32, bitcast=True)");
  return {left, right};
}

Object bitwiseOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  auto [left, right] = unifyIntegers(evaluation, op, lhs, rhs);
  BinaryOp primitive = op == Operator::And ? BinaryOp::And : op == Operator::Or ? BinaryOp::Or : BinaryOp::Xor;
  return elementwise(evaluation, primitive, left, right);
}

Object shift(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  auto [left, right] = unifyIntegers(evaluation, op, lhs, rhs);
  if (op == Operator::Shl)
    return elementwise(evaluation, BinaryOp::Shl, left, right);
  // By the left operand's own sign, not that of the promoted type.
  bool isSigned = lhs.isValue() ? lhs.value().type().isSigned() : left.type().isSigned();
  return elementwise(evaluation, isSigned ? BinaryOp::ShrS : BinaryOp::ShrU, left, right);
}

Object apply(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs, Accuracy accuracy) {
  if (!lhs.isValue() && !rhs.isValue())
    return constexprOperator(evaluation, op, lhs, rhs);
  for (const Object *operand : {&lhs, &rhs})
    if (!operand->isNumber() && !operand->isValue())
      evaluation.fail(Diagnostic::Kind::Type,
                      std::string("cannot use ") + operatorSymbol(op) + " on " + describe(lhs) + " and " +
                          describe(rhs),
                      whatToPutInstead(*operand));
  if (isPointer(lhs) || isPointer(rhs))
    return pointerArithmetic(evaluation, op, lhs, rhs);
  switch (op) {
  case Operator::Add:
    return arithmetic(evaluation, lhs, rhs, {BinaryOp::AddF, BinaryOp::AddI, BinaryOp::AddI}, accuracy);
  case Operator::Sub:
    return arithmetic(evaluation, lhs, rhs, {BinaryOp::SubF, BinaryOp::SubI, BinaryOp::SubI}, accuracy);
  case Operator::Mul:
    return arithmetic(evaluation, lhs, rhs, {BinaryOp::MulF, BinaryOp::MulI, BinaryOp::MulI}, accuracy);
  case Operator::Div:
    return divide(evaluation, lhs, rhs, accuracy);
  case Operator::FloorDiv:
    return floorDivide(evaluation, lhs, rhs);
  case Operator::Mod:
    return modulo(evaluation, lhs, rhs);
  case Operator::And:
  case Operator::Or:
  case Operator::Xor:
    return bitwiseOperator(evaluation, op, lhs, rhs);
  case Operator::Shl:
  case Operator::Shr:
    return shift(evaluation, op, lhs, rhs);
  case Operator::Pow:
    evaluation.fail(Diagnostic::Kind::Unsupported, "** is not defined on tensors",
                    "write x * x, tl.exp2(y * tl.log2(x)), or tl.extra.libdevice.pow(x, y)");
  case Operator::MatMul:
    evaluation.fail(Diagnostic::Kind::Unsupported, "@ is not defined on tensors", "use tl.dot(a, b)");
  }
  llvm_unreachable("every operator is handled");
}

} // namespace

// A product and a sum may be rounded once where the launch allows it; `/` may be a few ulp off.
Object applyOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  return apply(evaluation, op, lhs, rhs, Accuracy::Usual);
}

Object applyRounded(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  return apply(evaluation, op, lhs, rhs, Accuracy::Rounded);
}

static const char *overflowName(Operator op) {
  return op == Operator::Add ? "add" : op == Operator::Sub ? "sub" : op == Operator::Mul ? "mul" : nullptr;
}

// The operation is repeated in 64 bits: what fits has the same value there.
Object applyCheckedOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs) {
  Object result = applyOperator(evaluation, op, lhs, rhs);
  if (!evaluation.debug() || !evaluation.sanitizeOverflow() || !overflowName(op) || !result.isValue())
    return result;
  Value narrow = result.value();
  Type scalar = narrow.type().scalarType();
  if (!scalar.isInteger() || !scalar.isSigned() || scalar.bitWidth() >= 64)
    return result;
  Values operands = broadcastTogether(evaluation, {castTo(evaluation, toOperand(evaluation, lhs, scalar), int64()),
                                                   castTo(evaluation, toOperand(evaluation, rhs, scalar), int64())});
  BinaryOp primitive = op == Operator::Add ? BinaryOp::AddI : op == Operator::Sub ? BinaryOp::SubI : BinaryOp::MulI;
  Value wide = evaluation.builder().binary(primitive, operands[0], operands[1]);
  Value fits = evaluation.builder().compare(CompareOp::Eq, wide, castTo(evaluation, narrow, int64()));
  evaluation.builder().deviceAssert(fits, scalar.str() + " overflow detected for operation " + overflowName(op));
  return result;
}

Object applyUnary(Evaluation &evaluation, UnaryOperator op, const Object &operand) {
  if (!operand.isValue())
    return constexprUnary(evaluation, op, operand);
  Value value = operand.value();
  Type type = value.type();
  switch (op) {
  case UnaryOperator::Plus:
    evaluation.fail(Diagnostic::Kind::Unsupported, "+x is not defined on tensors", "leave the + out");
  case UnaryOperator::Minus:
    if (type.isPointerLike())
      evaluation.fail(Diagnostic::Kind::Type, "cannot negate " + describe(operand),
                      "a pointer takes + offset and - offset");
    if (type.isFloating())
      return elementwise(evaluation, UnaryOp::NegF, value);
    return elementwise(evaluation, BinaryOp::SubI, constantOf(evaluation, type, 0), value);
  case UnaryOperator::Invert:
    if (!type.isInteger())
      evaluation.fail(Diagnostic::Kind::Type, "~ needs an integer, not " + describe(operand),
                      "to work on a float's bits use x.to(tl.int32, bitcast=True)");
    return elementwise(evaluation, UnaryOp::Not, value);
  case UnaryOperator::Not:
    if (!type.isBool())
      evaluation.fail(Diagnostic::Kind::Type, "not needs an int1 tensor, not " + describe(operand), "write x == 0");
    return elementwise(evaluation, UnaryOp::Not, value);
  }
  llvm_unreachable("every operator is handled");
}

} // namespace nacre
