// Linear maps and subspaces of bit vectors: addition is exclusive or. Free of MLIR; vectors have at most 32 bits.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <optional>

namespace nacre {

// The subspace that some vectors span, in echelon form.
class Span {
public:
  Span() = default;
  Span(llvm::ArrayRef<uint32_t> vectors) { insert(vectors); }

  // Adds a vector; false where the span held it already.
  bool insert(uint32_t vector);
  void insert(llvm::ArrayRef<uint32_t> vectors);
  bool contains(uint32_t vector) const { return reduce(vector) == 0; }
  // The representative of a vector modulo the span: 0 exactly for its members, equal for vectors that differ by one.
  uint32_t reduce(uint32_t vector) const;
  unsigned dimension() const { return size; }
  llvm::SmallVector<uint32_t> basis() const;

private:
  // Entry i has i for its highest bit, and no highest bit of another entry below it; 0 where there is none.
  std::array<uint32_t, 32> pivots{};
  unsigned size = 0;
};

// A basis of what two spans share.
llvm::SmallVector<uint32_t> intersection(llvm::ArrayRef<uint32_t> left, llvm::ArrayRef<uint32_t> right);

// A linear map: column i is the image of input bit i.
class BitMatrix {
public:
  BitMatrix() = default;
  BitMatrix(unsigned rows, llvm::ArrayRef<uint32_t> columns) : rowCount(rows), columns(columns) {}
  static BitMatrix identity(unsigned bits);

  unsigned inputBits() const { return static_cast<unsigned>(columns.size()); }
  unsigned outputBits() const { return rowCount; }
  llvm::ArrayRef<uint32_t> images() const { return columns; }

  uint32_t apply(uint32_t input) const;
  // First `inner`, then this.
  BitMatrix compose(const BitMatrix &inner) const;
  unsigned rank() const { return Span(columns).dimension(); }
  // A basis of the inputs that map to 0, and of the outputs that are reached.
  llvm::SmallVector<uint32_t> kernel() const;
  llvm::SmallVector<uint32_t> image() const { return Span(columns).basis(); }
  bool isInjective() const { return rank() == inputBits(); }
  bool isSurjective() const { return rank() == outputBits(); }
  bool isIdentity() const { return *this == identity(inputBits()); }

  // The input bits whose image depends on those of lower bits: with them 0 the map is injective and reaches as much.
  uint32_t freeInputs() const;
  // Only of a bijection.
  std::optional<BitMatrix> inverse() const;
  // Of a surjective map: the right inverse whose values leave the free inputs 0.
  std::optional<BitMatrix> pseudoInverse() const;
  // The input with the free bits 0 that maps to `output`, where there is one.
  std::optional<uint32_t> solve(uint32_t output) const;

  bool operator==(const BitMatrix &other) const = default;

private:
  unsigned rowCount = 0;
  llvm::SmallVector<uint32_t, 16> columns;
};

} // namespace nacre
