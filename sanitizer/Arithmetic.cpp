// Integer arithmetic that goes wrong: the operands arrive before the operation, and it is repeated here.
#include "compiler/language/meaning/Type.h"
#include "sanitizer/LaunchSanitizer.h"
#include <cstring>
#include <limits>

namespace nacre::sanitizer {

namespace {

// An element, its sign extended.
int64_t readElement(const void *data, ScalarKind kind, int64_t index) {
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, static_cast<const char *>(data) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return static_cast<int64_t>(value);
  };
  switch (kind) {
  case ScalarKind::Int1:
    return read(uint8_t()) & 1;
  case ScalarKind::Int8:
    return read(int8_t());
  case ScalarKind::UInt8:
    return read(uint8_t());
  case ScalarKind::Int16:
    return read(int16_t());
  case ScalarKind::UInt16:
    return read(uint16_t());
  case ScalarKind::Int32:
    return read(int32_t());
  case ScalarKind::UInt32:
    return read(uint32_t());
  default:
    return read(int64_t());
  }
}

// The operation as the event names it: "add int32".
struct Operation {
  std::string_view name, type;
  bool isSigned;
  int bits;

  explicit Operation(std::string_view text)
      : name(text.substr(0, text.find(' '))), type(text.substr(name.size() + 1)), isSigned(type.front() == 'i') {
    bits = std::stoi(std::string(type.substr(type.find_first_of("0123456789"))));
  }
  int64_t least() const { return bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t(1) << (bits - 1)); }
  int64_t most() const { return bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t(1) << (bits - 1)) - 1; }

  // What is wrong, or null.
  const char *fault(int64_t lhs, int64_t rhs) const {
    if (name == "div" || name == "mod") {
      if (rhs == 0)
        return "division by zero";
      return isSigned && rhs == -1 && lhs == least() ? "signed integer overflow" : nullptr;
    }
    if (name == "shl" || name == "shr")
      return rhs < 0 ? "negative shift" : rhs >= bits ? "shift exponent too large" : nullptr;
    if (name == "sum") // as it is, and as it should be
      return lhs != rhs ? "signed integer overflow" : nullptr;
    int64_t result = 0;
    bool isTooLarge = name == "add"   ? __builtin_add_overflow(lhs, rhs, &result)
                      : name == "sub" ? __builtin_sub_overflow(lhs, rhs, &result)
                                      : __builtin_mul_overflow(lhs, rhs, &result);
    return isTooLarge || result < least() || result > most() ? "signed integer overflow" : nullptr;
  }

  std::string shown(int64_t lhs, int64_t rhs) const {
    if (name == "sum")
      return "a sum of " + std::to_string(rhs);
    return std::to_string(lhs) + " " + sign() + " " + std::to_string(rhs);
  }

private:
  const char *sign() const {
    return name == "add"   ? "+"
           : name == "sub" ? "-"
           : name == "mul" ? "*"
           : name == "div" ? "/"
           : name == "mod" ? "%"
           : name == "shl" ? "<<"
                           : ">>";
  }
};

} // namespace

void LaunchSanitizer::checkArithmetic(const ToldEvent &event) {
  Operation operation(event.subject);
  ScalarKind kinds[2];
  for (int i = 0; i < 2; ++i)
    kinds[i] = static_cast<ScalarKind>(event.kinds[i] & 0xff);
  size_t rank = event.kinds[0] >> 8 & 0xff;
  int64_t elements = 1;
  for (size_t axis = 0; axis < rank; ++axis)
    elements *= event.shapes[axis];
  Finding finding{Arithmetic, "", {}};
  for (int64_t i = 0; i < elements; ++i) {
    int64_t lhs = readElement(event.data[0], kinds[0], i), rhs = readElement(event.data[1], kinds[1], i);
    const char *fault = operation.fault(lhs, rhs);
    if (!fault)
      continue;
    if (finding.laneCount++ == 0) {
      finding.what = fault;
      finding.detail = operation.shown(lhs, rhs);
    }
    if (finding.lanes.size() < 4)
      finding.lanes.push_back(i);
  }
  if (finding.laneCount == 0)
    return;
  finding.party.access = operation.name;
  finding.party.file = event.file;
  finding.party.line = event.line;
  finding.party.column = event.column;
  std::copy(event.program.id, event.program.id + 3, finding.party.program.begin());
  finding.type = operation.type;
  finding.shape.assign(event.shapes, event.shapes + rank);
  add(std::move(finding));
}

} // namespace nacre::sanitizer
