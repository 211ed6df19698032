// The ops behind the formulas of Elementwise.h.
#include "compiler/passes/tile/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace nacre::elementary {

using namespace mlir;

namespace {

mlir::Type withElement(mlir::Type type, mlir::Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

Value splat(Elementwise &emitter, mlir::Type type, TypedAttr scalar) {
  TypedAttr attribute = scalar;
  if (auto shaped = dyn_cast<ShapedType>(type))
    attribute = DenseElementsAttr::get(shaped, Attribute(scalar));
  return arith::ConstantOp::create(emitter.builder, emitter.location, type, attribute);
}

// Folded where the operands are constants, as in formulas about the shape's own constants.
template <typename Op, typename Result> Result binary(Result a, Result b) {
  return {a.emitter, a.emitter->builder.template createOrFold<Op>(a.emitter->location, a.value, b.value)};
}

template <typename Op> Real unary(Real a) {
  return {a.emitter, a.emitter->builder.createOrFold<Op>(a.emitter->location, a.value)};
}

Flag compare(arith::CmpFPredicate predicate, Real a, RealOperand b) {
  return {a.emitter,
          arith::CmpFOp::create(a.emitter->builder, a.emitter->location, predicate, a.value, b.in(a.emitter).value)};
}

Flag compare(arith::CmpIPredicate predicate, Bits a, BitsOperand b) {
  return {a.emitter,
          arith::CmpIOp::create(a.emitter->builder, a.emitter->location, predicate, a.value, b.in(a.emitter).value)};
}

Value choose(Flag condition, Value yes, Value no) {
  return arith::SelectOp::create(condition.emitter->builder, condition.emitter->location, condition.value, yes, no);
}

template <typename Op> Value convert(Elementwise *emitter, mlir::Type type, Value value) {
  return Op::create(emitter->builder, emitter->location, type, value);
}

} // namespace

Elementwise::Elementwise(OpBuilder &builder, Location location, mlir::Type type)
    : builder(builder), location(location), realType(type) {
  mlir::Type element = getElementTypeOrSelf(type);
  assert((element.isF32() || element.isF64()) && "the working precision is f32 or f64");
  isDouble = element.isF64();
  bitsType = withElement(type, builder.getIntegerType(width()));
  flagType = withElement(type, builder.getI1Type());
}

Real Elementwise::real(double value) {
  return {this, splat(*this, realType, builder.getFloatAttr(getElementTypeOrSelf(realType), value))};
}

Bits Elementwise::bits(uint64_t value) {
  APInt number(width(), value, /*isSigned=*/false, /*implicitTrunc=*/true);
  return {this, splat(*this, bitsType, builder.getIntegerAttr(getElementTypeOrSelf(bitsType), number))};
}

Real Elementwise::part(const tables::Table &table, size_t index) {
  return real((isDouble ? table.f64 : table.f32)[index]);
}

Real operator+(Real a, RealOperand b) { return binary<arith::AddFOp>(a, b.in(a.emitter)); }
Real operator-(Real a, RealOperand b) { return binary<arith::SubFOp>(a, b.in(a.emitter)); }
Real operator*(Real a, RealOperand b) { return binary<arith::MulFOp>(a, b.in(a.emitter)); }
Real operator/(Real a, RealOperand b) { return binary<arith::DivFOp>(a, b.in(a.emitter)); }
Real operator-(Real a) { return unary<arith::NegFOp>(a); }
Real abs(Real a) { return unary<math::AbsFOp>(a); }
Real sqrt(Real a) { return unary<math::SqrtOp>(a); }
Real floor(Real a) { return unary<math::FloorOp>(a); }

Real fma(Real a, RealOperand b, RealOperand c) {
  return {a.emitter, math::FmaOp::create(a.emitter->builder, a.emitter->location, a.value, b.in(a.emitter).value,
                                         c.in(a.emitter).value)};
}

Flag operator<(Real a, RealOperand b) { return compare(arith::CmpFPredicate::OLT, a, b); }
Flag operator<=(Real a, RealOperand b) { return compare(arith::CmpFPredicate::OLE, a, b); }
Flag operator>(Real a, RealOperand b) { return compare(arith::CmpFPredicate::OGT, a, b); }
Flag operator>=(Real a, RealOperand b) { return compare(arith::CmpFPredicate::OGE, a, b); }
Flag operator==(Real a, RealOperand b) { return compare(arith::CmpFPredicate::OEQ, a, b); }
Flag operator!=(Real a, RealOperand b) { return compare(arith::CmpFPredicate::UNE, a, b); }

Bits operator+(Bits a, BitsOperand b) { return binary<arith::AddIOp>(a, b.in(a.emitter)); }
Bits operator-(Bits a, BitsOperand b) { return binary<arith::SubIOp>(a, b.in(a.emitter)); }
Bits operator&(Bits a, BitsOperand b) { return binary<arith::AndIOp>(a, b.in(a.emitter)); }
Bits operator|(Bits a, BitsOperand b) { return binary<arith::OrIOp>(a, b.in(a.emitter)); }
Bits operator^(Bits a, BitsOperand b) { return binary<arith::XOrIOp>(a, b.in(a.emitter)); }
Bits operator<<(Bits a, BitsOperand b) { return binary<arith::ShLIOp>(a, b.in(a.emitter)); }
Bits operator>>(Bits a, BitsOperand b) { return binary<arith::ShRUIOp>(a, b.in(a.emitter)); }
Bits arithmeticShiftRight(Bits a, BitsOperand b) { return binary<arith::ShRSIOp>(a, b.in(a.emitter)); }
Bits maximum(Bits a, BitsOperand b) { return binary<arith::MaxSIOp>(a, b.in(a.emitter)); }
Bits lowProduct(Bits a, Bits b) { return binary<arith::MulIOp>(a, b); }

std::pair<Bits, Bits> wideProduct(Bits a, Bits b) {
  auto product = arith::MulUIExtendedOp::create(a.emitter->builder, a.emitter->location, a.value, b.value);
  return {{a.emitter, product.getLow()}, {a.emitter, product.getHigh()}};
}

Flag operator<(Bits a, BitsOperand b) { return compare(arith::CmpIPredicate::ult, a, b); }
Flag operator!=(Bits a, BitsOperand b) { return compare(arith::CmpIPredicate::ne, a, b); }

Flag operator&(Flag a, Flag b) { return binary<arith::AndIOp>(a, b); }
Flag operator|(Flag a, Flag b) { return binary<arith::OrIOp>(a, b); }
Flag operator!(Flag a) {
  Value all = splat(*a.emitter, a.emitter->flagType, a.emitter->builder.getBoolAttr(true));
  return binary<arith::XOrIOp>(a, Flag{a.emitter, all});
}

Real select(Flag condition, RealOperand yes, RealOperand no) {
  Elementwise *emitter = condition.emitter;
  return {emitter, choose(condition, yes.in(emitter).value, no.in(emitter).value)};
}
Bits select(Flag condition, Bits yes, Bits no) { return {yes.emitter, choose(condition, yes.value, no.value)}; }

Bits bitsOf(Real a) { return {a.emitter, convert<arith::BitcastOp>(a.emitter, a.emitter->bitsType, a.value)}; }
Real realOf(Bits a) { return {a.emitter, convert<arith::BitcastOp>(a.emitter, a.emitter->realType, a.value)}; }
Real toReal(Bits a) { return {a.emitter, convert<arith::SIToFPOp>(a.emitter, a.emitter->realType, a.value)}; }
Bits truncateToBits(Real a) { return {a.emitter, convert<arith::FPToSIOp>(a.emitter, a.emitter->bitsType, a.value)}; }

Real atMost(Real a, double limit) {
  Real bound = a.like(limit);
  return select(bound < a, bound, a);
}
Real atLeast(Real a, double limit) {
  Real bound = a.like(limit);
  return select(bound > a, bound, a);
}

Bits signOf(Real a) { return bitsOf(a) & a.emitter->signMask(); }
Real flipSign(Real a, Bits signBits) { return realOf(bitsOf(a) ^ signBits); }

Real polynomial(Real x, const tables::Table &table, size_t from) {
  size_t count = (x.emitter->isDouble ? table.f64 : table.f32).size();
  assert(from < count && "no polynomial for this precision");
  Real sum = x.part(table, count - 1);
  for (size_t index = count - 1; index-- > from;)
    sum = fma(sum, x, x.part(table, index));
  return sum;
}

Pair twoSum(Real a, Real b) {
  Real sum = a + b;
  Real shareOfB = sum - a;
  return {sum, (a - (sum - shareOfB)) + (b - shareOfB)};
}

Pair fastTwoSum(Real a, Real b) {
  Real sum = a + b;
  return {sum, b - (sum - a)};
}

Pair twoProduct(Real a, Real b) {
  Real product = a * b;
  return {product, fma(a, b, -product)};
}

Pair quotient(Pair numerator, Pair denominator) {
  Real reciprocal = 1.0 / denominator.high;
  Real high = numerator.high * reciprocal;
  Real residual = fma(-high, denominator.high, numerator.high) + fma(-high, denominator.low, numerator.low);
  return {high, residual * reciprocal};
}

} // namespace nacre::elementary
