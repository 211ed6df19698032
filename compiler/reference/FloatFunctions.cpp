// Float arithmetic that the processor has: IEEE 754, rounded to nearest even.
#include "compiler/reference/ChunkLoops.h"
#include <bit>
#include <cmath>

using namespace nacre;
using namespace nacre::detail;

namespace {
template <typename T> using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <typename T> constexpr BitsOf<T> signOf = BitsOf<T>(1) << (sizeof(T) * 8 - 1);

#define NACRE_FLOAT_OP(name, expression)                                                                               \
  template <typename T> struct name {                                                                                  \
    [[gnu::always_inline]] static T apply(T a, T b) { return expression; }                                             \
  };
NACRE_FLOAT_OP(Add, a + b)
NACRE_FLOAT_OP(Sub, a - b)
NACRE_FLOAT_OP(Mul, a *b)
NACRE_FLOAT_OP(Div, a / b)
// Of two zeros the positive one is the larger; a NaN gives way to a number, or (minimum, maximum) wins over it.
NACRE_FLOAT_OP(MinNum, a != a ? b : b != b ? a : a < b ? a : b < a ? b : std::signbit(a) ? a : b)
NACRE_FLOAT_OP(MaxNum, a != a ? b : b != b ? a : a > b ? a : b > a ? b : std::signbit(a) ? b : a)
NACRE_FLOAT_OP(Minimum, a != a ? a : b != b ? b : a < b ? a : b < a ? b : std::signbit(a) ? a : b)
NACRE_FLOAT_OP(Maximum, a != a ? a : b != b ? b : a > b ? a : b > a ? b : std::signbit(a) ? b : a)
NACRE_FLOAT_OP(Remainder, std::fmod(a, b))
NACRE_FLOAT_OP(Power, static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b))))
NACRE_FLOAT_OP(ArcTangent2, static_cast<T>(std::atan2(static_cast<double>(a), static_cast<double>(b))))
NACRE_FLOAT_OP(CopySign, std::bit_cast<T>(static_cast<BitsOf<T>>((std::bit_cast<BitsOf<T>>(a) & ~signOf<T>) |
                                                                 (std::bit_cast<BitsOf<T>>(b) & signOf<T>))))
#undef NACRE_FLOAT_OP

#define NACRE_FLOAT_OP(name, expression)                                                                               \
  template <typename T> struct name {                                                                                  \
    [[gnu::always_inline]] static T apply(T a) { return expression; }                                                  \
  };
NACRE_FLOAT_OP(Negate, -a)
NACRE_FLOAT_OP(Absolute, std::bit_cast<T>(static_cast<BitsOf<T>>(std::bit_cast<BitsOf<T>>(a) & ~signOf<T>)))
NACRE_FLOAT_OP(SquareRoot, std::sqrt(a))
NACRE_FLOAT_OP(Floor, __builtin_elementwise_floor(a))
NACRE_FLOAT_OP(Ceil, __builtin_elementwise_ceil(a))
NACRE_FLOAT_OP(Truncate, __builtin_elementwise_trunc(a))
NACRE_FLOAT_OP(RoundEven, __builtin_elementwise_roundeven(a))
NACRE_FLOAT_OP(Round, std::round(a))
#undef NACRE_FLOAT_OP

template <typename T> void fmaLoop(const void *const *inputs, void *output, int64_t count) {
  auto *a = static_cast<const T *>(inputs[0]);
  auto *b = static_cast<const T *>(inputs[1]);
  auto *c = static_cast<const T *>(inputs[2]);
  auto *out = static_cast<T *>(output);
  vectorized([=]() NACRE_LOOP {
    for (int64_t i = 0; i < count; ++i)
      out[i] = __builtin_elementwise_fma(a[i], b[i], c[i]);
  });
}

template <typename T> ChunkFunction binaryOf(BinaryOp op) {
  switch (op) {
#define NACRE_CASE(op, function)                                                                                       \
  case BinaryOp::op:                                                                                                   \
    return binaryLoop<T, T, function<T>>;
    NACRE_CASE(AddF, Add)
    NACRE_CASE(SubF, Sub)
    NACRE_CASE(MulF, Mul)
    NACRE_CASE(DivF, Div)
    NACRE_CASE(MinNumF, MinNum)
    NACRE_CASE(MaxNumF, MaxNum)
    NACRE_CASE(MinimumF, Minimum)
    NACRE_CASE(MaximumF, Maximum)
    NACRE_CASE(CopySign, CopySign)
#undef NACRE_CASE
  case BinaryOp::RemF:
    return scalarBinaryLoop<T, T, Remainder<T>>;
  case BinaryOp::Pow:
    return scalarBinaryLoop<T, T, Power<T>>;
  case BinaryOp::Atan2:
    return scalarBinaryLoop<T, T, ArcTangent2<T>>;
  default:
    return nullptr;
  }
}

template <typename T> ChunkFunction unaryOf(UnaryOp op) {
  switch (op) {
#define NACRE_CASE(op, function)                                                                                       \
  case UnaryOp::op:                                                                                                    \
    return unaryLoop<T, T, function<T>>;
    NACRE_CASE(NegF, Negate)
    NACRE_CASE(AbsF, Absolute)
    NACRE_CASE(Sqrt, SquareRoot)
    NACRE_CASE(Floor, Floor)
    NACRE_CASE(Ceil, Ceil)
    NACRE_CASE(Trunc, Truncate)
    NACRE_CASE(RoundEven, RoundEven)
#undef NACRE_CASE
  case UnaryOp::Round:
    return scalarLoop<T, T, Round<T>>;
  default:
    return mathFunction(op, sizeof(T) == 4 ? ScalarKind::Float32 : ScalarKind::Float64);
  }
}
} // namespace

ChunkFunction nacre::floatBinaryFunction(BinaryOp op, ScalarKind kind) {
  return kind == ScalarKind::Float64 ? binaryOf<double>(op) : binaryOf<float>(op);
}
ChunkFunction nacre::floatUnaryFunction(UnaryOp op, ScalarKind kind) {
  return kind == ScalarKind::Float64 ? unaryOf<double>(op) : unaryOf<float>(op);
}
ChunkFunction nacre::fmaFunction(ScalarKind kind) {
  return kind == ScalarKind::Float64 ? fmaLoop<double> : fmaLoop<float>;
}
