// The float formats against their definition: every encoding is decoded by the formula sign * 2^(exponent - bias) *
// mantissa, and numbers are rounded by looking for the nearest neighbour in the sorted list of all that can be
// represented.
#include "compiler/reference/FloatFormats.h"
#include "compiler/language/meaning/Type.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <vector>

using namespace nacre;

namespace {
// The published parameters of a format, independent of the constants in the code.
struct Definition {
  ScalarKind kind;
  const char *name;
  int exponentBits, mantissaBits, bias;
  enum Specials { Ieee, NanAtAllOnes, None, NanAtNegativeZero } specials;
  bool saturates;
};

const Definition definitions[] = {
    {ScalarKind::Float16, "fp16", 5, 10, 15, Definition::Ieee, false},
    {ScalarKind::BFloat16, "bf16", 8, 7, 127, Definition::Ieee, false},
    {ScalarKind::Float8E4NV, "fp8e4nv", 4, 3, 7, Definition::NanAtAllOnes, true},
    {ScalarKind::Float8E5, "fp8e5", 5, 2, 15, Definition::Ieee, true},
    {ScalarKind::Float8E4B15, "fp8e4b15", 4, 3, 15, Definition::None, true},
    {ScalarKind::Float8E4B8, "fp8e4b8", 4, 3, 8, Definition::NanAtNegativeZero, true},
    {ScalarKind::Float8E5B16, "fp8e5b16", 5, 2, 16, Definition::NanAtNegativeZero, true},
};

int widthOf(const Definition &format) { return 1 + format.exponentBits + format.mantissaBits; }

double valueOf(const Definition &format, uint32_t code) {
  uint32_t signBit = 1u << (widthOf(format) - 1);
  uint32_t mantissa = code & ((1u << format.mantissaBits) - 1);
  uint32_t exponent = (code & (signBit - 1)) >> format.mantissaBits;
  double sign = code & signBit ? -1.0 : 1.0;
  uint32_t topExponent = (1u << format.exponentBits) - 1;
  double nan = std::numeric_limits<double>::quiet_NaN();
  if (format.specials == Definition::Ieee && exponent == topExponent)
    return mantissa ? nan : sign * HUGE_VAL;
  if (format.specials == Definition::NanAtAllOnes && (code & (signBit - 1)) == signBit - 1)
    return nan;
  if (format.specials == Definition::NanAtNegativeZero && code == signBit)
    return nan;
  double fraction = std::ldexp(static_cast<double>(mantissa), -format.mantissaBits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - format.bias)
                       : sign * std::ldexp(1.0 + fraction, static_cast<int>(exponent) - format.bias);
}

uint32_t readCode(const Definition &format, const void *bits) {
  uint16_t code = 0;
  std::memcpy(&code, bits, widthOf(format) / 8);
  return code;
}

float decode(const Definition &format, uint32_t code) {
  float result;
  uint16_t bits = static_cast<uint16_t>(code);
  decodeFloats(format.kind, &bits, &result, 1);
  return result;
}

template <typename Wide> uint32_t encode(const Definition &format, Wide value, bool towardZero = false) {
  uint16_t bits = 0;
  encodeFloats(format.kind, &value, &bits, 1, towardZero);
  return readCode(format, &bits);
}

// All finite numbers from zero up, which are the codes in order.
std::vector<double> positiveNumbers(const Definition &format) {
  std::vector<double> numbers;
  for (uint32_t code = 0; code < (1u << (widthOf(format) - 1)); ++code)
    if (double value = ::valueOf(format, code); std::isfinite(value))
      numbers.push_back(value);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  return numbers;
}

// The code that a finite number must round to; sign apart.
uint32_t roundedCode(const Definition &format, const std::vector<double> &numbers, double magnitude, bool towardZero) {
  size_t above = std::upper_bound(numbers.begin(), numbers.end(), magnitude) - numbers.begin();
  size_t below = above - 1;
  if (towardZero)
    return static_cast<uint32_t>(below);
  if (above == numbers.size()) {
    if (format.saturates)
      return static_cast<uint32_t>(below);
    // Beyond half a step above the largest number lies infinity, whose code follows.
    double half = (numbers[below] - numbers[below - 1]) / 2;
    return static_cast<uint32_t>(magnitude - numbers[below] >= half ? above : below);
  }
  double down = magnitude - numbers[below], up = numbers[above] - magnitude;
  if (down == up)
    return static_cast<uint32_t>(below % 2 == 0 ? below : above);
  return static_cast<uint32_t>(down < up ? below : above);
}

template <typename Wide> void checkRounding(const Definition &format, const std::vector<double> &numbers, Wide value) {
  for (bool towardZero : {false, true}) {
    uint32_t expected = roundedCode(format, numbers, std::abs(static_cast<double>(value)), towardZero);
    uint32_t signBit = 1u << (widthOf(format) - 1);
    bool negative = std::signbit(value) && !(format.specials == Definition::NanAtNegativeZero && expected == 0);
    ASSERT_EQ(encode(format, value, towardZero), expected | (negative ? signBit : 0))
        << format.name << (towardZero ? " toward zero: " : ": ") << std::hexfloat << value;
  }
}

class FloatFormats : public testing::TestWithParam<Definition> {};

TEST_P(FloatFormats, EveryCodeDecodes) {
  const Definition &format = GetParam();
  for (uint32_t code = 0; code < (1u << widthOf(format)); ++code) {
    double expected = ::valueOf(format, code);
    float found = decode(format, code);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(found)) << format.name << " " << code;
      continue;
    }
    ASSERT_EQ(static_cast<double>(found), expected) << format.name << " " << code;
    ASSERT_EQ(std::signbit(found), std::signbit(expected)) << format.name << " " << code;
  }
}

TEST_P(FloatFormats, EveryNumberEncodesToItself) {
  const Definition &format = GetParam();
  for (uint32_t code = 0; code < (1u << widthOf(format)); ++code) {
    float value = decode(format, code);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(decode(format, encode(format, value))));
      continue;
    }
    if (std::isinf(value) && format.saturates)
      continue;
    ASSERT_EQ(encode(format, value), code) << format.name;
    ASSERT_EQ(encode(format, static_cast<double>(value)), code) << format.name;
    ASSERT_EQ(encode(format, value, true), code) << format.name;
  }
}

TEST_P(FloatFormats, RoundsBetweenNeighbours) {
  const Definition &format = GetParam();
  std::vector<double> numbers = positiveNumbers(format);
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    double middle = (numbers[i] + numbers[i + 1]) / 2;
    for (double sign : {1.0, -1.0}) {
      double value = sign * middle;
      checkRounding(format, numbers, value);
      checkRounding(format, numbers, std::nextafter(value, 0.0));
      checkRounding(format, numbers, std::nextafter(value, sign * HUGE_VAL));
      float narrow = static_cast<float>(value);
      checkRounding(format, numbers, narrow);
      checkRounding(format, numbers, std::nextafter(narrow, 0.0f));
      checkRounding(format, numbers, std::nextafter(narrow, static_cast<float>(sign * HUGE_VAL)));
    }
  }
}

TEST_P(FloatFormats, RoundsAnyFloat) {
  const Definition &format = GetParam();
  std::vector<double> numbers = positiveNumbers(format);
  for (uint64_t bits = 0; bits < 0x100000000; bits += 20011) {
    float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isfinite(value))
      checkRounding(format, numbers, value);
  }
}

TEST_P(FloatFormats, SpecialValues) {
  const Definition &format = GetParam();
  float infinity = HUGE_VALF;
  std::vector<double> numbers = positiveNumbers(format);
  double largest = numbers.back();
  for (bool towardZero : {false, true}) {
    EXPECT_EQ(decode(format, encode(format, infinity, towardZero)), format.saturates ? largest : HUGE_VAL)
        << format.name;
    EXPECT_EQ(decode(format, encode(format, -infinity, towardZero)), format.saturates ? -largest : -HUGE_VAL)
        << format.name;
    float nan = decode(format, encode(format, std::nanf(""), towardZero));
    if (format.specials == Definition::None)
      EXPECT_EQ(nan, largest);
    else
      EXPECT_TRUE(std::isnan(nan));
    EXPECT_EQ(encode(format, 0.0f, towardZero), 0u);
    bool hasNegativeZero = format.specials != Definition::NanAtNegativeZero;
    EXPECT_EQ(encode(format, -0.0f, towardZero), hasNegativeZero ? 1u << (widthOf(format) - 1) : 0u);
    EXPECT_EQ(encode(format, -1e-40f, towardZero) == 0, !hasNegativeZero && format.kind != ScalarKind::BFloat16);
  }
  EXPECT_EQ(decode(format, encode(format, 1e308)), format.saturates ? largest : HUGE_VAL);
  EXPECT_EQ(decode(format, encode(format, 1e308, true)), largest);
}

// A double must not be rounded to float on the way.
TEST(FloatFormatsDouble, RoundsOnce) {
  const Definition &half = definitions[0];
  double justAboveHalfway = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(encode(half, justAboveHalfway), 0x3C01u);
  EXPECT_EQ(encode(half, static_cast<float>(justAboveHalfway)), 0x3C00u); // the float is the halfway point itself
}

INSTANTIATE_TEST_SUITE_P(All, FloatFormats, testing::ValuesIn(definitions),
                         [](const testing::TestParamInfo<Definition> &info) { return std::string(info.param.name); });
} // namespace
