// Elements and sums of matrix products.
#include "simulator/Matrix.h"
#include <algorithm>
#include <array>

namespace nacre::simulator {

std::optional<MatrixType> matrixType(std::string_view name) {
  static constexpr std::pair<std::string_view, MatrixType> names[] = {
      {"f16", MatrixType::F16},   {"bf16", MatrixType::BF16}, {"tf32", MatrixType::TF32}, {"f64", MatrixType::F64},
      {"e4m3", MatrixType::E4M3}, {"e5m2", MatrixType::E5M2}, {"s8", MatrixType::S8},     {"u8", MatrixType::U8},
      {"s4", MatrixType::S4},     {"u4", MatrixType::U4},     {"b1", MatrixType::B1}};
  for (auto &[text, type] : names)
    if (text == name)
      return type;
  return std::nullopt;
}

unsigned bitsOf(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
  case MatrixType::BF16:
    return 16;
  case MatrixType::TF32:
    return 32;
  case MatrixType::F64:
    return 64;
  case MatrixType::S4:
  case MatrixType::U4:
    return 4;
  case MatrixType::B1:
    return 1;
  default:
    return 8;
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
  case MatrixType::F16:
    return halfToFloat(static_cast<uint16_t>(bits));
  case MatrixType::BF16:
    return bfloatToFloat(static_cast<uint16_t>(bits));
  case MatrixType::TF32:
    return std::bit_cast<float>(static_cast<uint32_t>(bits) & 0xFFFFE000); // the rest is not looked at
  case MatrixType::F64:
    return std::bit_cast<double>(bits);
  case MatrixType::E4M3:
    return tables[0][bits & 255];
  case MatrixType::E5M2:
    return tables[1][bits & 255];
  case MatrixType::S8:
    return static_cast<int8_t>(bits);
  case MatrixType::U8:
    return static_cast<uint8_t>(bits);
  case MatrixType::S4:
    return static_cast<int8_t>(bits << 4) >> 4;
  case MatrixType::U4:
    return static_cast<double>(bits & 15);
  case MatrixType::B1:
    return static_cast<double>(bits & 1);
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

namespace {

constexpr int noExponent = -100000; // of zero

void exponentsOf(const double *values, size_t count, std::vector<int> &exponents) {
  exponents.resize(count);
  for (size_t i = 0; i < count; ++i)
    exponents[i] = values[i] == 0 ? noExponent : std::ilogb(values[i]);
}
bool allFinite(const double *values, size_t count) {
  bool finite = true;
  for (size_t i = 0; i < count; ++i)
    finite &= std::isfinite(values[i]);
  return finite;
}

// One row of the result: `sums` holds the accumulators. a and b as above; k is taken in steps of the chosen indices.
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) void
addRow(double *sums, int *largest, double *scales, double *totals, const double *a, const int *aExponents,
       const double *b, const int *bExponents, unsigned n, const unsigned *indices, unsigned count, int fraction) {
  for (unsigned i = 0; i < count; ++i) {
    int exponent = aExponents[indices[i]];
    const int *other = bExponents + size_t(indices[i]) * n;
    for (unsigned column = 0; column < n; ++column)
      largest[column] = std::max(largest[column], exponent + other[column]);
  }
  for (unsigned column = 0; column < n; ++column) {
    int shift = std::min(std::max(fraction - largest[column], -1000), 1000);
    scales[column] = std::bit_cast<double>(uint64_t(shift + 1023) << 52);
    totals[column] = static_cast<double>(static_cast<int32_t>(sums[column] * scales[column]));
  }
  for (unsigned i = 0; i < count; ++i) {
    double factor = a[indices[i]];
    const double *other = b + size_t(indices[i]) * n;
    for (unsigned column = 0; column < n; ++column)
      totals[column] += static_cast<double>(static_cast<int32_t>(factor * other[column] * scales[column]));
  }
  for (unsigned column = 0; column < n; ++column)
    sums[column] = totals[column] / scales[column];
}

} // namespace

void multiplyAddTensor(float *sums, const double *a, const double *b, unsigned m, unsigned n, unsigned k,
                       MatrixType type, TensorUnit unit, bool halfSums) {
  static thread_local std::vector<double> wide, scales, totals, overflown;
  static thread_local std::vector<int> aExponents, bExponents, largest;
  size_t size = size_t(m) * n;
  wide.assign(sums, sums + size);
  if (!allFinite(a, size_t(m) * k) || !allFinite(b, size_t(k) * n) || !allFinite(wide.data(), size)) {
    multiplyAdd(wide.data(), a, b, m, n, k);
    for (size_t i = 0; i < size; ++i)
      sums[i] = canonical(static_cast<float>(wide[i]));
    return;
  }
  exponentsOf(a, size_t(m) * k, aExponents);
  exponentsOf(b, size_t(k) * n, bExponents);
  scales.resize(n), totals.resize(n), largest.resize(n);
  bool eight = type == MatrixType::E4M3 || type == MatrixType::E5M2, pairs = eight && unit == TensorUnit::Mma;
  int fraction = eight && unit == TensorUnit::Wgmma ? 13 : 25, kept = eight && unit == TensorUnit::Wgmma ? 13 : 23;
  unsigned indices[2][256], counts[2] = {0, 0};
  for (unsigned i = 0; i < k; ++i) {
    unsigned part = pairs && i % 4 >= 2;
    indices[part][counts[part]++] = i;
  }
  uint64_t cut = ~((uint64_t(1) << (52 - kept)) - 1);
  for (unsigned row = 0; row < m; ++row) {
    double *into = wide.data() + size_t(row) * n;
    if (pairs)
      std::fill(into, into + n, 0.0);
    overflown.assign(n, 0.0);
    for (unsigned part = 0; part < 2; ++part) {
      if (!counts[part])
        continue;
      for (unsigned column = 0; column < n; ++column)
        if (std::isinf(into[column])) // and stays so
          overflown[column] = into[column], into[column] = 0;
      for (unsigned column = 0; column < n; ++column)
        largest[column] = into[column] == 0 ? 2 * noExponent : std::ilogb(into[column]);
      addRow(into, largest.data(), scales.data(), totals.data(), a + size_t(row) * k,
             aExponents.data() + size_t(row) * k, b, bExponents.data(), n, indices[part], counts[part], fraction);
      for (unsigned column = 0; column < n; ++column)
        into[column] = std::bit_cast<double>(std::bit_cast<uint64_t>(into[column]) & cut);
      if (pairs && halfSums)
        for (unsigned column = 0; column < n; ++column)
          into[column] = overflown[column] != 0
                             ? overflown[column]
                             : static_cast<double>(halfToFloat(floatToHalf(static_cast<float>(into[column]))));
    }
    for (unsigned column = 0; column < n; ++column) {
      float &sum = sums[size_t(row) * n + column];
      sum = pairs ? canonical(static_cast<float>(into[column]) + sum) : static_cast<float>(into[column]);
    }
  }
}

} // namespace nacre::simulator
