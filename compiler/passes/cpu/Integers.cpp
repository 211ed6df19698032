// See Integers.h.
#include "compiler/passes/cpu/Integers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static Value isEqual(Emit &b, Value value, int64_t number) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value, b.constant(value.getType(), number));
}

// A constant, or a splat of one, that every dividend may be divided by as it stands.
static bool isPlainDivisor(Value value) {
  llvm::APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && !number.isZero() && !number.isAllOnes();
}

// A divisor that no dividend traps on, and where it is not the one that was given.
struct GuardedDivisor {
  Value isZero, isMinusOne, divisor;
};
static GuardedDivisor guardDivisor(Emit &b, Value divisor) {
  Value isZero = isEqual(b, divisor, 0), isMinusOne = isEqual(b, divisor, -1);
  Value one = b.constant(divisor.getType(), 1);
  return {isZero, isMinusOne, b.select(arith::OrIOp::create(b, isZero, isMinusOne), one, divisor)};
}

Value nacre::cpu::divideSigned(Emit &b, Value left, Value right) {
  if (isPlainDivisor(right))
    return arith::DivSIOp::create(b, left, right);
  auto [isZero, isMinusOne, divisor] = guardDivisor(b, right);
  Value quotient = arith::DivSIOp::create(b, left, divisor);
  quotient = b.select(isMinusOne, arith::SubIOp::create(b, b.zero(left.getType()), left), quotient);
  return b.select(isZero, b.constant(left.getType(), -1), quotient);
}

Value nacre::cpu::remainderSigned(Emit &b, Value left, Value right) {
  if (isPlainDivisor(right))
    return arith::RemSIOp::create(b, left, right);
  GuardedDivisor guarded = guardDivisor(b, right);
  return b.select(guarded.isZero, left, arith::RemSIOp::create(b, left, guarded.divisor));
}

static Value divideUnsigned(Emit &b, Value left, Value right, bool remainder) {
  Value isZero = isEqual(b, right, 0);
  Value divisor = b.select(isZero, b.constant(right.getType(), 1), right);
  if (remainder)
    return b.select(isZero, left, arith::RemUIOp::create(b, left, divisor));
  return b.select(isZero, b.constant(left.getType(), -1), arith::DivUIOp::create(b, left, divisor));
}

// By less than the width; zero otherwise.
template <typename Shift> static Value shift(Emit &b, Value left, Value right) {
  Type type = right.getType();
  Value width = b.constant(type, getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, right, width);
  return b.select(isInside, Shift::create(b, left, right), b.zero(left.getType()));
}

static Value shiftSigned(Emit &b, Value left, Value right) {
  Type type = right.getType();
  Value last = b.constant(type, getElementTypeOrSelf(type).getIntOrFloatBitWidth() - 1);
  return arith::ShRSIOp::create(b, left, arith::MinUIOp::create(b, right, last));
}

Value nacre::cpu::integerOperation(Emit &b, Operation *op, Value left, Value right) {
  if (isa<arith::DivSIOp>(op))
    return divideSigned(b, left, right);
  if (isa<arith::RemSIOp>(op))
    return remainderSigned(b, left, right);
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    return divideUnsigned(b, left, right, isa<arith::RemUIOp>(op));
  if (isa<arith::ShLIOp>(op))
    return shift<arith::ShLIOp>(b, left, right);
  if (isa<arith::ShRUIOp>(op))
    return shift<arith::ShRUIOp>(b, left, right);
  if (isa<arith::ShRSIOp>(op))
    return shiftSigned(b, left, right);
  return {};
}
