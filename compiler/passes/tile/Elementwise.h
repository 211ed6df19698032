// Arithmetic on MLIR values written as formulas. A Real is an f32 or f64 scalar, vector or tensor; Bits are the
// integers of the same shape and width; a Flag is the i1 of the same shape. Every operator emits one elementwise op, so
// a definition written once serves every shape, and both precisions where the constants come from MathTables.h.
//
// Nothing here is reassociated or contracted behind the writer's back: fused multiply-adds are spelled fma.
#pragma once

#include "compiler/passes/tile/MathTables.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <functional>

namespace nacre::elementary {

struct Real;
struct Bits;
struct Flag;

// What a machine can do better than arithmetic. Each may be empty, and may answer null where it does not apply.
struct MathTarget {
  // a * 2^n, n an integer, with one rounding and subnormal results right.
  std::function<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value a, mlir::Value n)> scaleByPowerOfTwo;
};

// Where ops are emitted, and the types of one shape.
class Elementwise {
public:
  // `type` is f32 or f64, or a vector or static tensor of them.
  Elementwise(mlir::OpBuilder &builder, mlir::Location location, mlir::Type type);

  mlir::OpBuilder &builder;
  mlir::Location location;
  mlir::Type realType, bitsType, flagType;
  bool isDouble;
  const MathTarget *target = nullptr;

  unsigned width() const { return isDouble ? 64 : 32; }
  unsigned mantissaBits() const { return isDouble ? 52 : 23; } // stored ones
  uint64_t exponentBias() const { return isDouble ? 1023 : 127; }
  uint64_t signMask() const { return uint64_t(1) << (width() - 1); }
  uint64_t oneBits() const { return exponentBias() << mantissaBits(); }
  // The choice that depends on the precision.
  double pick(double single, double twice) const { return isDouble ? twice : single; }

  Real real(double value);
  Bits bits(uint64_t value);
  Real part(const tables::Table &table, size_t index);
};

struct Flag {
  Elementwise *emitter;
  mlir::Value value;
};

struct Real {
  Elementwise *emitter;
  mlir::Value value;

  Real like(double number) const { return emitter->real(number); }
  double pick(double single, double twice) const { return emitter->pick(single, twice); }
  Real part(const tables::Table &table, size_t index) const { return emitter->part(table, index); }
};

struct Bits {
  Elementwise *emitter;
  mlir::Value value;
};

// Where a formula has a number in the place of a Real or Bits, it is splat to the shape of its neighbours.
struct RealOperand {
  RealOperand(Real real) : real(real) {}
  RealOperand(double number) : number(number) {}
  Real in(Elementwise *emitter) const { return real.emitter ? real : emitter->real(number); }

private:
  Real real = {};
  double number = 0;
};
struct BitsOperand {
  BitsOperand(Bits bits) : bits(bits) {}
  BitsOperand(uint64_t number) : number(number) {}
  Bits in(Elementwise *emitter) const { return bits.emitter ? bits : emitter->bits(number); }

private:
  Bits bits = {};
  uint64_t number = 0;
};

Real operator+(Real a, RealOperand b);
Real operator-(Real a, RealOperand b);
Real operator*(Real a, RealOperand b);
Real operator/(Real a, RealOperand b);
inline Real operator-(double a, Real b) { return b.like(a) - b; }
inline Real operator/(double a, Real b) { return b.like(a) / b; }
Real operator-(Real a);
Real fma(Real a, RealOperand b, RealOperand c);
Real abs(Real a);
Real sqrt(Real a);
Real floor(Real a);

// Ordered comparisons: false on NaN, but for !=, which is true.
Flag operator<(Real a, RealOperand b);
Flag operator<=(Real a, RealOperand b);
Flag operator>(Real a, RealOperand b);
Flag operator>=(Real a, RealOperand b);
Flag operator==(Real a, RealOperand b);
Flag operator!=(Real a, RealOperand b);

Bits operator+(Bits a, BitsOperand b);
Bits operator-(Bits a, BitsOperand b);
Bits operator&(Bits a, BitsOperand b);
Bits operator|(Bits a, BitsOperand b);
Bits operator^(Bits a, BitsOperand b);
Bits operator<<(Bits a, BitsOperand b);
Bits operator>>(Bits a, BitsOperand b); // zeros come in
Bits arithmeticShiftRight(Bits a, BitsOperand b);
Bits maximum(Bits a, BitsOperand b); // signed
Bits lowProduct(Bits a, Bits b);
std::pair<Bits, Bits> wideProduct(Bits a, Bits b); // low, high; unsigned
Flag operator<(Bits a, BitsOperand b);             // unsigned
Flag operator!=(Bits a, BitsOperand b);

Flag operator&(Flag a, Flag b);
Flag operator|(Flag a, Flag b);
Flag operator!(Flag a);

Real select(Flag condition, RealOperand yes, RealOperand no);
Bits select(Flag condition, Bits yes, Bits no);

Bits bitsOf(Real a);
Real realOf(Bits a);         // the same bits
Real toReal(Bits a);         // the signed number
Bits truncateToBits(Real a); // the signed number, toward zero

// min and max that keep a NaN in `a` (one instruction on x86).
Real atMost(Real a, double limit);
Real atLeast(Real a, double limit);

Bits signOf(Real a);                  // the sign bit alone
Real flipSign(Real a, Bits signBits); // `a` negated where the sign bit is set

// c0 + c1 x + c2 x^2 + ... by Horner's rule, skipping the first `from` coefficients of the table.
Real polynomial(Real x, const tables::Table &table, size_t from = 0);

// An unevaluated sum high + low, with low below half an ulp of high: twice the working precision.
struct Pair {
  Real high, low;
};
Pair twoSum(Real a, Real b);     // exact
Pair fastTwoSum(Real a, Real b); // exact where |a| >= |b| or a is 0
Pair twoProduct(Real a, Real b); // exact unless it underflows
// numerator / denominator, to nearly twice the precision.
Pair quotient(Pair numerator, Pair denominator);

} // namespace nacre::elementary
