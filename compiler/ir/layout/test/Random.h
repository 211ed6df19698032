// Random layouts for property tests.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"
#include <algorithm>
#include <numeric>
#include <random>

namespace nacre::test {

using Random = std::mt19937;

inline unsigned below(Random &random, unsigned bound) {
  return std::uniform_int_distribution<unsigned>(0, bound - 1)(random);
}

// A vector of so many bits.
inline uint32_t bitsOf(Random &random, unsigned bits) {
  return bits ? static_cast<uint32_t>(random()) >> (32 - bits) : 0;
}

// Vectors of `bits` bits that are linearly independent: a random bijection's columns.
inline llvm::SmallVector<uint32_t> randomBasis(Random &random, unsigned bits) {
  llvm::SmallVector<uint32_t> result;
  Span span;
  while (result.size() < bits) {
    uint32_t vector = below(random, 2) ? uint32_t(1) << below(random, bits) : bitsOf(random, bits);
    if (span.insert(vector))
      result.push_back(vector);
  }
  return result;
}

// Splits a number of bits among some axes.
inline llvm::SmallVector<unsigned> randomAxes(Random &random, unsigned bits) {
  llvm::SmallVector<unsigned> axes(1 + below(random, 3), 0);
  for (unsigned i = 0; i < bits; ++i)
    ++axes[below(random, static_cast<unsigned>(axes.size()))];
  return axes;
}

// A register layout of so many lanes and warps that covers the tile; where the tile is too small for all threads, bases
// of lanes and warps are 0 or repeat others.
inline LinearLayout randomRegisters(Random &random, llvm::ArrayRef<unsigned> axisBits, unsigned laneBits,
                                    unsigned warpBits) {
  LinearLayout layout(axisBits);
  unsigned bits = layout.outputBits();
  llvm::SmallVector<uint32_t> vectors = randomBasis(random, bits);
  // Threads get vectors, copies among them; what is left over is the registers'.
  unsigned threads = laneBits + warpBits, copies = bits < threads ? threads - bits : below(random, 3);
  copies = std::min(copies, threads);
  llvm::SmallVector<bool> copy(threads, false);
  std::fill(copy.begin(), copy.begin() + copies, true);
  std::shuffle(copy.begin(), copy.end(), random);
  unsigned next = 0;
  for (unsigned i = 0; i < threads; ++i)
    if (!copy[i])
      layout.add(i < laneBits ? Place::Lane : Place::Warp, vectors[next++]);
    else if (next && below(random, 4) == 0)
      layout.add(i < laneBits ? Place::Lane : Place::Warp, vectors[below(random, next)]);
    else
      layout.add(i < laneBits ? Place::Lane : Place::Warp, 0);
  while (next < vectors.size())
    layout.add(Place::Register, vectors[next++]);
  return layout;
}

// Any bases at all, dependent ones and zeros included.
inline LinearLayout anyLayout(Random &random, llvm::ArrayRef<unsigned> axisBits) {
  LinearLayout layout(axisBits);
  unsigned bits = layout.outputBits();
  for (Place place : {Place::Register, Place::Lane, Place::Warp, Place::Block})
    for (unsigned i = below(random, 5); i > 0; --i)
      layout.add(place, bitsOf(random, bits));
  return layout;
}

} // namespace nacre::test
