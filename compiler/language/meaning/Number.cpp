// Python's numbers (Number.h).
#include "compiler/language/meaning/Number.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <charconv>
#include <cmath>

namespace nacre {

// A result of more bits than this is a mistake in the kernel, not a number anyone wants; arithmetic on it takes long.
static constexpr int64_t largestBitCount = int64_t(1) << 16;

bool isAbsurdlyLarge(const Integer &value) {
  static const auto *limit = new Integer(llvm::APInt::getOneBitSet(largestBitCount + 2, largestBitCount));
  return value > *limit || value < -*limit;
}

std::optional<int64_t> toInt64(const Integer &value) {
  if (value < Integer(INT64_MIN) || value > Integer(INT64_MAX))
    return std::nullopt;
  return static_cast<int64_t>(value);
}

llvm::APInt toBits(const Integer &value) {
  if (std::optional<int64_t> small = toInt64(value)) {
    llvm::APInt bits(64, static_cast<uint64_t>(*small), /*isSigned=*/true);
    return bits.trunc(std::max(1u, bits.getSignificantBits()));
  }
  // DynamicAPInt keeps its bits to itself; its decimal text is the way out.
  std::string digits = integerText(value);
  unsigned width = llvm::APInt::getSufficientBitsNeeded(digits, 10) + 1;
  llvm::APInt bits(width, digits, 10);
  return bits.trunc(std::max(1u, bits.getSignificantBits()));
}

Integer fromBits(const llvm::APInt &value, bool isSigned) {
  llvm::APInt bits = isSigned ? value : value.zext(value.getBitWidth() + 1);
  bits = bits.trunc(std::max(1u, bits.getSignificantBits()));
  return Integer(bits);
}

std::optional<Integer> parseInteger(llvm::StringRef digits, unsigned radix) {
  bool isNegative = digits.consume_front("-");
  if (!isNegative)
    digits.consume_front("+");
  std::string clean;
  for (char c : digits)
    if (c != '_')
      clean.push_back(c);
  llvm::APInt magnitude;
  if (clean.empty() || llvm::StringRef(clean).getAsInteger(radix, magnitude))
    return std::nullopt;
  Integer result = fromBits(magnitude, /*isSigned=*/false);
  return isNegative ? -result : result;
}

std::string integerText(const Integer &value, unsigned radix) {
  std::string text;
  if (radix == 10) {
    llvm::raw_string_ostream(text) << value;
    return text;
  }
  llvm::SmallString<64> digits;
  llvm::APInt magnitude = toBits(value < 0 ? -value : value);
  magnitude.toString(digits, radix, /*Signed=*/true, /*formatAsCLiteral=*/false, /*UpperCase=*/false);
  return (value < 0 ? "-" : "") + digits.str().str();
}

std::optional<double> toDouble(const Integer &value) {
  llvm::APFloat result(llvm::APFloat::IEEEdouble());
  result.convertFromAPInt(toBits(value), /*IsSigned=*/true, llvm::APFloat::rmNearestTiesToEven);
  if (result.isInfinity())
    return std::nullopt;
  return result.convertToDouble();
}

std::optional<Integer> truncateToInteger(double value) {
  if (!std::isfinite(value))
    return std::nullopt;
  llvm::APSInt result(1100, /*isUnsigned=*/false); // wider than any double
  bool isExact;
  llvm::APFloat(value).convertToInteger(result, llvm::APFloat::rmTowardZero, &isExact);
  return fromBits(result);
}

int compareNumbers(const Integer &integer, double number) {
  if (std::isnan(number))
    return 2;
  if (std::isinf(number))
    return number > 0 ? -1 : 1;
  Integer truncated = *truncateToInteger(number);
  if (integer != truncated)
    return integer < truncated ? -1 : 1;
  double fraction = number - std::trunc(number);
  return fraction > 0 ? -1 : fraction < 0 ? 1 : 0;
}

Integer floorDivide(const Integer &a, const Integer &b) {
  Integer quotient = a / b;
  Integer remainder = a - quotient * b;
  if (remainder != 0 && (remainder < 0) != (b < 0))
    quotient -= 1;
  return quotient;
}

Integer floorModulo(const Integer &a, const Integer &b) { return a - floorDivide(a, b) * b; }

double trueDivide(const Integer &a, const Integer &b) {
  const Integer exactLimit(int64_t(1) << 53);
  if (a <= exactLimit && a >= -exactLimit && b <= exactLimit && b >= -exactLimit)
    return static_cast<double>(static_cast<int64_t>(a)) / static_cast<double>(static_cast<int64_t>(b));
  bool isNegative = (a < 0) != (b < 0);
  llvm::APInt dividend = toBits(a < 0 ? -a : a), divisor = toBits(b < 0 ? -b : b);
  // A quotient of at least 66 bits with a sticky last bit rounds once, correctly, to 53.
  int shift = std::max<int>(0, 66 - (int(dividend.getBitWidth()) - int(divisor.getBitWidth())));
  unsigned width = std::max(dividend.getBitWidth() + shift, divisor.getBitWidth()) + 2;
  llvm::APInt quotient, remainder;
  llvm::APInt::udivrem(dividend.zext(width).shl(shift), divisor.zext(width), quotient, remainder);
  if (!remainder.isZero())
    quotient.setBit(0);
  double result = toDouble(fromBits(quotient, /*isSigned=*/false)).value_or(HUGE_VAL);
  result = std::ldexp(result, -shift);
  return isNegative ? -result : result;
}

double floorModulo(double a, double b) {
  double modulo = std::fmod(a, b);
  if (modulo == 0)
    return std::copysign(0.0, b);
  if ((b < 0) != (modulo < 0))
    modulo += b;
  return modulo;
}

double floorDivide(double a, double b) {
  double modulo = std::fmod(a, b);
  double quotient = (a - modulo) / b;
  if (modulo != 0 && (b < 0) != (modulo < 0))
    quotient -= 1;
  if (quotient == 0)
    return std::copysign(0.0, a / b);
  double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

std::optional<Integer> power(const Integer &base, const Integer &exponent) {
  if (exponent == 0)
    return Integer(1);
  if (base == 0 || base == 1)
    return base;
  if (base == -1)
    return floorModulo(exponent, Integer(2)) == 0 ? Integer(1) : base;
  std::optional<int64_t> count = toInt64(exponent);
  if (!count || isAbsurdlyLarge(base) || *count > largestBitCount / toBits(base).getBitWidth())
    return std::nullopt;
  Integer result(1), square = base;
  for (int64_t remaining = *count; remaining; remaining >>= 1) {
    if (remaining & 1)
      result *= square;
    if (remaining > 1)
      square *= square;
  }
  return result;
}

std::optional<Integer> shiftLeft(const Integer &value, const Integer &count) {
  if (value == 0)
    return value;
  std::optional<int64_t> bits = toInt64(count);
  if (!bits || *bits > largestBitCount || isAbsurdlyLarge(value))
    return std::nullopt;
  llvm::APInt pattern = toBits(value);
  return fromBits(pattern.sext(pattern.getBitWidth() + static_cast<unsigned>(*bits)).shl(static_cast<unsigned>(*bits)));
}

Integer shiftRight(const Integer &value, const Integer &count) {
  llvm::APInt pattern = toBits(value);
  std::optional<int64_t> bits = toInt64(count);
  if (!bits || *bits >= pattern.getBitWidth())
    return Integer(value < 0 ? -1 : 0);
  return fromBits(pattern.ashr(static_cast<unsigned>(*bits)));
}

Integer bitwise(BitOperation operation, const Integer &a, const Integer &b) {
  llvm::APInt x = toBits(a), y = toBits(b);
  unsigned width = std::max(x.getBitWidth(), y.getBitWidth());
  x = x.sext(width);
  y = y.sext(width);
  switch (operation) {
  case BitOperation::And:
    return fromBits(x & y);
  case BitOperation::Or:
    return fromBits(x | y);
  case BitOperation::Xor:
    return fromBits(x ^ y);
  }
  llvm_unreachable("every operation is handled");
}

std::string floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  if (value == 0)
    return std::signbit(value) ? "-0.0" : "0.0";
  char buffer[64];
  double magnitude = std::fabs(value);
  // Python writes an exponent outside [1e-4, 1e16).
  bool isScientific = magnitude >= 1e16 || magnitude < 1e-4;
  auto format = isScientific ? std::chars_format::scientific : std::chars_format::fixed;
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  std::string text(buffer, end);
  if (!isScientific && text.find('.') == std::string::npos)
    text += ".0";
  return text;
}

} // namespace nacre
