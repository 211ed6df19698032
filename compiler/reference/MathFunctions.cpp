// The functions of the C library. Floats are computed in double and rounded, so that they are right to the last place
// in all but very few cases.
#include "compiler/reference/ChunkLoops.h"
#include <cmath>

using namespace nacre;
using namespace nacre::detail;

namespace {
template <typename T> ChunkFunction mathOf(UnaryOp op) {
  switch (op) {
#define NACRE_MATH(op, expression)                                                                                     \
  case UnaryOp::op: {                                                                                                  \
    struct Function {                                                                                                  \
      static T apply(T element) {                                                                                      \
        double x = element;                                                                                            \
        return static_cast<T>(expression);                                                                             \
      }                                                                                                                \
    };                                                                                                                 \
    return scalarLoop<T, T, Function>;                                                                                 \
  }
    NACRE_MATH(Exp, std::exp(x))
    NACRE_MATH(Exp2, std::exp2(x))
    NACRE_MATH(Log, std::log(x))
    NACRE_MATH(Log2, std::log2(x))
    NACRE_MATH(Log10, std::log10(x))
    NACRE_MATH(Log1p, std::log1p(x))
    NACRE_MATH(Expm1, std::expm1(x))
    NACRE_MATH(Sin, std::sin(x))
    NACRE_MATH(Cos, std::cos(x))
    NACRE_MATH(Tan, std::tan(x))
    NACRE_MATH(Asin, std::asin(x))
    NACRE_MATH(Acos, std::acos(x))
    NACRE_MATH(Atan, std::atan(x))
    NACRE_MATH(Sinh, std::sinh(x))
    NACRE_MATH(Cosh, std::cosh(x))
    NACRE_MATH(Tanh, std::tanh(x))
    NACRE_MATH(Asinh, std::asinh(x))
    NACRE_MATH(Acosh, std::acosh(x))
    NACRE_MATH(Atanh, std::atanh(x))
    NACRE_MATH(Erf, std::erf(x))
    NACRE_MATH(Erfc, std::erfc(x))
    NACRE_MATH(Cbrt, std::cbrt(x))
    NACRE_MATH(Rsqrt, 1.0 / std::sqrt(x))
#undef NACRE_MATH
  default:
    return nullptr;
  }
}
} // namespace

ChunkFunction nacre::mathFunction(UnaryOp op, ScalarKind kind) {
  return kind == ScalarKind::Float64 ? mathOf<double>(op) : mathOf<float>(op);
}
