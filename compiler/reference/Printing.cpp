// NumPy's layout of arrays, and device_print and device_assert on it.
#include "compiler/reference/Printing.h"
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/FloatFormats.h"
#include "compiler/reference/Loops.h"
#include <charconv>
#include <cmath>
#include <cstdio>

using namespace nacre;

namespace {
// An element as a double, which holds every float type exactly.
double readFloat(ScalarKind kind, const std::byte *element) {
  if (kind == ScalarKind::Float64)
    return *reinterpret_cast<const double *>(element);
  if (kind == ScalarKind::Float32)
    return *reinterpret_cast<const float *>(element);
  float result;
  decodeFloats(kind, element, &result, 1);
  return result;
}

// The digits and exponent of the shortest decimal that reads back as the same number of its own type: d.ddd x
// 10^exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal splitScientific(llvm::StringRef text) {
  auto [mantissa, exponent] = text.split('e');
  Decimal result;
  for (char c : mantissa)
    if (c != '.')
      result.digits += c;
  exponent.consume_front("+");
  exponent.getAsInteger(10, result.exponent);
  while (result.digits.size() > 1 && result.digits.back() == '0')
    result.digits.pop_back();
  return result;
}

Decimal shortestDecimal(ScalarKind kind, double magnitude) {
  char text[64];
  auto scientific = [&](auto number, auto... precision) {
    auto end = std::to_chars(text, text + sizeof(text), number, std::chars_format::scientific, precision...).ptr;
    return llvm::StringRef(text, end - text);
  };
  if (kind == ScalarKind::Float64)
    return splitScientific(scientific(magnitude));
  if (kind != ScalarKind::Float16) // bf16 and fp8 have few digits: shown as the floats they are
    return splitScientific(scientific(static_cast<float>(magnitude)));
  uint16_t wanted = 0, found = 0;
  encodeFloats(kind, &magnitude, &wanted, 1);
  for (int precision = 0;; ++precision) {
    llvm::StringRef attempt = scientific(magnitude, precision);
    double back = std::strtod(attempt.str().c_str(), nullptr);
    encodeFloats(kind, &back, &found, 1);
    if (found == wanted || precision == 8)
      return splitScientific(attempt);
  }
}

constexpr int maximumPrecision = 8; // digits after the point

// "12.5", "3." (no trailing zeros), at most `maximumPrecision` digits after the point.
std::string positional(ScalarKind kind, double value) {
  double magnitude = std::abs(value);
  Decimal decimal = shortestDecimal(kind, magnitude);
  int fraction = static_cast<int>(decimal.digits.size()) - 1 - decimal.exponent;
  std::string text;
  if (fraction > maximumPrecision) {
    char buffer[512];
    auto end =
        std::to_chars(buffer, buffer + sizeof(buffer), magnitude, std::chars_format::fixed, maximumPrecision).ptr;
    text.assign(buffer, end);
    while (text.back() == '0')
      text.pop_back();
  } else {
    std::string digits = decimal.digits;
    int point = decimal.exponent + 1; // digits before the point
    if (point <= 0)
      digits.insert(0, 1 - point, '0'), point = 1;
    if (static_cast<int>(digits.size()) < point)
      digits.append(point - digits.size(), '0');
    text = digits.substr(0, point) + "." + (magnitude == 0 ? "" : digits.substr(point));
  }
  return (std::signbit(value) ? "-" : "") + text;
}

// "1.25e+03": the number's own digits, `precision` of them after the point, or (negative) as few as say it, at most 8.
std::string scientific(ScalarKind kind, double value, int precision) {
  double magnitude = std::abs(value);
  char buffer[64];
  Decimal decimal = shortestDecimal(kind, magnitude);
  if (precision >= 0 || static_cast<int>(decimal.digits.size()) - 1 > maximumPrecision) {
    int wanted = precision >= 0 ? precision : maximumPrecision;
    auto end = std::to_chars(buffer, buffer + sizeof(buffer), magnitude, std::chars_format::scientific, wanted).ptr;
    decimal = splitScientific(llvm::StringRef(buffer, end - buffer));
  }
  std::string digits = decimal.digits;
  if (precision >= 0)
    digits.resize(precision + 1, '0');
  std::snprintf(buffer, sizeof(buffer), "e%+03d", decimal.exponent);
  return (std::signbit(value) ? "-" : "") + digits.substr(0, 1) + "." + digits.substr(1) + buffer;
}

std::string integerText(ScalarKind kind, const std::byte *element) {
  switch (kind) {
  case ScalarKind::Int8:
    return std::to_string(*reinterpret_cast<const int8_t *>(element));
  case ScalarKind::Int16:
    return std::to_string(*reinterpret_cast<const int16_t *>(element));
  case ScalarKind::Int32:
    return std::to_string(*reinterpret_cast<const int32_t *>(element));
  case ScalarKind::Int64:
    return std::to_string(*reinterpret_cast<const int64_t *>(element));
  case ScalarKind::UInt8:
    return std::to_string(*reinterpret_cast<const uint8_t *>(element));
  case ScalarKind::UInt16:
    return std::to_string(*reinterpret_cast<const uint16_t *>(element));
  case ScalarKind::UInt32:
    return std::to_string(*reinterpret_cast<const uint32_t *>(element));
  default:
    return std::to_string(*reinterpret_cast<const uint64_t *>(element));
  }
}

// As C's %a writes it.
std::string hexFloatText(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%a", value);
  return text;
}

std::string hexText(int size, int digits, const std::byte *element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, size);
  char text[24];
  std::snprintf(text, sizeof(text), "0x%0*llx", digits, static_cast<unsigned long long>(bits));
  return text;
}

// Turns elements of one tile into words of one width. Addresses are hexadecimal.
class ElementFormat {
public:
  ElementFormat(Type scalar, llvm::ArrayRef<const std::byte *> shown, bool hex, bool isScalar)
      : kind(storedKind(scalar)), hex(hex || scalar.isPointerLike()), isScalar(isScalar) {
    size = scalar.byteSize();
    isPointer = scalar.isPointerLike();
    isFloat = scalar.isFloating();
    if (this->hex)
      return;
    if (isFloat)
      prepareFloats(shown);
    else if (kind != ScalarKind::Int1)
      for (const std::byte *element : shown)
        width = std::max(width, integerText(kind, element).size());
  }

  std::string word(const std::byte *element) const {
    if (hex)
      return isFloat ? hexFloatText(readFloat(kind, element)) : hexText(size, isPointer ? 0 : size * 2, element);
    if (kind == ScalarKind::Int1)
      return *element != std::byte(0) ? (isScalar ? "True" : " True") : "False";
    if (!isFloat)
      return padded(integerText(kind, element), width);
    double value = readFloat(kind, element);
    if (!std::isfinite(value))
      return padded(std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf", left + right + 1);
    if (exponential)
      return padded(scientific(kind, value, precision), left + right + 1);
    std::string text = positional(kind, value);
    size_t point = text.find('.');
    return padded(text.substr(0, point), left) + text.substr(point) +
           std::string(right - (text.size() - point - 1), ' ');
  }

private:
  static std::string padded(std::string text, size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
  }

  void prepareFloats(llvm::ArrayRef<const std::byte *> shown) {
    double largest = 0, smallest = HUGE_VAL;
    bool anySpecial = false, anyNegativeInfinity = false;
    llvm::SmallVector<double> finite;
    for (const std::byte *element : shown) {
      double value = readFloat(kind, element);
      if (!std::isfinite(value)) {
        anySpecial = true;
        anyNegativeInfinity |= std::isinf(value) && value < 0;
        continue;
      }
      finite.push_back(value);
      if (value != 0) {
        largest = std::max(largest, std::abs(value));
        smallest = std::min(smallest, std::abs(value));
      }
    }
    exponential = largest > 0 && (largest >= 1e8 || smallest < 0.0001 || largest / smallest > 1000.0);
    size_t exponentWidth = 0, fraction = 0;
    for (double value : finite) {
      std::string text = exponential ? scientific(kind, value, -1) : positional(kind, value);
      size_t point = text.find('.'), exponent = std::min(text.find('e'), text.size());
      left = std::max(left, point);
      fraction = std::max(fraction, exponent - point - 1);
      exponentWidth = std::max(exponentWidth, text.size() - exponent);
    }
    precision = static_cast<int>(fraction);
    right = fraction + exponentWidth;
    if (anySpecial) {
      size_t special = anyNegativeInfinity ? 4 : 3;
      left = std::max(left, special > right + 1 ? special - (right + 1) : 0);
    }
  }

  ScalarKind kind;
  bool hex, isScalar, isFloat = false, isPointer = false, exponential = false;
  int size = 0, precision = 0;
  size_t width = 0, left = 0, right = 0;
};

class TileText {
public:
  TileText(const Buffer &tile, const PrintStyle &style)
      : tile(tile), style(style), summarized(tile.count() > style.threshold) {}

  std::string text() {
    llvm::SmallVector<const std::byte *> shown;
    collect(0, tile.data, shown);
    ElementFormat elements(tile.type.scalarType(), shown, style.hex, tile.shape().empty());
    format = &elements;
    return nested(0, tile.data, " ", style.lineWidth);
  }

private:
  bool isCut(size_t axis) const { return summarized && tile.shape()[axis] > 2 * style.edgeItems; }
  const std::byte *elementAt(const std::byte *base, size_t axis, int64_t index) const {
    return base + index * tile.strides[axis] * tile.elementSize();
  }
  // Calls body(index) for the shown indices of an axis, and gap() where some are left out.
  template <typename Body, typename Gap> void forShown(size_t axis, Body body, Gap gap) const {
    int64_t extent = tile.shape()[axis];
    for (int64_t i = 0; i < extent; ++i) {
      if (isCut(axis) && i == style.edgeItems) {
        gap();
        i = extent - style.edgeItems;
      }
      body(i);
    }
  }

  void collect(size_t axis, const std::byte *base, llvm::SmallVectorImpl<const std::byte *> &shown) const {
    if (axis == tile.shape().size())
      return shown.push_back(base);
    forShown(axis, [&](int64_t i) { collect(axis + 1, elementAt(base, axis, i), shown); }, [] {});
  }

  std::string nested(size_t axis, const std::byte *base, const std::string &indent, int64_t width) const {
    size_t rank = tile.shape().size();
    if (axis == rank)
      return format->word(base);
    std::string result;
    if (axis + 1 == rank) {
      std::string line = indent;
      bool first = true;
      auto add = [&](const std::string &word) {
        if (!first)
          line += ' ';
        first = false;
        if (static_cast<int64_t>(line.size() + word.size()) > width - 1 && line.size() > indent.size()) {
          result += llvm::StringRef(line).rtrim(' ').str() + "\n";
          line = indent;
        }
        line += word;
      };
      forShown(axis, [&](int64_t i) { add(format->word(elementAt(base, axis, i))); }, [&] { add("..."); });
      result += line;
    } else {
      std::string separator(rank - axis - 1, '\n');
      bool first = true;
      auto add = [&](const std::string &part) {
        if (!first)
          result += separator;
        first = false;
        result += indent + part;
      };
      forShown(
          axis, [&](int64_t i) { add(nested(axis + 1, elementAt(base, axis, i), indent + " ", width - 1)); },
          [&] { add("..."); });
    }
    return "[" + result.substr(indent.size()) + "]";
  }

  const Buffer &tile;
  PrintStyle style;
  bool summarized;
  const ElementFormat *format = nullptr;
};
} // namespace

std::string nacre::formatTile(const Buffer &tile, const PrintStyle &style) { return TileText(tile, style).text(); }

std::string nacre::formatElement(Type scalar, const std::byte *element) {
  std::string word = ElementFormat(scalar, element, false, true).word(element);
  if (!scalar.isFloating())
    return word;
  // In an array "2." and "1.e+20"; by itself "2.0" and "1e+20".
  if (llvm::StringRef(word).ends_with("."))
    return word + "0";
  if (size_t point = word.find(".e"); point != std::string::npos)
    word.erase(point, 1);
  return word;
}

void EagerBuilder::devicePrint(llvm::StringRef prefix, llvm::ArrayRef<Value> values, bool hex) {
  std::string label = prefix.str();
  if (!label.empty()) { // shown as " label: "
    if (!llvm::StringRef(label).starts_with(" "))
      label = " " + label;
    if (!llvm::StringRef(label).ends_with(": "))
      label = llvm::StringRef(label).rtrim(": ").str() + ": ";
    label = " " + label;
  }
  std::string text;
  PrintStyle style;
  style.hex = hex;
  for (const Value &value : values) {
    Value shown = value.type().isBlock() ? value : splat(value, {1}); // a scalar is shown in brackets too
    text += programName() + label + " " + formatTile(bufferOf(shown), style) + "\n";
  }
  if (values.empty())
    text = programName() + label + "\n";
  if (program.print)
    program.print(text);
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void EagerBuilder::deviceAssert(Value condition, llvm::StringRef message) {
  bool holds = true;
  forEachChunk(&bufferOf(condition), false, ChunkReader::chunk,
               [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
                 auto *lanes = static_cast<const uint8_t *>(inputs[0]);
                 for (int64_t i = 0; i < count; ++i)
                   holds &= lanes[i] != 0;
               });
  if (holds)
    return;
  program.fault = ProgramFault{ProgramFault::Kind::Assertion, program.programId, message.str()};
  fail(Diagnostic::Kind::Value, "program " + programName() + ": device_assert failed: " + message.str());
}
