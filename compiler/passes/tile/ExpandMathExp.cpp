// exp, exp2, expm1, sinh, cosh, tanh: x = n ln 2 + r, a polynomial in r, and 2^n put together from bits.
#include "compiler/passes/tile/MathFunctions.h"
#include "compiler/passes/tile/MathPieces.h"

namespace nacre::elementary {

namespace {

// 1.5 * 2^mantissaBits: adding it rounds to an integer, which is then in the lowest bits. Both it and its half have
// zeros in the bits that a shift by mantissaBits keeps.
double roundingBias(Real x) { return x.pick(0x1.8p23, 0x1.8p52); }

// Below this, functions with slope 1 at zero return their argument.
double tiny(Real x) { return x.pick(0x1p-25, 0x1p-54); }

} // namespace

RoundedToInteger roundProduct(Real a, Real b) {
  Real bias = a.like(roundingBias(a));
  Real biased = fma(a, b, bias);
  Real n = biased - bias;
  return {n, {bitsOf(biased), n}};
}

RoundedToInteger roundToInteger(Real a) {
  Real bias = a.like(roundingBias(a));
  Real biased = a + bias;
  Real n = biased - bias;
  return {n, {bitsOf(biased), n}};
}

Real powerOfTwo(PowerOfTwo power, int64_t offset) {
  Elementwise &emitter = *power.biased.emitter;
  uint64_t exponentOfOne = emitter.oneBits() + (static_cast<uint64_t>(offset) << emitter.mantissaBits());
  return realOf((power.biased << uint64_t(emitter.mantissaBits())) + exponentOfOne);
}

Real scaleByPowerOfTwo(Real a, PowerOfTwo power) {
  Elementwise &emitter = *a.emitter;
  if (emitter.target && emitter.target->scaleByPowerOfTwo && power.n.value)
    if (mlir::Value scaled =
            emitter.target->scaleByPowerOfTwo(emitter.builder, emitter.location, a.value, power.n.value))
      return {&emitter, scaled};
  Bits half = power.biased >> uint64_t(1);
  return a * powerOfTwo({half, {}}) * powerOfTwo({power.biased - half, {}});
}

ExponentReduction reduceExponent(Real x) {
  RoundedToInteger rounded = roundProduct(x, x.part(tables::binaryLogOfE, 0));
  Real exact = fma(rounded.n, -x.part(tables::logOfTwo, 0), x);
  Real minusLow = -x.part(tables::logOfTwo, 1);
  Real high = fma(rounded.n, minusLow, exact);
  return {rounded.power, {high, fma(rounded.n, minusLow, exact - high)}};
}

Real expInNormalRange(Real x) {
  ExponentReduction reduced = reduceExponent(x);
  Real r = reduced.remainder.high;
  Real sum = fma(r, polynomial(r, tables::exponential), 1.0);
  return fma(r, sum, 1.0) * powerOfTwo(reduced.power);
}

Real exp(Real x) {
  Real inRange = atLeast(atMost(x, x.pick(89, 710)), x.pick(-104, -746));
  ExponentReduction reduced = reduceExponent(inRange);
  Real r = reduced.remainder.high;
  Real sum = fma(r, polynomial(r, tables::exponential), 1.0);
  return scaleByPowerOfTwo(fma(r, sum, 1.0), reduced.power);
}

Real exp2(Real x) {
  Real inRange = atLeast(atMost(x, x.pick(129, 1025)), x.pick(-151, -1076));
  RoundedToInteger rounded = roundToInteger(inRange);
  Real r = inRange - rounded.n;
  return scaleByPowerOfTwo(fma(r, polynomial(r, tables::binaryExponential), 1.0), rounded.power);
}

Real expm1(Real x) {
  // s (exp(r) - 1) + s - 1 with s = 2^n, all halved so that n may be the largest exponent plus one.
  Real inRange = atLeast(atMost(x, x.pick(89, 710)), x.pick(-18, -38));
  auto [power, r] = reduceExponent(inRange);
  Real tail = fma(r.high * r.high, polynomial(r.high, tables::exponential), r.low);
  Real halfScale = powerOfTwo(power, -1);
  Real head = fma(halfScale, r.high, halfScale - 0.5);
  Real result = fma(halfScale, tail, head) * 2.0;
  return select(abs(x) < tiny(x), x, result);
}

namespace {

// With |x| = n ln 2 + r: the parts of sinh(n ln 2), cosh(n ln 2), sinh(r) = r + sineTail, cosh(r) = 1 + cosineTail. The
// first two are halved, so that they stay finite up to the overflow of the result.
struct HyperbolicParts {
  Pair halfSinh, halfCosh;
  Real r, sineTail, cosineTail;
};

HyperbolicParts hyperbolicParts(Real magnitude) {
  Elementwise &emitter = *magnitude.emitter;
  auto [power, r] = reduceExponent(atMost(magnitude, magnitude.pick(89.75, 710.7)));
  Real up = powerOfTwo(power, -2);
  // 2^(-n - 2); 0 where it would be subnormal, far below what can matter.
  Bits n = power.biased - bitsOf(magnitude.like(roundingBias(magnitude)));
  Bits exponent = maximum(emitter.bits(emitter.exponentBias() - 2) - n, 0);
  Real down = realOf(exponent << uint64_t(emitter.mantissaBits()));
  Real square = r.high * r.high;
  return {fastTwoSum(up, -down), fastTwoSum(up, down), r.high,
          fma(r.high * square, polynomial(square, tables::hyperbolicSine), r.low),
          fma(square, polynomial(square, tables::hyperbolicCosine), r.high * r.low)};
}

} // namespace

Real sinh(Real x) {
  Real magnitude = abs(x);
  HyperbolicParts parts = hyperbolicParts(magnitude);
  Real head = fma(parts.halfCosh.high, parts.r, parts.halfSinh.high);
  Real tail = fma(parts.halfSinh.high, parts.cosineTail, fma(parts.halfCosh.high, parts.sineTail, parts.halfSinh.low));
  Real result = select(magnitude < tiny(x), magnitude, (head + tail) * 2.0);
  return flipSign(result, signOf(x));
}

Real cosh(Real x) {
  HyperbolicParts parts = hyperbolicParts(abs(x));
  Real head = fma(parts.halfSinh.high, parts.r, parts.halfCosh.high);
  Real tail = fma(parts.halfCosh.high, parts.cosineTail, fma(parts.halfSinh.high, parts.sineTail, parts.halfCosh.low));
  return (head + tail) * 2.0;
}

Real tanh(Real x) {
  Real magnitude = abs(x);
  Real square = magnitude * magnitude;
  Real nearZero = fma(magnitude * square, polynomial(square, tables::hyperbolicTangent), magnitude);
  Real exponential = expInNormalRange(atMost(magnitude, x.pick(10, 20)) * 2.0);
  Real away = 1.0 - 2.0 / (exponential + 1.0);
  return flipSign(select(magnitude < 0.55, nearZero, away), signOf(x));
}

} // namespace nacre::elementary
