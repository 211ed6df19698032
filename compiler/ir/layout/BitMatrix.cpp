// Gauss elimination over bits. Every question about a map is one elimination of its columns that remembers which
// columns were added up.
#include "compiler/ir/layout/BitMatrix.h"
#include <bit>
#include <cassert>

namespace nacre {
namespace {

unsigned highestBit(uint32_t vector) { return 31 - static_cast<unsigned>(std::countl_zero(vector)); }

// Columns are entered from the first on; each either gives a new pivot or a member of the kernel.
struct Elimination {
  explicit Elimination(llvm::ArrayRef<uint32_t> columns) {
    assert(columns.size() <= 32 && "a map of more than 32 bits");
    for (unsigned i = 0; i < columns.size(); ++i) {
      uint32_t vector = columns[i], sum = 0;
      reduce(vector, sum);
      sum ^= uint32_t(1) << i;
      if (vector == 0) {
        kernel.push_back(sum);
        free |= uint32_t(1) << i;
        continue;
      }
      pivots[highestBit(vector)] = vector;
      sums[highestBit(vector)] = sum;
    }
  }

  // Takes pivots from the vector as long as there are some, and adds up the columns they are made of.
  void reduce(uint32_t &vector, uint32_t &sum) const {
    for (uint32_t left = vector; left;) {
      unsigned bit = highestBit(left);
      left &= ~(uint32_t(1) << bit);
      if (!pivots[bit])
        continue;
      vector ^= pivots[bit];
      sum ^= sums[bit];
      left = vector & ((uint32_t(1) << bit) - 1);
    }
  }

  std::array<uint32_t, 32> pivots{}, sums{};
  llvm::SmallVector<uint32_t> kernel;
  uint32_t free = 0;
};

} // namespace

uint32_t Span::reduce(uint32_t vector) const {
  for (uint32_t left = vector; left;) {
    unsigned bit = highestBit(left);
    if (pivots[bit])
      vector ^= pivots[bit];
    left = vector & ((uint32_t(1) << bit) - 1);
  }
  return vector;
}

bool Span::insert(uint32_t vector) {
  vector = reduce(vector);
  if (!vector)
    return false;
  unsigned bit = highestBit(vector);
  for (uint32_t &pivot : pivots)
    if (pivot >> bit & 1)
      pivot ^= vector;
  pivots[bit] = vector;
  ++size;
  return true;
}

void Span::insert(llvm::ArrayRef<uint32_t> vectors) {
  for (uint32_t vector : vectors)
    insert(vector);
}

llvm::SmallVector<uint32_t> Span::basis() const {
  llvm::SmallVector<uint32_t> result;
  for (uint32_t pivot : pivots)
    if (pivot)
      result.push_back(pivot);
  return result;
}

llvm::SmallVector<uint32_t> intersection(llvm::ArrayRef<uint32_t> left, llvm::ArrayRef<uint32_t> right) {
  // A vector of both is a sum of left ones equal to a sum of right ones: a member of the kernel of both side by side.
  llvm::SmallVector<uint32_t> leftBasis = Span(left).basis(), columns = leftBasis;
  llvm::append_range(columns, Span(right).basis());
  Span shared;
  for (uint32_t sum : Elimination(columns).kernel) {
    uint32_t vector = 0;
    for (unsigned i = 0; i < leftBasis.size(); ++i)
      if (sum >> i & 1)
        vector ^= leftBasis[i];
    shared.insert(vector);
  }
  return shared.basis();
}

BitMatrix BitMatrix::identity(unsigned bits) {
  BitMatrix result;
  result.rowCount = bits;
  for (unsigned i = 0; i < bits; ++i)
    result.columns.push_back(uint32_t(1) << i);
  return result;
}

uint32_t BitMatrix::apply(uint32_t input) const {
  uint32_t result = 0;
  for (; input; input &= input - 1)
    result ^= columns[static_cast<unsigned>(std::countr_zero(input))];
  return result;
}

BitMatrix BitMatrix::compose(const BitMatrix &inner) const {
  assert(inner.rowCount == inputBits() && "composed maps must meet");
  BitMatrix result;
  result.rowCount = rowCount;
  for (uint32_t column : inner.columns)
    result.columns.push_back(apply(column));
  return result;
}

llvm::SmallVector<uint32_t> BitMatrix::kernel() const { return Elimination(columns).kernel; }

uint32_t BitMatrix::freeInputs() const { return Elimination(columns).free; }

std::optional<BitMatrix> BitMatrix::inverse() const {
  if (inputBits() != outputBits())
    return std::nullopt;
  return pseudoInverse();
}

std::optional<BitMatrix> BitMatrix::pseudoInverse() const {
  Elimination elimination(columns);
  BitMatrix result;
  result.rowCount = inputBits();
  for (unsigned i = 0; i < rowCount; ++i) {
    uint32_t vector = uint32_t(1) << i, sum = 0;
    elimination.reduce(vector, sum);
    if (vector)
      return std::nullopt;
    result.columns.push_back(sum);
  }
  return result;
}

std::optional<uint32_t> BitMatrix::solve(uint32_t output) const {
  uint32_t sum = 0;
  Elimination(columns).reduce(output, sum);
  return output ? std::nullopt : std::optional(sum);
}

} // namespace nacre
