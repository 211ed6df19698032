// The common type of two operands, and bringing operands to it.
#include "compiler/language/meaning/Number.h"
#include "compiler/language/meaning/Scalars.h"
#include <cmath>

namespace nacre {

namespace {

enum class TypeClass { Boolean, Integral, Floating };

TypeClass classOf(Type type) {
  return type.isBool() ? TypeClass::Boolean : type.isInteger() ? TypeClass::Integral : TypeClass::Floating;
}

bool isScalarKind(Type type, ScalarKind kind) { return type.isScalar() && type.scalarKind() == kind; }

Type promoteIntegers(Type a, Type b) {
  if (a.isSigned() == b.isSigned())
    return a.bitWidth() > b.bitWidth() ? a : b;
  Type unsignedType = a.isSigned() ? b : a, signedType = a.isSigned() ? a : b;
  return unsignedType.bitWidth() >= signedType.bitWidth() ? unsignedType : signedType;
}

} // namespace

Type numberType(Evaluation &evaluation, const Object &number) {
  if (number.isBool())
    return int1();
  if (number.isInt()) {
    const Integer &value = number.as<Integer>();
    for (Type type : {int32(), uint32(), int64(), uint64()})
      if (integerFits(value, type))
        return type;
    evaluation.fail(Diagnostic::Kind::Value, "the integer " + number.repr() + " does not fit 64 bits");
  }
  double magnitude = std::abs(number.as<double>());
  // NaN is fp32: no comparison with it holds. Numbers that fp32 would hold as subnormals become fp64.
  bool needsDouble = !std::isinf(magnitude) && magnitude != 0 && (magnitude < 0x1p-126 || magnitude > 0x1.fffffep127);
  return needsDouble ? float64() : float32();
}

Type promoteScalars(Evaluation &evaluation, Type a, Type b, bool forDivision) {
  auto either = [&](ScalarKind kind) { return isScalarKind(a, kind) || isScalarKind(b, kind); };
  if (either(ScalarKind::Float64))
    return float64();
  if (forDivision && (a.isFloating() || b.isFloating()))
    return float32();
  if (either(ScalarKind::Float32))
    return float32();
  if (either(ScalarKind::Float16))
    return float16();
  if (either(ScalarKind::BFloat16))
    return a == b ? a : float32();
  if (a.isFp8() && b.isFp8())
    return a == b ? a : float16();
  if (!a.isInteger() || !b.isInteger())
    evaluation.fail(Diagnostic::Kind::Type, "there is no common type for " + a.str() + " and " + b.str(),
                    a.isFp8() || b.isFp8() ? "convert the fp8 operand first, e.g. x.to(tl.float32)" : "");
  if (forDivision && a.isSigned() != b.isSigned())
    evaluation.fail(Diagnostic::Kind::Type,
                    "Cannot use /, // or % with " + a.str() + " and " + b.str() +
                        " because they have different signedness",
                    "convert one of them so that both have the same signedness, e.g. x.to(tl." + a.str() + ")");
  return promoteIntegers(a, b);
}

void requireOperand(Evaluation &evaluation, const Object &object) {
  if (object.isNumber() || object.isValue())
    return;
  evaluation.fail(Diagnostic::Kind::Type, "expected a tensor or a number, not " + describe(object),
                  whatToPutInstead(object));
}

Type promote(Evaluation &evaluation, const Object &lhs, const Object &rhs, bool forDivision) {
  requireOperand(evaluation, lhs);
  requireOperand(evaluation, rhs);
  auto scalarOf = [&](const Object &object) {
    return object.isNumber() ? numberType(evaluation, object) : object.value().type().scalarType();
  };
  Type a = scalarOf(lhs), b = scalarOf(rhs);
  if (a.isPointer() || b.isPointer()) {
    if (a == b)
      return a;
    evaluation.fail(Diagnostic::Kind::Type, "there is no common type for " + a.str() + " and " + b.str());
  }
  // A number takes part only when its kind is above the tensor's.
  if (lhs.isNumber() != rhs.isNumber()) {
    Type numberScalar = lhs.isNumber() ? a : b, tensorScalar = lhs.isNumber() ? b : a;
    if (classOf(numberScalar) <= classOf(tensorScalar))
      a = b = tensorScalar;
  }
  return promoteScalars(evaluation, a, b, forDivision);
}

Value toOperand(Evaluation &evaluation, const Object &object, Type scalar) {
  return object.isNumber() ? toValue(evaluation, object, scalar) : castTo(evaluation, object.value(), scalar);
}

std::pair<Value, Value> unify(Evaluation &evaluation, const Object &lhs, const Object &rhs, bool forDivision) {
  Type type = promote(evaluation, lhs, rhs, forDivision);
  // Numbers are made after the type is known, so they are never rounded twice.
  Value left = toOperand(evaluation, lhs, type), right = toOperand(evaluation, rhs, type);
  return unifyShapes(evaluation, left, right);
}

Values unifyAll(Evaluation &evaluation, llvm::ArrayRef<Object> operands) {
  // Tensors are promoted among themselves and numbers among themselves, so that the order of operands does not matter.
  Type tensors, numbers;
  for (const Object &operand : operands) {
    requireOperand(evaluation, operand);
    Type scalar = operand.isNumber() ? numberType(evaluation, operand) : operand.value().type().scalarType();
    if (scalar.isPointer())
      evaluation.fail(Diagnostic::Kind::Type, "expected numbers, not " + describe(operand));
    Type &group = operand.isNumber() ? numbers : tensors;
    group = group ? promoteScalars(evaluation, group, scalar) : scalar;
  }
  Type type = tensors ? tensors : numbers;
  if (tensors && numbers && classOf(numbers) > classOf(tensors))
    type = promoteScalars(evaluation, tensors, numbers);
  Values values;
  for (const Object &operand : operands)
    values.push_back(toOperand(evaluation, operand, type));
  return broadcastTogether(evaluation, values);
}

} // namespace nacre
