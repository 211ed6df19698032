// The formats of floating-point numbers that instructions name, and their conversions, all rounding to nearest even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace nacre::simulator::amdgcn {

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

inline float toFloat(Half value) {
  uint32_t sign = uint32_t(value.bits & 0x8000) << 16, exponent = value.bits >> 10 & 31, fraction = value.bits & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}
inline float toFloat(Bfloat value) { return std::bit_cast<float>(uint32_t(value.bits) << 16); }

// Rounds to `fractionBits` bits of fraction and exponents down to `least`; the result is exact in double.
inline double roundTo(double value, int fractionBits, int least) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int unit = std::max(std::ilogb(value), least) - fractionBits;
  return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

inline Half toHalf(double value) {
  auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value))
    return {static_cast<uint16_t>(sign | 0x7e00)};
  double rounded = std::fabs(roundTo(value, 10, -14));
  if (rounded > 65504)
    return {static_cast<uint16_t>(sign | 0x7c00)};
  if (rounded < 0x1p-14)
    return {static_cast<uint16_t>(sign | static_cast<uint16_t>(rounded * 0x1p24))};
  int exponent = std::ilogb(rounded);
  auto fraction = static_cast<uint32_t>(std::ldexp(rounded, 10 - exponent)) & 0x3ff;
  return {static_cast<uint16_t>(sign | static_cast<uint32_t>(exponent + 15) << 10 | fraction)};
}
// Of a float, without slow calls: the common case.
inline Half toHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffff;
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000)
    return {static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff))};
  if (magnitude >= 0x477ff000)
    return {static_cast<uint16_t>(sign | 0x7c00)};
  if (magnitude < 0x38800000) { // the sum's last bit is worth 2^-24
    float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000))};
  }
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return {static_cast<uint16_t>(sign | (magnitude - 0x38000000) >> 13)};
}
inline Bfloat toBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return {static_cast<uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

// fma whose result is rounded once, to a format narrower than double: the sum is rounded to odd first.
inline double fusedToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c; // the product of two floats is exact
  if (!std::isfinite(sum))
    return sum;
  double back = sum - product, error = (product - (sum - back)) + (c - back);
  if (error != 0 && !(std::bit_cast<uint64_t>(sum) & 1))
    sum = std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
  return sum;
}

inline bool isDenormal(float value) { return value != 0 && std::fabs(value) < 0x1p-126f; }
inline bool isDenormal(double value) { return value != 0 && std::fabs(value) < 0x1p-1022; }
inline float flushed(float value) { return isDenormal(value) ? std::copysign(0.0f, value) : value; }

// The 8-bit formats of the OCP standard (gfx950, gfx12) and those of gfx942, whose bias is one more and whose only NaN
// is the negative zero.
enum class Float8 : uint8_t { E4M3, E5M2, E4M3Fnuz, E5M2Fnuz };
float fromFloat8(uint8_t bits, Float8 format);
uint8_t toFloat8(float value, Float8 format, bool saturates);

} // namespace nacre::simulator::amdgcn
