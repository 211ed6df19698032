// powf, cbrt, rsqrt.
#include "compiler/passes/tile/MathFunctions.h"
#include "compiler/passes/tile/MathPieces.h"
#include <limits>

namespace nacre::elementary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

// log2(x) for positive finite x, good to some ten bits beyond the working precision: an error here is multiplied by the
// exponent of the power. With s = f / (2 + f), ln(1 + f) = 2 atanh(s) = 2 (s + s^3 (1/3 + s^2 P(s^2))).
Pair binaryLogarithm(Real x) {
  MantissaSplit split = splitMantissa(x);
  Real f = split.mantissa - 1.0;
  Pair s = quotient({f, x.like(0.0)}, fastTwoSum(x.like(2.0), f));
  Pair square = twoProduct(s.high, s.high);
  square.low = fma(s.high * 2.0, s.low, square.low);
  Real series = fma(square.high, polynomial(square.high, tables::quotientTail), x.part(tables::third, 1));
  Pair factor = fastTwoSum(x.part(tables::third, 0), series);
  Pair cube = twoProduct(s.high, square.high);
  cube.low = cube.low + fma(s.high, square.low, s.low * square.high);
  Pair term = twoProduct(cube.high, factor.high);
  term.low = term.low + fma(cube.high, factor.low, cube.low * factor.high);
  Pair sum = fastTwoSum(s.high, term.high);
  sum.low = sum.low + (s.low + term.low);

  Real scale = x.part(tables::binaryLogOfE, 0) * 2.0, scaleLow = x.part(tables::binaryLogOfE, 1) * 2.0;
  Pair fraction = twoProduct(sum.high, scale);
  fraction.low = fraction.low + fma(sum.high, scaleLow, sum.low * scale);
  Pair result = fastTwoSum(split.exponent, fraction.high);
  return fastTwoSum(result.high, result.low + fraction.low);
}

} // namespace

Real powf(Real base, Real exponent) {
  Real magnitude = abs(base);
  Pair logarithm = binaryLogarithm(magnitude);
  Flag atEnd = (magnitude == 0.0) | (magnitude == infinity);
  logarithm.high = select(atEnd, select(magnitude == 0.0, -infinity, infinity), logarithm.high);

  // magnitude^exponent = 2^(high + low); beyond the limit the result is 0 or infinite whatever the low part is.
  Real high = select(magnitude == 1.0, 0.0, exponent * logarithm.high);
  Real low = fma(exponent, logarithm.low, fma(exponent, logarithm.high, -high));
  double limit = base.pick(160, 1100);
  low = select((abs(high) < limit) & (magnitude != 1.0), low, 0.0);
  high = atLeast(atMost(high, limit), -limit);
  RoundedToInteger rounded = roundToInteger(high);
  Real r = (high - rounded.n) + low;
  Real power = scaleByPowerOfTwo(fma(r, polynomial(r, tables::binaryExponential), 1.0), rounded.power);

  Real half = exponent * 0.5;
  Flag integer = floor(exponent) == exponent;
  Flag odd = integer & (floor(half) != half);
  Real sign = select(odd, base, 1.0);
  Real result = flipSign(power, signOf(sign));
  result = select((base < 0.0) & (base > -infinity) & !integer, notANumber, result);
  result = select((base != base) | (exponent != exponent), notANumber, result);
  return select((exponent == 0.0) | (base == 1.0), 1.0, result);
}

Real cbrt(Real x) {
  Elementwise &emitter = *x.emitter;
  Real magnitude = abs(x);
  Flag subnormal = magnitude < x.pick(0x1p-126, 0x1p-1022);
  Real a = select(subnormal, magnitude * x.pick(0x1p24, 0x1p54), magnitude);

  // y = a^(-1/3): the exponent and the mantissa alike divided by -3 give it to 4 percent; each step raises the
  // remaining error to its fourth power.
  uint64_t bias = emitter.isDouble ? 0x553EF0FF289DD796 : 0x54A2FA8C;
  Bits thirdOfBits = truncateToBits(toReal(bitsOf(a)) * x.part(tables::third, 0));
  Real y = realOf(emitter.bits(bias) - thirdOfBits);
  for (int step = 0; step < (emitter.isDouble ? 2 : 1); ++step) {
    Real error = 1.0 - (a * y) * (y * y);
    Real series = fma(error, fma(error, x.like(14.0 / 81), 2.0 / 9), 1.0 / 3);
    y = fma(y * error, series, y);
  }
  // root = a y^2, and one step of Newton's with an exact residual.
  Real root = a * y * y;
  Pair square = twoProduct(root, root);
  Real residual = fma(-square.high, root, a) - square.low * root;
  root = fma(residual, y * y * x.part(tables::third, 0), root);
  root = select(subnormal, root * x.pick(0x1p-8, 0x1p-18), root);
  return select((magnitude > 0.0) & (magnitude < infinity), flipSign(root, signOf(x)), x);
}

Real rsqrt(Real x) { return 1.0 / sqrt(x); }

} // namespace nacre::elementary
