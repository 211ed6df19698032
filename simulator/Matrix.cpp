// Elements and sums of matrix products.
#include "simulator/Matrix.h"
#include <array>

namespace nacre::simulator {

std::optional<MatrixType> matrixType(std::string_view name) {
  static constexpr std::pair<std::string_view, MatrixType> names[] = {
      {"f16", MatrixType::F16}, {"bf16", MatrixType::BF16}, {"tf32", MatrixType::TF32}, {"f64", MatrixType::F64},
      {"e4m3", MatrixType::E4M3}, {"e5m2", MatrixType::E5M2}, {"s8", MatrixType::S8}, {"u8", MatrixType::U8},
      {"s4", MatrixType::S4}, {"u4", MatrixType::U4}, {"b1", MatrixType::B1}};
  for (auto &[text, type] : names)
    if (text == name)
      return type;
  return std::nullopt;
}

unsigned bitsOf(MatrixType type) {
  switch (type) {
  case MatrixType::F16: case MatrixType::BF16: return 16;
  case MatrixType::TF32: return 32;
  case MatrixType::F64: return 64;
  case MatrixType::S4: case MatrixType::U4: return 4;
  case MatrixType::B1: return 1;
  default: return 8;
  }
}

double elementValue(MatrixType type, uint64_t bits) {
  static const auto tables = [] {
    std::array<std::array<double, 256>, 2> made;
    for (unsigned i = 0; i < 256; ++i) {
      made[0][i] = decodeBits(e4m3Format, i);
      made[1][i] = decodeBits(e5m2Format, i);
    }
    return made;
  }();
  switch (type) {
  case MatrixType::F16: return halfToFloat(static_cast<uint16_t>(bits));
  case MatrixType::BF16: return bfloatToFloat(static_cast<uint16_t>(bits));
  case MatrixType::TF32: return std::bit_cast<float>(static_cast<uint32_t>(bits) & 0xFFFFE000); // the rest is not looked at
  case MatrixType::F64: return std::bit_cast<double>(bits);
  case MatrixType::E4M3: return tables[0][bits & 255];
  case MatrixType::E5M2: return tables[1][bits & 255];
  case MatrixType::S8: return static_cast<int8_t>(bits);
  case MatrixType::U8: return static_cast<uint8_t>(bits);
  case MatrixType::S4: return static_cast<int8_t>(bits << 4) >> 4;
  case MatrixType::U4: return static_cast<double>(bits & 15);
  case MatrixType::B1: return static_cast<double>(bits & 1);
  }
  return 0;
}

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) void
multiplyAdd(double *sums, const double *a, const double *b, unsigned m, unsigned n, unsigned k) {
  for (unsigned row = 0; row < m; ++row) {
    double *into = sums + size_t(row) * n;
    const double *left = a + size_t(row) * k;
    for (unsigned i = 0; i < k; ++i) {
      double factor = left[i];
      const double *right = b + size_t(i) * n;
      for (unsigned column = 0; column < n; ++column)
        into[column] += factor * right[column];
    }
  }
}

void multiplyAddTensor(float *sums, const double *a, const double *b, unsigned m, unsigned n, unsigned k, MatrixType) {
  static thread_local std::vector<double> wide;
  wide.assign(sums, sums + size_t(m) * n);
  multiplyAdd(wide.data(), a, b, m, n, k);
  for (size_t i = 0; i < size_t(m) * n; ++i)
    sums[i] = canonical(static_cast<float>(wide[i]));
}

} // namespace nacre::simulator
