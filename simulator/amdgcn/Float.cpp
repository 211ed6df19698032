// Vector arithmetic on floating-point numbers.
//
// The functions that the hardware approximates to one unit in the last place (exp, log, rcp, rsq, sqrt, sin, cos) are
// rounded correctly here; programs must not rely on the difference.
#include "simulator/amdgcn/Lanes.h"

namespace nacre::simulator::amdgcn {
namespace {

// A NaN loses against a number; of two zeros the negative one is the smaller.
template <typename T> T least(T a, T b) {
  if (std::isnan(a))
    return b;
  if (std::isnan(b))
    return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T> T greatest(T a, T b) {
  if (std::isnan(a))
    return b;
  if (std::isnan(b))
    return a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
template <typename T> T median(T a, T b, T c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c))
    return least(least(a, b), c);
  return greatest(least(a, b), least(greatest(a, b), c));
}
// The forms of gfx12 that keep a NaN.
template <typename T> T leastOrNaN(T a, T b) { return std::isnan(a) || std::isnan(b) ? a + b : least(a, b); }
template <typename T> T greatestOrNaN(T a, T b) { return std::isnan(a) || std::isnan(b) ? a + b : greatest(a, b); }

float fusedHalf(float a, float b, float c) { return toFloat(toHalf(fusedToOdd(a, b, c))); }
template <typename T> T fractionOf(T value) {
  T below = std::is_same_v<T, double> ? static_cast<T>(0x1.fffffffffffffp-1) : static_cast<T>(0x1.fffffep-1f);
  return std::min(value - std::floor(value), below);
}
// The angle is in turns.
float sineOfTurns(float turns) {
  return static_cast<float>(std::sin(2 * M_PI * (double(turns) - std::floor(double(turns)))));
}
float cosineOfTurns(float turns) {
  return static_cast<float>(std::cos(2 * M_PI * (double(turns) - std::floor(double(turns)))));
}
float power2(float value) { return flushed(static_cast<float>(std::exp2(double(value)))); }
float logarithm2(float value) { return static_cast<float>(std::log2(double(flushed(value)))); }
float reciprocal(float value) { return flushed(1.0f / flushed(value)); }
float reciprocalRoot(float value) { return static_cast<float>(1.0 / std::sqrt(double(flushed(value)))); }
float root(float value) { return static_cast<float>(std::sqrt(double(value))); }

template <typename T> int exponentField(T value) {
  if constexpr (sizeof(T) == 8)
    return static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff);
  else
    return static_cast<int>(std::bit_cast<uint32_t>(value) >> 23 & 0xff);
}

// Division in four steps: v_div_scale moves operands away from the ends of the range, v_rcp and fused operations
// compute, v_div_fmas moves the result back where VCC says so, v_div_fixup sets the special cases.
template <typename T> void divisionScale(Wave &wave, const Instruction &instruction) {
  constexpr int shift = sizeof(T) == 8 ? 128 : 64, far = sizeof(T) == 8 ? 768 : 96, tiny = sizeof(T) == 8 ? 53 : 23;
  constexpr T leastNormal = std::numeric_limits<T>::min();
  Row<T> value, denominator, numerator, result;
  fetch<T>(wave, instruction, 2, value);
  fetch<T>(wave, instruction, 3, denominator);
  fetch<T>(wave, instruction, 4, numerator);
  uint64_t scaled = 0;
  for (unsigned i = 0; i < maxLanes; ++i) {
    T a = value[i], d = denominator[i], n = numerator[i];
    bool isDenominator = a == d, isNumerator = a == n, back = false;
    bool smallInverse = d != 0 && std::fabs(T(1) / d) < leastNormal;
    bool smallQuotient = d != 0 && n != 0 && std::fabs(n / d) < leastNormal;
    if (n == 0 || d == 0) {
      a = std::numeric_limits<T>::quiet_NaN();
    } else if (exponentField(n) - exponentField(d) >= far) {
      back = true;
      if (isDenominator)
        a = std::ldexp(a, shift);
    } else if (isDenormal(d)) {
      a = std::ldexp(a, shift);
    } else if (smallInverse && smallQuotient) {
      back = true;
      if (isDenominator)
        a = std::ldexp(a, -shift);
    } else if (smallInverse) {
      a = std::ldexp(a, -shift);
    } else if (smallQuotient) {
      back = true;
      if (isNumerator)
        a = std::ldexp(a, shift);
    } else if (exponentField(n) <= tiny) {
      a = std::ldexp(a, shift);
    }
    result[i] = a;
    scaled |= uint64_t(back) << i;
  }
  store<T>(wave, instruction, result);
  wave.writeMask(instruction.operands.at(1), scaled & wave.active);
}

// 2^shift (a b + c), rounded once. a b corrects c a little, so that c less the sum is exact.
template <typename T> T scaledFused(T a, T b, T c, int shift) {
  T sum = std::fma(a, b, c), result = std::ldexp(sum, shift);
  T lost = sum - std::ldexp(result, -shift), rest = std::fma(a, b, c - sum);
  bool isTie = std::fabs(lost) == std::ldexp(std::numeric_limits<T>::denorm_min(), -shift) / 2;
  // A denormal result was rounded from a sum that seemed to lie in the middle: what the sum had lost decides.
  if (isTie && rest != 0 && std::signbit(rest) == std::signbit(lost))
    return std::ldexp(sum + lost, shift);
  return result;
}

template <typename T> void divisionFused(Wave &wave, const Instruction &instruction) {
  constexpr int shift = sizeof(T) == 8 ? 128 : 64, half = sizeof(T) == 8 ? 1023 : 127;
  Row<T> a, b, c;
  fetch<T>(wave, instruction, 1, a);
  fetch<T>(wave, instruction, 2, b);
  fetch<T>(wave, instruction, 3, c);
  uint64_t scaled = wave.vcc();
  for (unsigned i = 0; i < maxLanes; ++i) {
    // The quotient was made too small by 2^shift, or too large.
    a[i] = (scaled >> i & 1) ? scaledFused(a[i], b[i], c[i], exponentField(c[i]) > half ? shift : -shift)
                             : std::fma(a[i], b[i], c[i]);
  }
  store<T>(wave, instruction, a);
}

template <typename T> T divisionFixup(T quotient, T denominator, T numerator) {
  bool negative = std::signbit(denominator) != std::signbit(numerator);
  auto signedValue = [&](T magnitude) { return negative ? -magnitude : magnitude; };
  if (std::isnan(numerator))
    return numerator;
  if (std::isnan(denominator))
    return denominator;
  if ((numerator == 0 && denominator == 0) || (std::isinf(numerator) && std::isinf(denominator)))
    return -std::numeric_limits<T>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator))
    return signedValue(std::numeric_limits<T>::infinity());
  if (std::isinf(denominator) || numerator == 0)
    return signedValue(0);
  constexpr int underflow = sizeof(T) == 8 ? -1075 : -150;
  if (exponentField(numerator) - exponentField(denominator) < underflow)
    return signedValue(0);
  return std::isnan(quotient) ? signedValue(std::numeric_limits<T>::infinity()) : signedValue(std::fabs(quotient));
}

// v_fmamk: d = a * constant + b; v_fmaak: d = a * b + constant. The constant stands where it is used.
#define UNARY(name, type, expression) {name, lanes<type, type>([](Computed<type> a) { return expression; })}
#define BINARY(name, type, expression)                                                                                 \
  {name, lanes<type, type, type>([](Computed<type> a, Computed<type> b) { return expression; })}
#define TERNARY(name, type, expression)                                                                                \
  {name, lanes<type, type, type, type>([](Computed<type> a, Computed<type> b, Computed<type> c) { return expression; })}
#define ACCUMULATING(name, type, expression)                                                                           \
  {name, accumulatingLanes<type, type, type, type>(                                                                    \
             [](Computed<type> a, Computed<type> b, Computed<type> c) { return expression; })}
#define COMMON(suffix, type)                                                                                           \
  BINARY("v_add_" suffix, type, a + b), BINARY("v_mul_" suffix, type, a *b),                                           \
      BINARY("v_min_" suffix, type, least(a, b)), BINARY("v_max_" suffix, type, greatest(a, b)),                       \
      BINARY("v_min_num_" suffix, type, least(a, b)), BINARY("v_max_num_" suffix, type, greatest(a, b)),               \
      BINARY("v_minimum_" suffix, type, leastOrNaN(a, b)), BINARY("v_maximum_" suffix, type, greatestOrNaN(a, b)),     \
      UNARY("v_floor_" suffix, type, std::floor(a)), UNARY("v_ceil_" suffix, type, std::ceil(a)),                      \
      UNARY("v_trunc_" suffix, type, std::trunc(a)), UNARY("v_rndne_" suffix, type, std::nearbyint(a)),                \
      UNARY("v_fract_" suffix, type, fractionOf(a))
#define SMALL(suffix, type)                                                                                            \
  BINARY("v_sub_" suffix, type, a - b), BINARY("v_subrev_" suffix, type, b - a),                                       \
      TERNARY("v_min3_" suffix, type, least(least(a, b), c)),                                                          \
      TERNARY("v_max3_" suffix, type, greatest(greatest(a, b), c)),                                                    \
      TERNARY("v_min3_num_" suffix, type, least(least(a, b), c)),                                                      \
      TERNARY("v_max3_num_" suffix, type, greatest(greatest(a, b), c)),                                                \
      TERNARY("v_med3_" suffix, type, median(a, b, c)), TERNARY("v_med3_num_" suffix, type, median(a, b, c)),          \
      UNARY("v_exp_" suffix, type, power2(a)), UNARY("v_sin_" suffix, type, sineOfTurns(a)),                           \
      UNARY("v_cos_" suffix, type, cosineOfTurns(a)), TERNARY("v_maxmin_" suffix, type, least(greatest(a, b), c)),     \
      TERNARY("v_minmax_" suffix, type, greatest(least(a, b), c)),                                                     \
      TERNARY("v_maxmin_num_" suffix, type, least(greatest(a, b), c)),                                                 \
      TERNARY("v_minmax_num_" suffix, type, greatest(least(a, b), c))

constexpr HandlerRow rows[] = {
    COMMON("f32", float),
    COMMON("f16", Half),
    COMMON("f64", double),
    SMALL("f32", float),
    SMALL("f16", Half),
    BINARY("v_mul_legacy_f32", float, a == 0 || b == 0 ? 0 : a * b),
    BINARY("v_mul_dx9_zero_f32", float, a == 0 || b == 0 ? 0 : a * b),
    TERNARY("v_fma_f32", float, std::fma(a, b, c)),
    TERNARY("v_fma_f64", double, std::fma(a, b, c)),
    TERNARY("v_fma_f16", Half, fusedHalf(a, b, c)),
    TERNARY("v_mad_f32", float, flushed(flushed(flushed(a) * flushed(b)) + flushed(c))),
    ACCUMULATING("v_fmac_f32", float, std::fma(a, b, c)),
    ACCUMULATING("v_fmac_f64", double, std::fma(a, b, c)),
    ACCUMULATING("v_fmac_f16", Half, fusedHalf(a, b, c)),
    ACCUMULATING("v_mac_f32", float, flushed(flushed(flushed(a) * flushed(b)) + flushed(c))),
    TERNARY("v_madmk_f32", float, flushed(flushed(flushed(a) * flushed(b)) + flushed(c))),
    TERNARY("v_madak_f32", float, flushed(flushed(flushed(a) * flushed(b)) + flushed(c))),
    TERNARY("v_fmamk_f32", float, std::fma(a, b, c)),
    TERNARY("v_fmaak_f32", float, std::fma(a, b, c)),
    TERNARY("v_fmamk_f16", Half, fusedHalf(a, b, c)),
    TERNARY("v_fmaak_f16", Half, fusedHalf(a, b, c)),
    UNARY("v_log_f32", float, logarithm2(a)),
    UNARY("v_log_f16", Half, static_cast<float>(std::log2(double(a)))),
    UNARY("v_rcp_f32", float, reciprocal(a)),
    UNARY("v_rcp_iflag_f32", float, reciprocal(a)),
    UNARY("v_rcp_f16", Half, 1.0f / a),
    UNARY("v_rcp_f64", double, 1.0 / a),
    UNARY("v_rsq_f32", float, reciprocalRoot(a)),
    UNARY("v_rsq_f16", Half, static_cast<float>(1.0 / std::sqrt(double(a)))),
    UNARY("v_rsq_f64", double, 1.0 / std::sqrt(a)),
    UNARY("v_sqrt_f32", float, root(a)),
    UNARY("v_sqrt_f16", Half, root(a)),
    UNARY("v_sqrt_f64", double, std::sqrt(a)),
    {"v_ldexp_f32", lanes<float, float, int32_t>([](float a, int32_t b) { return std::ldexp(a, std::clamp(b, -1024, 1024)); })},
    {"v_ldexp_f64", lanes<double, double, int32_t>([](double a, int32_t b) { return std::ldexp(a, std::clamp(b, -4096, 4096)); })},
    {"v_ldexp_f16", lanes<Half, Half, int16_t>([](float a, int16_t b) { return std::ldexp(a, std::clamp<int>(b, -64, 64)); })},
    {"v_frexp_exp_i32_f32", lanes<int32_t, float>([](float a) { int e = 0; std::frexp(a, &e); return std::isfinite(a) && a != 0 ? e : 0; })},
    {"v_frexp_exp_i32_f64", lanes<int32_t, double>([](double a) { int e = 0; std::frexp(a, &e); return std::isfinite(a) && a != 0 ? e : 0; })},
    {"v_frexp_exp_i16_f16", lanes<int16_t, Half>([](float a) { int e = 0; std::frexp(a, &e); return static_cast<int16_t>(std::isfinite(a) && a != 0 ? e : 0); })},
    UNARY("v_frexp_mant_f32", float, (std::isfinite(a) ? [](float x) { int e; return std::frexp(x, &e); }(a) : a)),
    UNARY("v_frexp_mant_f64", double, (std::isfinite(a) ? [](double x) { int e; return std::frexp(x, &e); }(a) : a)),
    UNARY("v_frexp_mant_f16", Half, (std::isfinite(a) ? [](float x) { int e; return std::frexp(x, &e); }(a) : a)),
    {"v_div_scale_f32", divisionScale<float>},
    {"v_div_scale_f64", divisionScale<double>},
    {"v_div_fmas_f32", divisionFused<float>},
    {"v_div_fmas_f64", divisionFused<double>},
    TERNARY("v_div_fixup_f32", float, divisionFixup(a, b, c)),
    TERNARY("v_div_fixup_f64", double, divisionFixup(a, b, c)),
    TERNARY("v_div_fixup_f16", Half, divisionFixup(a, b, c)),
};

#undef UNARY
#undef BINARY
#undef TERNARY
#undef ACCUMULATING
#undef COMMON
#undef SMALL

} // namespace

void addFloatHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
