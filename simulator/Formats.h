// Floating-point formats, and rounding to them, by integer arithmetic: exact in every mode.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace nacre::simulator {

enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };

// A binary format of up to 64 bits. `finiteOnly`: no infinities, NaN is all ones (e4m3).
struct FloatFormat {
  int exponentBits, mantissaBits;
  bool finiteOnly = false;
  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr uint64_t signBit() const { return uint64_t(1) << (exponentBits + mantissaBits); }
  constexpr uint64_t infinity() const { return ((uint64_t(1) << exponentBits) - 1) << mantissaBits; }
  constexpr uint64_t largest() const { return finiteOnly ? (signBit() - 1) - 1 : infinity() - 1; }
  constexpr uint64_t nan() const { return finiteOnly ? signBit() - 1 : signBit() - 1; }
};
constexpr FloatFormat halfFormat{5, 10}, bfloatFormat{8, 7}, singleFormat{8, 23}, doubleFormat{11, 52},
    e4m3Format{4, 3, true}, e5m2Format{5, 2}, tf32Format{8, 10};

// sign * mantissa * 2^exponent, plus something smaller than one unit of the mantissa's last place if `sticky`, as bits
// of the format. Overflow gives infinity or the largest value as the mode says; `saturate`: always the largest.
inline uint64_t roundTo(const FloatFormat &format, bool negative, uint64_t mantissa, int exponent, bool sticky,
                        Rounding mode, bool saturate = false) {
  uint64_t sign = negative ? format.signBit() : 0;
  auto overflow = [&] {
    bool down = saturate || mode == Rounding::Zero || (mode == Rounding::Down && !negative) ||
                (mode == Rounding::Up && negative);
    return sign | (down ? format.largest() : format.finiteOnly ? format.nan() : format.infinity());
  };
  auto roundsUp = [&](bool odd, bool half, bool below) {
    switch (mode) {
    case Rounding::Nearest:
      return half && (below || odd);
    case Rounding::NearestAway:
      return half;
    case Rounding::Up:
      return !negative && (half || below);
    case Rounding::Down:
      return negative && (half || below);
    default:
      return false;
    }
  };
  if (mantissa == 0) {
    // Only something tiny, or nothing.
    return sign | (sticky && roundsUp(false, false, true) ? 1 : 0);
  }
  int leading = 63 - std::countl_zero(mantissa);
  int value = leading + exponent;                                         // of the leading bit
  int smallest = 1 - format.bias();                                       // of normal numbers
  int last = (value < smallest ? smallest : value) - format.mantissaBits; // exponent of the result's last bit
  int shift = last - exponent;
  uint64_t kept;
  bool half = false, below = sticky;
  if (shift <= 0) {
    kept = -shift >= 64 ? 0 : mantissa << -shift;
  } else if (shift > 64) {
    kept = 0;
    below = true;
  } else {
    kept = shift == 64 ? 0 : mantissa >> shift;
    uint64_t dropped = shift == 64 ? mantissa : mantissa & ((uint64_t(1) << shift) - 1);
    half = dropped >> (shift - 1) & 1;
    below = below || (dropped & ((uint64_t(1) << (shift - 1)) - 1));
  }
  if (roundsUp(kept & 1, half, below))
    ++kept;
  uint64_t bits;
  if (value < smallest) {
    bits = kept; // a carry into the exponent is right as it is
  } else {
    int biased = value + format.bias();
    bits = (uint64_t(biased) << format.mantissaBits) + (kept - (uint64_t(1) << format.mantissaBits));
    if (biased >= (1 << format.exponentBits))
      return overflow();
  }
  if (bits > format.largest())
    return overflow();
  return sign | bits;
}

// A double, exactly or as the mode says. NaN gives the format's NaN (positive, all ones in the mantissa as the hardware
// does).
inline uint64_t encode(const FloatFormat &format, double value, Rounding mode, bool saturate = false,
                       bool sticky = false) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  bool negative = bits >> 63;
  int biased = static_cast<int>(bits >> 52 & 0x7FF);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  if (biased == 0x7FF) {
    if (mantissa)
      return format.nan();
    if (saturate || format.finiteOnly)
      return (negative ? format.signBit() : 0) | (saturate ? format.largest() : format.nan());
    return (negative ? format.signBit() : 0) | format.infinity();
  }
  if (biased == 0)
    return roundTo(format, negative, mantissa, -1074, sticky, mode, saturate);
  return roundTo(format, negative, mantissa | uint64_t(1) << 52, biased - 1075, sticky, mode, saturate);
}

inline double decodeBits(const FloatFormat &format, uint64_t bits) {
  bool negative = bits & format.signBit();
  uint64_t mantissa = bits & ((uint64_t(1) << format.mantissaBits) - 1);
  int biased = static_cast<int>(bits >> format.mantissaBits & ((uint64_t(1) << format.exponentBits) - 1));
  double magnitude;
  if (format.finiteOnly ? (bits & (format.signBit() - 1)) == format.nan()
                        : biased == (1 << format.exponentBits) - 1 && mantissa)
    return std::bit_cast<double>(uint64_t(0x7FF8000000000000));
  if (!format.finiteOnly && biased == (1 << format.exponentBits) - 1)
    magnitude = HUGE_VAL;
  else if (biased == 0)
    magnitude = std::ldexp(static_cast<double>(mantissa), 1 - format.bias() - format.mantissaBits);
  else
    magnitude = std::ldexp(static_cast<double>(mantissa | uint64_t(1) << format.mantissaBits),
                           biased - format.bias() - format.mantissaBits);
  return negative ? -magnitude : magnitude;
}

// Fast ways for the common formats.
inline float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, magnitude = half & 0x7FFF;
  uint32_t bits = (magnitude << 13) + (uint32_t(127 - 15) << 23);
  if (magnitude >= 0x7C00)
    bits = (magnitude << 13) + (uint32_t(255 - 31) << 23);
  else if (magnitude < 0x0400) // subnormal: made exact by a subtraction
    bits = std::bit_cast<uint32_t>(std::bit_cast<float>((magnitude << 13) + (uint32_t(127 - 14) << 23)) -
                                   std::bit_cast<float>(uint32_t(127 - 14) << 23));
  return std::bit_cast<float>(bits | sign);
}
inline uint16_t floatToHalf(float value) { // to nearest
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return 0x7FFF;
  if (magnitude >= 0x47800000)
    return static_cast<uint16_t>(sign | 0x7C00);
  if (magnitude < 0x38800000) { // subnormal: the addition rounds
    float rounded = std::bit_cast<float>(magnitude) + std::bit_cast<float>(uint32_t(126) << 23);
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - (uint32_t(126) << 23)));
  }
  uint32_t odd = magnitude >> 13 & 1;
  return static_cast<uint16_t>(sign | ((magnitude - (uint32_t(112) << 23) + 0xFFF + odd) >> 13));
}
inline float bfloatToFloat(uint16_t value) { return std::bit_cast<float>(uint32_t(value) << 16); }
inline uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return 0x7FFF;
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// a*b+c and the like with one more bit that says "inexact" (rounding to odd): rounding it again is exact.
inline double toOdd(double sum, double error) {
  if (error == 0 || !std::isfinite(sum))
    return sum;
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (bits & 1)
    return sum;
  bool away = (error > 0) == (sum > 0); // the exact value lies further from zero
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}
inline double addToOdd(double a, double b) {
  double sum = a + b;
  double part = sum - a;
  double error = (a - (sum - part)) + (b - part);
  return std::isfinite(sum) ? toOdd(sum, error) : sum;
}

constexpr uint32_t canonicalNaN = 0x7FFFFFFF; // what f32 arithmetic gives
inline float flushed(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x7F800000) == 0 ? std::bit_cast<float>(bits & 0x80000000) : value;
}
inline float canonical(float value) { return value != value ? std::bit_cast<float>(canonicalNaN) : value; }

} // namespace nacre::simulator
