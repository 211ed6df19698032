// The elementary functions, as branch-free elementwise arithmetic on f32 or f64 of any shape. Every one is within 2 ulp
// (most under 1), for every argument: NaN, infinities, signed zeros, subnormals in and out, domain errors (which give
// NaN).
//
// sin, cos and tan alone are not straight-line code: past a few thousand turns the argument is reduced with long
// integer arithmetic inside an scf.if taken only when some lane needs it. A tensor cannot be asked that, so these three
// take scalars and vectors only.
#pragma once

#include "compiler/passes/tile/Elementwise.h"

namespace nacre::elementary {

// ExpandMathExp.cpp
Real exp(Real x);
Real exp2(Real x);
Real expm1(Real x);
Real sinh(Real x);
Real cosh(Real x);
Real tanh(Real x);

// ExpandMathLog.cpp
Real log(Real x);
Real log2(Real x);
Real log10(Real x);
Real log1p(Real x);

// ExpandMathTrig.cpp
Real sin(Real x);
Real cos(Real x);
Real tan(Real x);

// ExpandMathInverse.cpp
Real asin(Real x);
Real acos(Real x);
Real atan(Real x);
Real atan2(Real y, Real x);
Real asinh(Real x);
Real acosh(Real x);
Real atanh(Real x);

// ExpandMathErf.cpp
Real erf(Real x);
Real erfc(Real x);

// ExpandMathPower.cpp
Real powf(Real base, Real exponent);
Real cbrt(Real x);
Real rsqrt(Real x);

} // namespace nacre::elementary
