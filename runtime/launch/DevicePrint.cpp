#include "runtime/launch/DevicePrint.h"
#include "compiler/language/meaning/Type.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cinttypes>
#include <cstring>

namespace nacre {

namespace {

template <typename T> T read(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

uint64_t readBits(const void *data, int64_t index, int bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char *>(data) + index * bytes, bytes); // little-endian
  return bits;
}

double small(const llvm::fltSemantics &semantics, uint64_t bits) {
  llvm::APFloat value(semantics, llvm::APInt(llvm::APFloat::getSizeInBits(semantics), bits));
  bool losesInfo = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

double readFloat(ScalarKind kind, const void *data, int64_t index) {
  switch (kind) {
  case ScalarKind::Float64:
    return read<double>(data, index);
  case ScalarKind::Float32:
    return read<float>(data, index);
  case ScalarKind::Float16:
    return small(llvm::APFloat::IEEEhalf(), read<uint16_t>(data, index));
  case ScalarKind::BFloat16:
    return small(llvm::APFloat::BFloat(), read<uint16_t>(data, index));
  case ScalarKind::Float8E4NV:
    return small(llvm::APFloat::Float8E4M3FN(), read<uint8_t>(data, index));
  case ScalarKind::Float8E5:
    return small(llvm::APFloat::Float8E5M2(), read<uint8_t>(data, index));
  case ScalarKind::Float8E4B8:
    return small(llvm::APFloat::Float8E4M3FNUZ(), read<uint8_t>(data, index));
  case ScalarKind::Float8E5B16:
    return small(llvm::APFloat::Float8E5M2FNUZ(), read<uint8_t>(data, index));
  case ScalarKind::Float8E4B15:
    return small(llvm::APFloat::Float8E4M3B11FNUZ(), read<uint8_t>(data, index)) / 16.0; // bias 15, not 11
  default:
    return 0;
  }
}

void append(std::string &out, const char *format, auto... values) {
  char buffer[400];
  int length = std::snprintf(buffer, sizeof(buffer), format, values...);
  out.append(buffer, length);
}

void appendElement(std::string &out, Type type, bool isAddress, bool hex, const void *data, int64_t index) {
  int bytes = type.byteSize();
  if (isAddress)
    return append(out, "0x%" PRIx64, readBits(data, index, bytes));
  if (type.isFloating())
    return append(out, hex ? "%a" : "%f", readFloat(type.scalarKind(), data, index));
  if (hex)
    return append(out, "0x%0*" PRIx64, bytes * 2, readBits(data, index, bytes));
  uint64_t bits = readBits(data, index, bytes);
  if (type.isSigned()) {
    int shift = 64 - 8 * bytes;
    return append(out, "%" PRId64, static_cast<int64_t>(bits << shift) >> shift);
  }
  append(out, "%" PRIu64, type.isBool() ? bits & 1 : bits);
}

// Digits that the largest index of a dimension needs.
int indexWidth(int64_t extent) {
  int width = 1;
  for (int64_t largest = extent - 1; largest >= 10; largest /= 10)
    ++width;
  return width;
}

// The user's "x" is shown as " x", an empty one as nothing; a colon and a blank follow where a value does.
std::string label(llvm::StringRef prefix) {
  llvm::StringRef words = prefix.rtrim(": ");
  return (words.empty() || words.starts_with(" ") ? "" : " ") + words.str();
}

} // namespace

double elementAsNumber(uint32_t kind, const void *data, int64_t index) {
  Type type = Type::scalar(static_cast<ScalarKind>(kind & 0xFF));
  if (type.isFloating())
    return readFloat(type.scalarKind(), data, index);
  int bytes = kind >> 16 & 1 ? 8 : type.byteSize(), shift = 64 - 8 * bytes;
  uint64_t bits = readBits(data, index, bytes);
  if (type.isBool())
    return static_cast<double>(bits & 1);
  return type.isSigned() ? static_cast<double>(static_cast<int64_t>(bits << shift) >> shift)
                         : static_cast<double>(bits);
}

void formatPrint(std::string &out, const uint32_t *programId, const char *prefix, bool hex, uint32_t count,
                 const uint32_t *kinds, const int64_t *shapes, const void *const *data) {
  std::string head;
  append(head, "pid (%u, %u, %u)", programId[0], programId[1], programId[2]);
  if (count == 0) {
    out += head + label(prefix) + "\n";
    return;
  }
  head += " idx (";
  std::string shownLabel = label(prefix) + ": ";
  for (uint32_t operand = 0; operand < count; ++operand) {
    Type type = Type::scalar(static_cast<ScalarKind>(kinds[operand] & 0xFF));
    uint32_t rank = (kinds[operand] >> 8) & 0xFF;
    bool isAddress = kinds[operand] >> 16 & 1;
    int64_t elements = 1;
    for (uint32_t axis = 0; axis < rank; ++axis)
      elements *= shapes[axis];
    llvm::SmallVector<int64_t, 8> index(rank, 0);
    for (int64_t element = 0; element < elements; ++element) {
      out += head;
      for (uint32_t axis = 0; axis < rank; ++axis)
        append(out, axis ? ", %*" PRId64 : "%*" PRId64, indexWidth(shapes[axis]), index[axis]);
      out += ")";
      out += shownLabel;
      if (count > 1)
        append(out, "(operand %u) ", operand);
      appendElement(out, type, isAddress, hex, data[operand], element);
      out += "\n";
      for (int axis = static_cast<int>(rank) - 1; axis >= 0 && ++index[axis] == shapes[axis]; --axis)
        index[axis] = 0;
    }
    shapes += rank;
  }
}

} // namespace nacre
