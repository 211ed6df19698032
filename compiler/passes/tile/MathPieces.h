// The pieces that several families of elementary functions share: reduction by powers of two for exponentials and
// logarithms. None of them looks after special values: their callers do.
#pragma once

#include "compiler/passes/tile/Elementwise.h"

namespace nacre::elementary {

// An integer n carried as the bits of n + 1.5 * 2^mantissaBits, whose lowest bits are those of n: the addition that
// rounds to an integer leaves it there for free.
struct PowerOfTwo {
  Bits biased;
  Real n; // the same as a number
};
struct RoundedToInteger {
  Real n;
  PowerOfTwo power;
};
// The integer nearest to a * b, or to a.
RoundedToInteger roundProduct(Real a, Real b);
RoundedToInteger roundToInteger(Real a);

// 2^(n + offset), which must be a normal number.
Real powerOfTwo(PowerOfTwo power, int64_t offset = 0);
// a * 2^n with one rounding, where n reaches the subnormals and beyond the largest number.
Real scaleByPowerOfTwo(Real a, PowerOfTwo power);

// x = n ln 2 + remainder, |remainder| <= ln(2) / 2.
struct ExponentReduction {
  PowerOfTwo power;
  Pair remainder;
};
ExponentReduction reduceExponent(Real x);
// exp(x) where it is far from both overflow and the subnormals.
Real expInNormalRange(Real x);

// x = 2^exponent * mantissa, mantissa in [sqrt(1/2), sqrt(2)), for positive finite x. inverseScale is 2^-exponent, for
// normal x; 0 where that would be subnormal.
struct MantissaSplit {
  Real exponent, mantissa, inverseScale;
};
MantissaSplit splitMantissa(Real x);

// ln(1 + argument) + moreExponent * ln 2; the argument is above -1.
Real logOnePlus(Pair argument, RealOperand moreExponent = 0.0);

} // namespace nacre::elementary
