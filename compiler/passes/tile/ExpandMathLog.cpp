// log, log2, log10, log1p: x = 2^k (1 + f), f within [sqrt(1/2) - 1, sqrt(2) - 1), and ln(1 + f) = f + tail. The sum
// k ln 2 + f + tail keeps what its first addition rounds off, so nothing is lost near x = 1.
#include "compiler/passes/tile/MathFunctions.h"
#include "compiler/passes/tile/MathPieces.h"
#include <limits>

namespace nacre::elementary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

// ln(1 + f) - f: the high part is -f^2/2 rounded, the low part the rest.
Pair logTail(Real f) {
  Pair halfSquare = twoProduct(f, f * 0.5);
  if (f.emitter->isDouble) {
    // With s = f / (2 + f), ln(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + s^2 P(s^2)).
    Real s = f / (f + 2.0);
    Real square = s * s;
    Real sum = fma(square, polynomial(square, tables::logarithmByQuotient), halfSquare.high);
    return {-halfSquare.high, fma(s, sum, -halfSquare.low)};
  }
  Real halfCube = f * halfSquare.high;
  return {-halfSquare.high, fma(halfCube, polynomial(f, tables::logarithm), -halfSquare.low)};
}

// The result for positive finite x, and what the function is elsewhere.
Real withLogarithmDomain(Real x, Real result) {
  Real outside = select(x == 0.0, -infinity, select(x == infinity, infinity, notANumber));
  return select((x > 0.0) & (x < infinity), result, outside);
}

// k * logOfTwo + (f + tail) * factor, where logOfTwo and factor are in the same base; a null one is 1.
Real assemble(Real k, Real f, Pair tail, const tables::Table *logOfTwo, const tables::Table *factor) {
  Real rest = tail.low;
  if (factor) {
    Real high = f.part(*factor, 0);
    Pair product = twoProduct(f, high);
    rest = fma(tail.high, high, fma(tail.low, high, fma(f, f.part(*factor, 1), product.low)));
    f = product.high;
  }
  if (logOfTwo) {
    rest = fma(k, k.part(*logOfTwo, 1), rest);
    k = k * k.part(*logOfTwo, 0); // exact
  }
  Pair sum = fastTwoSum(k, f);
  rest = sum.low + rest;
  return sum.high + (factor ? rest : tail.high + rest);
}

Real logarithm(Real x, const tables::Table *logOfTwo, const tables::Table *factor) {
  MantissaSplit split = splitMantissa(x);
  Real f = split.mantissa - 1.0;
  return withLogarithmDomain(x, assemble(split.exponent, f, logTail(f), logOfTwo, factor));
}

} // namespace

MantissaSplit splitMantissa(Real x) {
  Elementwise &emitter = *x.emitter;
  uint64_t mantissaBits = emitter.mantissaBits();
  Flag subnormal = x < x.pick(0x1p-126, 0x1p-1022);
  double lift = x.pick(25, 54);
  Bits bits = bitsOf(select(subnormal, x * x.pick(0x1p25, 0x1p54), x));
  uint64_t rootOfHalf = emitter.isDouble ? 0x3FE6A09E667F3BCD : 0x3F3504F3;
  Bits exponent = arithmeticShiftRight(bits - rootOfHalf, mantissaBits);
  Bits exponentField = exponent << mantissaBits;
  return {toReal(exponent) - select(subnormal, lift, 0.0), realOf(bits - exponentField),
          realOf(maximum(emitter.bits(emitter.oneBits()) - exponentField, 0))};
}

Real logOnePlus(Pair argument, RealOperand moreExponent) {
  Elementwise *emitter = argument.high.emitter;
  Pair sum = twoSum(argument.high, emitter->real(1.0));
  MantissaSplit split = splitMantissa(sum.high);
  // The mantissa is of the rounded sum; what was rounded off is scaled alike and added to f.
  Pair f = fastTwoSum(split.mantissa - 1.0, (sum.low + argument.low) * split.inverseScale);
  Pair tail = logTail(f.high);
  tail.low = tail.low + fma(-f.high, f.low, f.low);
  return assemble(split.exponent + moreExponent.in(emitter), f.high, tail, &tables::logOfTwo, nullptr);
}

Real log(Real x) { return logarithm(x, &tables::logOfTwo, nullptr); }
Real log2(Real x) { return logarithm(x, nullptr, &tables::binaryLogOfE); }
Real log10(Real x) { return logarithm(x, &tables::decimalLogOfTwo, &tables::decimalLogOfE); }

Real log1p(Real x) {
  Real result = logOnePlus({x, x.like(0.0)});
  Real outside = select(x == -1.0, -infinity, select(x == infinity, infinity, notANumber));
  result = select((x > -1.0) & (x < infinity), result, outside);
  return select(abs(x) < x.pick(0x1p-25, 0x1p-54), x, result);
}

} // namespace nacre::elementary
