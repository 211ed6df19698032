// asin, acos, atan, atan2 by polynomials on a reduced argument held as a pair; asinh, acosh, atanh as ln(1 +
// something), the something held as a pair too.
#include "compiler/passes/tile/MathFunctions.h"
#include "compiler/passes/tile/MathPieces.h"
#include <limits>

namespace nacre::elementary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

Flag isNaN(Real x) { return x != x; }

// The square root of square.high + square.low, for square.high >= 0.
Pair squareRoot(Pair square) {
  Real root = sqrt(square.high);
  Real residual = fma(-root, root, square.high) + square.low;
  return {root, residual / select(root == 0.0, 1.0, root * 2.0)};
}

// asin(|x|) below 1/2; above, asin(sqrt((1 - |x|) / 2)), from which both asin and acos follow by doubling.
struct ArcSineParts {
  Flag small;
  Pair angle;
};

ArcSineParts arcSineParts(Real magnitude) {
  Flag small = magnitude < 0.5;
  Real halfComplement = fma(magnitude, -0.5, 0.5); // exact where it is used
  Real square = select(small, magnitude * magnitude, halfComplement);
  Pair root = squareRoot({halfComplement, magnitude.like(0.0)});
  Real argument = select(small, magnitude, root.high);
  Real argumentLow = select(small, 0.0, root.low);
  return {small, {argument, fma(argument * square, polynomial(square, tables::arcSine), argumentLow)}};
}

// base + factor * angle, with base a multiple of pi/2 given in two parts.
Real combineAngles(Real baseHigh, Real baseLow, Real factor, Pair angle) {
  Pair sum = fastTwoSum(baseHigh, factor * angle.high);
  return sum.high + (sum.low + fma(factor, angle.low, baseLow));
}

// The angle of the point (adjacent, opposite), both at least 0 and not both 0, in [0, pi/2].
Pair angleInQuadrant(Real opposite, Real adjacent) {
  // Within tan(pi/8) of an axis, or of the diagonal.
  Flag low = opposite <= adjacent * 0x1.a8279ap-2;
  Flag high = opposite >= adjacent * 0x1.3504f4p+1;
  Real zero = opposite.like(0.0);
  Pair difference = twoSum(opposite, -adjacent), sum = twoSum(opposite, adjacent);
  Pair numerator = {select(low, opposite, select(high, -adjacent, difference.high)),
                    select(low | high, zero, difference.low)};
  Pair denominator = {select(low, adjacent, select(high, opposite, sum.high)), select(low | high, zero, sum.low)};
  Pair t = quotient(numerator, denominator);

  Real halfPi = opposite.part(tables::halfPi, 0), halfPiLow = opposite.part(tables::halfPi, 1);
  Real base = select(low, zero, select(high, halfPi, halfPi * 0.5));
  Real baseLow = select(low, zero, select(high, halfPiLow, halfPiLow * 0.5));
  Real square = t.high * t.high;
  Real tail = fma(t.high * square, polynomial(square, tables::arcTangent), fma(-square, t.low, t.low));
  Pair angle = fastTwoSum(base, t.high);
  return fastTwoSum(angle.high, angle.low + (tail + baseLow));
}

} // namespace

Real asin(Real x) {
  ArcSineParts parts = arcSineParts(abs(x));
  Real near = parts.angle.high + parts.angle.low;
  Real far = combineAngles(x.part(tables::halfPi, 0), x.part(tables::halfPi, 1), x.like(-2.0), parts.angle);
  return flipSign(select(parts.small, near, far), signOf(x));
}

Real acos(Real x) {
  ArcSineParts parts = arcSineParts(abs(x));
  Real halfPi = x.part(tables::halfPi, 0), halfPiLow = x.part(tables::halfPi, 1);
  Flag negative = x < 0.0;
  Real base = select(parts.small, halfPi, select(negative, halfPi * 2.0, 0.0));
  Real baseLow = select(parts.small, halfPiLow, select(negative, halfPiLow * 2.0, 0.0));
  Real factor = flipSign(select(parts.small, -1.0, 2.0), signOf(x));
  return combineAngles(base, baseLow, factor, parts.angle);
}

Real atan(Real x) {
  // Past the limit the angle is pi/2 to the last bit; an infinity would not survive the division.
  Pair angle = angleInQuadrant(atMost(abs(x), x.pick(0x1p40, 0x1p80)), x.like(1.0));
  return flipSign(angle.high, signOf(x));
}

Real atan2(Real y, Real x) {
  Real opposite = abs(y), adjacent = abs(x);
  // Infinities become the axis or the diagonal they point along; the origin becomes the axis of x.
  Flag upward = opposite == infinity, sideward = adjacent == infinity;
  Flag unbounded = upward | sideward;
  Flag origin = (opposite == 0.0) & (adjacent == 0.0);
  opposite = select(unbounded, select(upward, 1.0, 0.0), opposite);
  adjacent = select(unbounded, select(sideward, 1.0, 0.0), select(origin, 1.0, adjacent));
  // Scaled by a power of two, so that neither the sum of the two nor a reciprocal leaves the range; the larger one
  // stays above 1 when it comes down, so that a subnormal quotient keeps its digits.
  double large = y.pick(0x1p60, 0x1p500), small = y.pick(0x1p-60, 0x1p-500);
  Flag tooLarge = (opposite > large) | (adjacent > large);
  Flag tooSmall = (opposite < small) & (adjacent < small);
  Real scale = select(tooLarge, y.pick(0x1p-60, 0x1p-500), select(tooSmall, y.pick(0x1p90, 0x1p576), 1.0));
  Pair angle = angleInQuadrant(opposite * scale, adjacent * scale);

  Pair reflected = fastTwoSum(y.part(tables::halfPi, 0) * 2.0, -angle.high);
  Real behind = reflected.high + (reflected.low + (y.part(tables::halfPi, 1) * 2.0 - angle.low));
  Flag negative = signOf(x) != uint64_t(0);
  Real result = flipSign(select(negative, behind, angle.high), signOf(y));
  return select(isNaN(x) | isNaN(y), notANumber, result);
}

Real asinh(Real x) {
  // ln(|x| + sqrt(x^2 + 1)) = ln(1 + (|x| + x^2 / (1 + sqrt(x^2 + 1)))); for large x it is ln(2 |x|).
  Real magnitude = abs(x);
  Flag large = magnitude > x.pick(0x1p30, 0x1p60);
  Real moderate = select(large, 1.0, magnitude);
  Real square = moderate * moderate;
  Real part = square / (sqrt(square + 1.0) + 1.0);
  Pair sum = fastTwoSum(moderate, part);
  Pair argument = {select(large, magnitude, sum.high), select(large, 0.0, sum.low)};
  Real result = logOnePlus(argument, select(large, 1.0, 0.0));
  Flag itself = (magnitude < x.pick(0x1p-14, 0x1p-28)) | (magnitude == infinity) | isNaN(x);
  return flipSign(select(itself, magnitude, result), signOf(x));
}

Real acosh(Real x) {
  // With t = x - 1: ln(1 + t + sqrt(t^2 + 2 t)); for large x it is ln(2 x).
  Flag large = x > x.pick(0x1p30, 0x1p60);
  Pair t = twoSum(select(large, 1.0, x), x.like(-1.0));
  Pair square = twoProduct(t.high, t.high);
  Pair radicand = twoSum(square.high, t.high * 2.0);
  radicand.low = radicand.low + fma(t.low * 2.0, x, square.low);
  Pair root = squareRoot(radicand);
  Pair sum = fastTwoSum(root.high, t.high);
  Real low = sum.low + (root.low + t.low);
  Pair argument = {select(large, x, sum.high), select(large, 0.0, low)};
  Real result = logOnePlus(argument, select(large, 1.0, 0.0));
  return select(x == infinity, infinity, select(x >= 1.0, result, notANumber));
}

Real atanh(Real x) {
  // Half of ln((1 + |x|) / (1 - |x|)) = ln(1 + 2 |x| / (1 - |x|)).
  Real magnitude = abs(x);
  Pair complement = fastTwoSum(x.like(1.0), -magnitude);
  Pair argument = quotient({magnitude * 2.0, x.like(0.0)}, complement);
  Real result = logOnePlus(argument) * 0.5;
  result = select(magnitude < 1.0, result, select(magnitude == 1.0, infinity, notANumber));
  return flipSign(select(magnitude < x.pick(0x1p-14, 0x1p-28), magnitude, result), signOf(x));
}

} // namespace nacre::elementary
