// Linear algebra over bits, against the definitions.
#include "Random.h"
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::test;

namespace {

BitMatrix randomMatrix(Random &random, unsigned inputs, unsigned outputs) {
  llvm::SmallVector<uint32_t> columns;
  for (unsigned i = 0; i < inputs; ++i)
    columns.push_back(bitsOf(random, outputs));
  return BitMatrix(outputs, columns);
}

TEST(BitMatrix, ComposeAssociatesAndIsApplicationTwice) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    unsigned a = below(random, 12), b = below(random, 12), c = below(random, 12), d = below(random, 12);
    BitMatrix f = randomMatrix(random, a, b), g = randomMatrix(random, b, c), h = randomMatrix(random, c, d);
    ASSERT_EQ(h.compose(g).compose(f), h.compose(g.compose(f)));
    uint32_t x = bitsOf(random, a);
    ASSERT_EQ(g.compose(f).apply(x), g.apply(f.apply(x)));
  }
}

TEST(BitMatrix, InversesOfBijections) {
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    unsigned bits = 1 + below(random, 20);
    BitMatrix map(bits, randomBasis(random, bits));
    std::optional<BitMatrix> inverse = map.inverse();
    ASSERT_TRUE(inverse);
    ASSERT_TRUE(map.compose(*inverse).isIdentity());
    ASSERT_TRUE(inverse->compose(map).isIdentity());
  }
}

TEST(BitMatrix, KernelImageAndRankAreThoseOfAllInputs) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    BitMatrix map = randomMatrix(random, below(random, 9), 1 + below(random, 8));
    std::vector<bool> reached(size_t(1) << map.outputBits());
    unsigned zeros = 0;
    for (uint32_t x = 0; x < 1u << map.inputBits(); ++x) {
      reached[map.apply(x)] = true;
      zeros += map.apply(x) == 0;
    }
    EXPECT_EQ(std::count(reached.begin(), reached.end(), true), 1 << map.rank());
    EXPECT_EQ(zeros, 1u << map.kernel().size());
    for (uint32_t x : map.kernel())
      EXPECT_EQ(map.apply(x), 0u);
    Span image(map.image());
    for (uint32_t y = 0; y < reached.size(); ++y) {
      EXPECT_EQ(image.contains(y), reached[y]);
      std::optional<uint32_t> x = map.solve(y);
      ASSERT_EQ(x.has_value(), reached[y]);
      if (x) {
        EXPECT_EQ(map.apply(*x), y);
        EXPECT_EQ(*x & map.freeInputs(), 0u);
      }
    }
    EXPECT_EQ(map.pseudoInverse().has_value(), map.isSurjective());
    if (std::optional<BitMatrix> right = map.pseudoInverse()) {
      EXPECT_TRUE(map.compose(*right).isIdentity());
    }
  }
}

TEST(BitMatrix, IntersectionHoldsWhatBothHold) {
  Random random(4);
  for (int i = 0; i < 500; ++i) {
    BitMatrix left = randomMatrix(random, below(random, 7), 7), right = randomMatrix(random, below(random, 7), 7);
    Span a(left.images()), b(right.images()), both(intersection(left.images(), right.images()));
    for (uint32_t y = 0; y < 128; ++y)
      ASSERT_EQ(both.contains(y), a.contains(y) && b.contains(y));
  }
}

TEST(Span, RepresentativesAreEqualExactlyForEqualClasses) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    Span span(randomMatrix(random, below(random, 6), 6).images());
    for (uint32_t x = 0; x < 64; ++x)
      for (uint32_t y = 0; y < 64; ++y)
        ASSERT_EQ(span.reduce(x) == span.reduce(y), span.contains(x ^ y));
  }
}

} // namespace
