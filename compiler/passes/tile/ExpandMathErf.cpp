// erf and erfc. erf is a polynomial near zero and 1 - erfc elsewhere. erfc(a) = exp(-a^2) g(a) / (1 + 2 a) for a >= 0,
// where g is so flat that a polynomial in (a - c) / (a + c) gives it over the whole range; every factor is a pair, so
// that only the last rounding shows.
#include "compiler/passes/tile/MathFunctions.h"
#include "compiler/passes/tile/MathPieces.h"

namespace nacre::elementary {

namespace {

// g(a), normalized.
Pair scaledComplement(Real a) {
  double center = a.pick(3, 4);
  Real t = (a - center) / (a + center);
  Real tail = fma(t, polynomial(t, tables::scaledErrorComplement, 2), a.part(tables::scaledErrorComplement, 1));
  return fastTwoSum(a.part(tables::scaledErrorComplement, 0), tail);
}

// 1 - erf(a) for a >= 1, where an absolute error is harmless.
Real roughComplement(Real a) {
  if (!a.emitter->isDouble)
    return expInNormalRange(polynomial(a, tables::logErrorComplement));
  return expInNormalRange(-(a * a)) * (scaledComplement(a).high / fma(a, 2.0, 1.0));
}

} // namespace

Real erf(Real x) {
  Real magnitude = abs(x);
  Real square = magnitude * magnitude;
  Real nearZero = fma(magnitude, polynomial(square, tables::errorFunction), magnitude);
  // The lower bound keeps lanes that are not used in range as well.
  Real away = 1.0 - roughComplement(atMost(atLeast(magnitude, 1.0), x.pick(4, 6)));
  return flipSign(select(magnitude < 1.0, nearZero, away), signOf(x));
}

Real erfc(Real x) {
  Real a = atMost(abs(x), x.pick(10.2, 27.3));
  // exp(-a^2) = 2^n (1 + r + r^2 P(r)), with the square exact in two parts.
  Pair square = twoProduct(a, a);
  auto [power, remainder] = reduceExponent(-square.high);
  Pair r = twoSum(remainder.high, remainder.low - square.low);
  Pair head = fastTwoSum(x.like(1.0), r.high);
  Real tail = fma(r.high * r.high, polynomial(r.high, tables::exponential), r.low);
  Pair exponential = fastTwoSum(head.high, tail);
  exponential.low = exponential.low + fma(r.high, r.low, head.low);

  Pair fraction = quotient(scaledComplement(a), twoSum(a * 2.0, x.like(1.0)));
  Pair product = twoProduct(exponential.high, fraction.high);
  Real rest = fma(exponential.high, fraction.low, fma(exponential.low, fraction.high, product.low));
  Real result = scaleByPowerOfTwo(product.high + rest, power);
  result = select(x < 0.0, 2.0 - result, result);

  // Near zero 1 - erf(x) is better: g is at its steepest there.
  Pair complement = fastTwoSum(x.like(1.0), -x);
  Real nearZero = complement.high + fma(-x, polynomial(x * x, tables::errorFunction), complement.low);
  return select(abs(x) < 0.5, nearZero, result);
}

} // namespace nacre::elementary
