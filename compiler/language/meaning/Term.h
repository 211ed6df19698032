// A value with the language's operators as C++ operators, so that functions composed of others read as formulas. Each
// step on floats is rounded by itself: formulas count on it.
#pragma once

#include "compiler/language/meaning/Elementwise.h"

namespace nacre {

// The operator on floats that are rounded after every step, and on integers as applyOperator.
Object applyRounded(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs);

struct Term {
  Evaluation *evaluation;
  Object object;

  Term(Evaluation &evaluation, Object object) : evaluation(&evaluation), object(std::move(object)) {}

  Value value() const { return toValue(*evaluation, object); }
  Type type() const { return value().type().scalarType(); }
  Term with(Object other) const { return Term(*evaluation, std::move(other)); }

  Term apply(Operator op, const Term &rhs) const { return with(applyRounded(*evaluation, op, object, rhs.object)); }
  Term compare(Comparison op, const Term &rhs) const {
    return with(applyComparison(*evaluation, op, object, rhs.object));
  }
  Term unary(UnaryOp op) const { return with(elementwise(*evaluation, op, value())); }
  Term binary(BinaryOp op, const Term &rhs) const { return with(elementwise(*evaluation, op, value(), rhs.value())); }
  Term to(Type type) const { return with(castTo(*evaluation, value(), type)); }
  Term bitcast(Type type) const { return with(castTo(*evaluation, value(), type, std::nullopt, /*bitcast=*/true)); }
  // A constant in this term's type.
  Term constant(Object number) const { return with(constantOf(*evaluation, value().type(), number)); }

  Term operator+(const Term &rhs) const { return apply(Operator::Add, rhs); }
  Term operator-(const Term &rhs) const { return apply(Operator::Sub, rhs); }
  Term operator*(const Term &rhs) const { return apply(Operator::Mul, rhs); }
  Term operator/(const Term &rhs) const { return binary(BinaryOp::DivF, rhs); }
  Term operator&(const Term &rhs) const { return apply(Operator::And, rhs); }
  Term operator|(const Term &rhs) const { return apply(Operator::Or, rhs); }
  Term operator^(const Term &rhs) const { return apply(Operator::Xor, rhs); }
  Term operator<<(const Term &rhs) const { return apply(Operator::Shl, rhs); }
  Term operator>>(const Term &rhs) const { return apply(Operator::Shr, rhs); }
  Term operator-() const { return with(applyUnary(*evaluation, UnaryOperator::Minus, object)); }
  Term operator~() const { return with(applyUnary(*evaluation, UnaryOperator::Invert, object)); }
  Term operator<(const Term &rhs) const { return compare(Comparison::Lt, rhs); }
  Term operator<=(const Term &rhs) const { return compare(Comparison::Le, rhs); }
  Term operator>(const Term &rhs) const { return compare(Comparison::Gt, rhs); }
  Term operator==(const Term &rhs) const { return compare(Comparison::Eq, rhs); }
  Term operator!=(const Term &rhs) const { return compare(Comparison::Ne, rhs); }

  // The same with a number on the right, which takes this term's type.
  Term operator+(Object number) const { return *this + with(number); }
  Term operator-(Object number) const { return *this - with(number); }
  Term operator*(Object number) const { return *this * with(number); }
  Term operator&(Object number) const { return *this & with(number); }
  Term operator<<(Object number) const { return *this << with(number); }
  Term operator>>(Object number) const { return *this >> with(number); }
  Term operator<(Object number) const { return *this < with(number); }
  Term operator<=(Object number) const { return *this <= with(number); }
  Term operator>(Object number) const { return *this > with(number); }
  Term operator==(Object number) const { return *this == with(number); }
};

// Chooses elementwise; the arms have one type.
inline Term choose(const Term &condition, const Term &whenTrue, const Term &whenFalse) {
  Evaluation &evaluation = *condition.evaluation;
  auto [first, second] = unify(evaluation, whenTrue.object, whenFalse.object);
  Values parts = broadcastTogether(evaluation, {condition.value(), first, second});
  return condition.with(evaluation.builder().select(parts[0], parts[1], parts[2]));
}

} // namespace nacre
