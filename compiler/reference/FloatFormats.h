// The narrow float formats of the language, bit by bit: fp16, bf16 and the five fp8 kinds to and from float and double.
//
// Decoding is exact. Encoding rounds once, to nearest even or toward zero. fp16 and bf16 overflow to infinity (toward
// zero: to the largest number); fp8 saturates: whatever is too large, infinity too, becomes the largest number. NaN
// stays NaN, except in fp8e4b15, which has none and holds the largest number instead.
//
// Everything is inline and without branches, so that loops over it become vector code.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace nacre {

enum class ScalarKind : uint8_t; // compiler/language/meaning/Type.h

// `exponentBits` + `mantissaBits` + a sign. The largest number and the NaN are bit patterns without the sign.
struct Float16Format {
  using Bits = uint16_t;
  static constexpr int mantissaBits = 10, bias = 15;
  static constexpr uint32_t largest = 0x7BFF, infinity = 0x7C00, nan = 0x7E00, signBit = 0x8000;
  static constexpr bool saturates = false, hasNegativeZero = true, nanKeepsSign = true;
};
struct BFloat16Format {
  using Bits = uint16_t;
  static constexpr int mantissaBits = 7, bias = 127;
  static constexpr uint32_t largest = 0x7F7F, infinity = 0x7F80, nan = 0x7FC0, signBit = 0x8000;
  static constexpr bool saturates = false, hasNegativeZero = true, nanKeepsSign = true;
};
struct Float8E4NVFormat { // no infinity; NaN is S.1111.111
  using Bits = uint8_t;
  static constexpr int mantissaBits = 3, bias = 7;
  static constexpr uint32_t largest = 0x7E, infinity = 0x7E, nan = 0x7F, signBit = 0x80;
  static constexpr bool saturates = true, hasNegativeZero = true, nanKeepsSign = true;
};
struct Float8E5Format { // as fp16 with two bits of mantissa
  using Bits = uint8_t;
  static constexpr int mantissaBits = 2, bias = 15;
  static constexpr uint32_t largest = 0x7B, infinity = 0x7B, nan = 0x7E, signBit = 0x80;
  static constexpr bool saturates = true, hasNegativeZero = true, nanKeepsSign = true;
};
struct Float8E4B15Format { // numbers alone: no infinity, no NaN
  using Bits = uint8_t;
  static constexpr int mantissaBits = 3, bias = 15;
  static constexpr uint32_t largest = 0x7F, infinity = 0x7F, nan = 0x7F, signBit = 0x80;
  static constexpr bool saturates = true, hasNegativeZero = true, nanKeepsSign = true;
};
struct Float8E4B8Format { // no infinity, no negative zero: 0x80 is the NaN
  using Bits = uint8_t;
  static constexpr int mantissaBits = 3, bias = 8;
  static constexpr uint32_t largest = 0x7F, infinity = 0x7F, nan = 0x80, signBit = 0x80;
  static constexpr bool saturates = true, hasNegativeZero = false, nanKeepsSign = false;
};
struct Float8E5B16Format {
  using Bits = uint8_t;
  static constexpr int mantissaBits = 2, bias = 16;
  static constexpr uint32_t largest = 0x7F, infinity = 0x7F, nan = 0x80, signBit = 0x80;
  static constexpr bool saturates = true, hasNegativeZero = false, nanKeepsSign = false;
};

// The layout of the wide type that is rounded: float or double.
template <typename Wide> struct WideFormat;
template <> struct WideFormat<float> {
  using Bits = uint32_t;
  static constexpr int mantissaBits = 23, bias = 127;
};
template <> struct WideFormat<double> {
  using Bits = uint64_t;
  static constexpr int mantissaBits = 52, bias = 1023;
};

template <typename Format, bool TowardZero = false, typename Wide>
[[gnu::always_inline]] constexpr typename Format::Bits encodeFloat(Wide value) {
  using W = WideFormat<Wide>;
  using Bits = typename W::Bits;
  constexpr int shift = W::mantissaBits - Format::mantissaBits;
  constexpr Bits wideInfinity = static_cast<Bits>(2 * W::bias + 1) << W::mantissaBits;
  constexpr Bits wideSign = Bits(1) << (sizeof(Bits) * 8 - 1);
  const Bits bits = std::bit_cast<Bits>(value);
  const Bits magnitude = bits & ~wideSign;
  const bool negative = (bits & wideSign) != 0;

  // A normal number of the format: round the mantissa away (a carry moves into the exponent, as it should), move the
  // bias.
  constexpr Bits biasDifference = static_cast<Bits>(W::bias - Format::bias) << Format::mantissaBits;
  Bits rounded = magnitude;
  if constexpr (!TowardZero)
    rounded += ((Bits(1) << (shift - 1)) - 1) + ((magnitude >> shift) & 1);
  Bits result = (rounded >> shift) - biasDifference;

  // Below its smallest normal number: count in units of the smallest subnormal one.
  if constexpr (W::bias != Format::bias) {
    constexpr Bits smallestNormal = static_cast<Bits>(W::bias - Format::bias + 1) << W::mantissaBits;
    const Wide absolute = std::bit_cast<Wide>(magnitude);
    Bits subnormal;
    if constexpr (TowardZero) {
      constexpr Wide unitsInOne =
          std::bit_cast<Wide>(static_cast<Bits>(W::bias + Format::bias - 1 + Format::mantissaBits) << W::mantissaBits);
      const Wide bounded = magnitude < smallestNormal ? absolute : Wide(0);
      subnormal = static_cast<Bits>(static_cast<int32_t>(bounded * unitsInOne));
    } else {
      // Adding a number whose last place is that unit makes the hardware round; what was added is taken off the bits.
      constexpr Bits magic = static_cast<Bits>(W::bias + 1 - Format::bias + shift) << W::mantissaBits;
      subnormal = std::bit_cast<Bits>(absolute + std::bit_cast<Wide>(magic)) - magic;
    }
    result = magnitude < smallestNormal ? subnormal : result;
  }

  constexpr Bits overflow = TowardZero ? Format::largest : Format::infinity;
  const bool tooLarge = result > Format::largest || magnitude >= wideInfinity;
  result = tooLarge ? overflow : result;
  if constexpr (TowardZero && !Format::saturates)
    result = magnitude == wideInfinity ? Bits(Format::infinity) : result;
  const bool isNan = magnitude > wideInfinity;
  result = isNan ? Bits(Format::nan) : result;
  bool keepSign = negative;
  if constexpr (!Format::hasNegativeZero)
    keepSign = keepSign && result != 0;
  if constexpr (!Format::nanKeepsSign)
    keepSign = keepSign && !isNan;
  return static_cast<typename Format::Bits>(result | (keepSign ? Bits(Format::signBit) : Bits(0)));
}

// Exact: every number of every format is a float.
template <typename Format> [[gnu::always_inline]] constexpr float decodeFloat(typename Format::Bits encoded) {
  const uint32_t magnitude = encoded & (Format::signBit - 1);
  const uint32_t sign = (encoded & Format::signBit) ? 0x80000000u : 0u;
  constexpr int shift = 23 - Format::mantissaBits;
  uint32_t bits = magnitude << shift;
  if constexpr (Format::bias != 127) {
    // Read with float's bias the number is too small by a power of two, subnormal numbers too: multiply it back.
    constexpr float scale = std::bit_cast<float>(static_cast<uint32_t>(127 + 127 - Format::bias) << 23);
    bits = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) * scale);
  }
  if constexpr (!Format::hasNegativeZero) {
    bits = encoded == Format::nan ? 0x7FC00000u : bits;
    return std::bit_cast<float>(bits | (encoded == Format::nan ? 0u : sign));
  } else if constexpr (Format::largest + 1 == Format::nan) { // fp8e4nv
    bits = magnitude == Format::nan ? 0x7FC00000u : bits;
  } else if constexpr (Format::largest != Format::nan && Format::bias != 127) { // fp16, fp8e5: an all-ones exponent
    bits = magnitude > Format::largest ? (0x7F800000u | (magnitude << shift)) : bits;
  }
  return std::bit_cast<float>(bits | sign);
}

// Whole arrays of one of the narrow kinds. `kind` must be narrow (isNarrowFloat).
bool isNarrowFloat(ScalarKind kind);
void decodeFloats(ScalarKind kind, const void *source, float *target, size_t count);
void encodeFloats(ScalarKind kind, const float *source, void *target, size_t count, bool towardZero = false);
void encodeFloats(ScalarKind kind, const double *source, void *target, size_t count, bool towardZero = false);

} // namespace nacre
