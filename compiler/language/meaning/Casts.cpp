// Numbers as typed values, and conversions among types.
#include "compiler/language/meaning/Scalars.h"

namespace nacre {

Integer smallestInteger(Type type) {
  return type.isSigned() ? fromBits(llvm::APInt::getSignedMinValue(type.bitWidth())) : Integer(0);
}

Integer largestInteger(Type type) {
  return type.isSigned() ? fromBits(llvm::APInt::getSignedMaxValue(type.bitWidth()))
                         : fromBits(llvm::APInt::getMaxValue(type.bitWidth()), /*isSigned=*/false);
}

bool integerFits(const Integer &value, Type type) {
  return value >= smallestInteger(type) && value <= largestInteger(type);
}

static Value integerConstant(Evaluation &evaluation, const Object &number, Type type) {
  std::optional<Integer> value;
  if (number.isFloat()) {
    value = truncateToInteger(number.as<double>());
    if (!value || compareNumbers(*value, number.as<double>()) != 0)
      evaluation.fail(Diagnostic::Kind::Value,
                      "the float " + number.repr() + " is not an integer, so it cannot be " + type.str());
  } else {
    value = number.isBool() ? Integer(number.as<bool>()) : number.as<Integer>();
  }
  if (type.isBool())
    return evaluation.builder().constantInt(type, llvm::APInt(1, *value != 0));
  if (*value < 0 && type.isUnsigned())
    evaluation.fail(Diagnostic::Kind::Value, "the negative number " + number.repr() + " cannot be " + type.str(),
                    "convert the tensor to a signed type first, e.g. x.to(tl.int32)");
  if (!integerFits(*value, type))
    evaluation.fail(Diagnostic::Kind::Value,
                    "the number " + number.repr() + " is out of range for " + type.str() + " (" +
                        integerText(smallestInteger(type)) + " to " + integerText(largestInteger(type)) + ")",
                    "convert the tensor to a wider type first, e.g. x.to(tl.int64)");
  return evaluation.builder().constantInt(type, toBits(*value).sextOrTrunc(type.bitWidth()));
}

static Value numberConstant(Evaluation &evaluation, const Object &number, Type type) {
  if (type.isInteger())
    return integerConstant(evaluation, number, type);
  if (type.isPointer()) {
    if (number.isFloat())
      evaluation.fail(Diagnostic::Kind::Type, describe(number) + " cannot be a " + type.str());
    Type address = !number.isBool() && number.as<Integer>() >= 0 ? uint64() : int64();
    return evaluation.builder().cast(CastOp::IntToPointer, integerConstant(evaluation, number, address), type);
  }
  if (!type.isFloating())
    evaluation.fail(Diagnostic::Kind::Type, describe(number) + " cannot be " + type.str());
  std::optional<double> value;
  if (number.isFloat())
    value = number.as<double>();
  else
    value = number.isBool() ? (number.as<bool>() ? 1.0 : 0.0) : toDouble(number.as<Integer>());
  if (!value)
    evaluation.fail(Diagnostic::Kind::Value, "the integer " + number.repr() + " is too large for " + type.str());
  return evaluation.builder().constantFloat(type, llvm::APFloat(*value));
}

Value toValue(Evaluation &evaluation, const Object &object, Type type) {
  if (object.isValue())
    return type ? castTo(evaluation, object.value(), type) : object.value();
  if (!object.isNumber())
    evaluation.fail(Diagnostic::Kind::Type, "expected a tensor or a number, not " + describe(object),
                    whatToPutInstead(object));
  return numberConstant(evaluation, object, type ? type.scalarType() : numberType(evaluation, object));
}

Value constantOf(Evaluation &evaluation, Type type, const Object &number) {
  Value scalar = numberConstant(evaluation, number, type.scalarType());
  return type.isBlock() ? evaluation.builder().splat(scalar, type.shape()) : scalar;
}

namespace {

// One conversion of a value to another scalar type.
class Conversion {
public:
  Conversion(Evaluation &evaluation, Value value, Type scalar)
      : evaluation(evaluation), value(value), from(value.type().scalarType()), to(scalar) {}

  Value convert(std::optional<Rounding> rounding) {
    if (from.isFloating() && to.isFloating())
      return floatToFloat(rounding);
    if (from.isInteger() && to.isInteger())
      return integerToInteger();
    if (from.isFloating() && to.isInteger())
      return floatToInteger();
    if (from.isInteger() && to.isFloating())
      return integerToFloat();
    if (from.isPointer() && to.isPointer())
      return apply(CastOp::Bitcast, value, to);
    if (from.isPointer() && to.isInteger())
      return pointerToInteger();
    if (from.isInteger() && to.isPointer())
      return apply(CastOp::IntToPointer, castTo(evaluation, value, int64()), to);
    reject();
  }

private:
  Value apply(CastOp op, Value operand, Type scalar, Rounding rounding = Rounding::NearestEven) {
    return evaluation.builder().cast(op, operand, operand.type().withScalar(scalar), rounding);
  }

  [[noreturn]] void reject(const std::string &hint = "") {
    evaluation.fail(Diagnostic::Kind::Type, "cannot convert " + from.str() + " to " + to.str(), hint);
  }

  Value floatToFloat(std::optional<Rounding> rounding) {
    if (to.bitWidth() < from.bitWidth())
      return apply(CastOp::FloatTruncate, value, to, rounding.value_or(Rounding::NearestEven));
    if (to.bitWidth() > from.bitWidth())
      return apply(CastOp::FloatExtend, value, to);
    // fp16 and bf16, or two fp8 types: neither holds the other.
    return apply(CastOp::FloatTruncate, apply(CastOp::FloatExtend, value, float32()), to);
  }

  Value integerToInteger() {
    if (to.isBool())
      return notZero(value);
    if (to.bitWidth() < from.bitWidth())
      return apply(CastOp::Truncate, value, to);
    if (to.bitWidth() > from.bitWidth())
      return apply(from.isSigned() ? CastOp::ExtendSigned : CastOp::ExtendUnsigned, value, to);
    return apply(CastOp::Bitcast, value, to);
  }

  Value floatToInteger() {
    if (from.isFp8())
      reject("convert to fp32 first: x.to(tl.float32)");
    Value wide = from.bitWidth() < 32 ? apply(CastOp::FloatExtend, value, float32()) : value;
    if (to.isBool())
      return notZero(wide);
    return apply(to.isSigned() ? CastOp::FloatToSigned : CastOp::FloatToUnsigned, wide, to);
  }

  Value integerToFloat() {
    if (to.isFp8())
      reject("convert to fp32 first: x.to(tl.float32)");
    return apply(from.isSigned() ? CastOp::SignedToFloat : CastOp::UnsignedToFloat, value, to);
  }

  Value pointerToInteger() {
    if (to.bitWidth() == 64)
      return apply(CastOp::PointerToInt, value, to);
    if (to.isBool())
      return notZero(apply(CastOp::PointerToInt, value, int64()));
    reject("a pointer converts to tl.int64 or tl.uint64");
  }

  Value notZero(Value operand) {
    Value zero = constantOf(evaluation, operand.type(), operand.type().isFloating() ? Object(0.0) : Object(0));
    return compareValues(evaluation, Comparison::Ne, operand, zero);
  }

  Evaluation &evaluation;
  Value value;
  Type from, to;
};

Value bitcast(Evaluation &evaluation, Value value, Type scalar) {
  Type from = value.type().scalarType();
  if (from.isPointer() || scalar.isPointer())
    return Conversion(evaluation, value, scalar).convert(std::nullopt);
  if (from.bitWidth() != scalar.bitWidth())
    evaluation.fail(Diagnostic::Kind::Type,
                    "cannot bitcast " + from.str() + " (" + std::to_string(from.bitWidth()) + " bits) to " +
                        scalar.str() + " (" + std::to_string(scalar.bitWidth()) + " bits): the widths differ",
                    "leave bitcast=True out to convert the value, or choose a type of " +
                        std::to_string(from.bitWidth()) + " bits");
  return evaluation.builder().cast(CastOp::Bitcast, value, value.type().withScalar(scalar));
}

} // namespace

Value castTo(Evaluation &evaluation, Value value, Type scalar, std::optional<Rounding> rounding, bool isBitcast) {
  scalar = scalar.scalarType();
  Type from = value.type().scalarType();
  if (from == scalar)
    return value;
  if (scalar == voidType())
    evaluation.fail(Diagnostic::Kind::Type, "cannot convert " + from.str() + " to void");
  if (isBitcast)
    return bitcast(evaluation, value, scalar);
  if (rounding && !(from.isFloating() && scalar.isFloating() && scalar.bitWidth() < from.bitWidth()))
    evaluation.fail(Diagnostic::Kind::Value, "a rounding mode is only for conversions to a narrower float, not from " +
                                                 from.str() + " to " + scalar.str());
  return Conversion(evaluation, value, scalar).convert(rounding);
}

Value convertOperand(Evaluation &evaluation, const Object &object, Type scalar) {
  requireOperand(evaluation, object);
  scalar = scalar.scalarType();
  bool isDirect = scalar.isFloating() ||
                  (scalar.isInteger() && object.isInt() && integerFits(object.as<Integer>(), scalar)) ||
                  (scalar.isInteger() && object.isBool());
  if (object.isNumber() && isDirect)
    return toValue(evaluation, object, scalar);
  return castTo(evaluation, toValue(evaluation, object), scalar);
}

} // namespace nacre
