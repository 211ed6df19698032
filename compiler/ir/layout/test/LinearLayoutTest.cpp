// The algebra of layouts, each operation against what it says of single elements.
#include "Random.h"
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::test;

namespace {

LinearLayout read(llvm::StringRef text) {
  std::string error;
  std::optional<LinearLayout> layout = LinearLayout::parse(text, &error);
  EXPECT_TRUE(layout) << error;
  return layout ? *layout : LinearLayout();
}

TEST(LinearLayout, TheEssaysExample) {
  LinearLayout layout = read("[8, 16] register b1 b2 lane b4 b8 a1 a2 a4");
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t reg = 0; reg < 4; ++reg) {
      uint32_t packed = layout.apply(Position{.reg = reg, .lane = lane});
      EXPECT_EQ(layout.coordinate(packed, 0), lane / 4);
      EXPECT_EQ(layout.coordinate(packed, 1), reg + 4 * (lane % 4));
    }
  EXPECT_EQ(layout.holder(layout.pack({1, 7})), (Position{.reg = 3, .lane = 5}));
  EXPECT_EQ(layout.contiguity(1), 4u);
  EXPECT_EQ(layout.contiguity(0), 1u);
}

TEST(LinearLayout, TextIsReadBackAndCanonical) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    LinearLayout layout = anyLayout(random, randomAxes(random, below(random, 12)));
    std::optional<LinearLayout> again = LinearLayout::parse(layout.text());
    ASSERT_TRUE(again) << layout.text();
    ASSERT_EQ(*again, layout);
    ASSERT_EQ(again->text(), layout.text());
    ASSERT_EQ(hash_value(*again), hash_value(layout));
  }
  EXPECT_EQ(LinearLayout().text(), "[]");
  EXPECT_EQ(read("[8,4]register b1 0 lane a2+b2").text(), "[8, 4] register b1 0 lane a2+b2");
}

TEST(LinearLayout, WrongTextsSayWhy) {
  for (const char *text :
       {"", "8", "[3]", "[8", "[8] register", "[8] register b1", "[8] register a8", "[8] lane a1 register a2",
        "[8] register a1+", "[8] register a1+a2", "[8] warps a1", "[8] register a0", "[4294967296]"}) {
    std::string error;
    EXPECT_FALSE(LinearLayout::parse(text, &error)) << text;
    EXPECT_FALSE(error.empty()) << text;
  }
}

TEST(LinearLayout, QuotientUndoesProduct) {
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    llvm::SmallVector<unsigned> inner = randomAxes(random, below(random, 8)), outer(inner.size());
    for (unsigned &bits : outer)
      bits = below(random, 4);
    LinearLayout tile = anyLayout(random, inner), rest = anyLayout(random, outer);
    LinearLayout whole = tile.product(rest);
    std::optional<LinearLayout> found = whole.quotient(tile);
    ASSERT_TRUE(found);
    ASSERT_EQ(*found, rest);
    // Coordinates are those of the rest times the extents of the tile plus those of the tile.
    uint32_t x = bitsOf(random, tile.inputBits()), y = bitsOf(random, rest.inputBits());
    Position low = tile.unpackInput(x), high = rest.unpackInput(y), both;
    both.reg = low.reg | high.reg << tile.bits(Place::Register);
    both.lane = low.lane | high.lane << tile.bits(Place::Lane);
    both.warp = low.warp | high.warp << tile.bits(Place::Warp);
    both.block = low.block | high.block << tile.bits(Place::Block);
    for (unsigned axis = 0; axis < inner.size(); ++axis)
      ASSERT_EQ(whole.coordinate(whole.apply(both), axis),
                tile.coordinate(tile.apply(x), axis) + tile.extent(axis) * rest.coordinate(rest.apply(y), axis));
  }
  // No quotient where something else moves within the tile, or the leading bases differ.
  LinearLayout tile = read("[4] register a1 a2");
  EXPECT_TRUE(read("[16] register a1 a2 lane a4 a8").quotient(tile));
  EXPECT_FALSE(read("[16] register a1 a2 lane a5 a8").quotient(tile));
  EXPECT_FALSE(read("[16] register a2 a1 lane a4 a8").quotient(tile));
  EXPECT_FALSE(read("[2] register a1").quotient(tile));
}

TEST(LinearLayout, FitRenumbersRegisters) {
  LinearLayout tile = read("[4, 2] register a1 b1 lane a2");
  LinearLayout layout = read("[8, 8] register b2 b1 a1 a4 lane a2 b4");
  std::optional<LinearLayout::Fit> fit = layout.fit(tile);
  ASSERT_TRUE(fit);
  EXPECT_EQ(tile.product(fit->rest), layout.withRegisterOrder(fit->order));
  EXPECT_EQ(fit->order, (llvm::SmallVector<unsigned>{2, 1, 0, 3}));
  EXPECT_FALSE(read("[8, 8] register b2 b1 a4 lane a2 b4 a1").fit(tile));
}

TEST(LinearLayout, ReshapesKeepTheRowMajorIndexAndPermutationsMoveAxes) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    LinearLayout layout = anyLayout(random, randomAxes(random, below(random, 10)));
    uint32_t x = bitsOf(random, layout.inputBits());
    llvm::SmallVector<unsigned> shape(3, 0);
    for (unsigned bit = 0; bit < layout.outputBits(); ++bit)
      ++shape[below(random, 3)];
    LinearLayout reshaped = layout.reshape(shape);
    EXPECT_EQ(reshaped.apply(x), layout.apply(x));
    llvm::SmallVector<unsigned> order(layout.rank());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    LinearLayout permuted = layout.permute(order);
    for (unsigned axis = 0; axis < order.size(); ++axis)
      EXPECT_EQ(permuted.coordinate(permuted.apply(x), axis), layout.coordinate(layout.apply(x), order[axis]));
    EXPECT_EQ(layout.compose(BitMatrix::identity(layout.outputBits()), shape), reshaped);
  }
}

TEST(LinearLayout, SlicesHoldWhatBroadcastsNeed) {
  Random random(4);
  for (unsigned laneBits : {5u, 6u})
    for (int i = 0; i < 2000; ++i) {
      LinearLayout layout = randomRegisters(random, randomAxes(random, 4 + below(random, 8)), laneBits, 2);
      unsigned axis = below(random, layout.rank());
      LinearLayout slice = layout.slice(axis);
      ASSERT_EQ(slice.rank() + 1, layout.rank());
      ASSERT_TRUE(slice.isSurjective());
      ASSERT_EQ(slice.distinctRegisters().size(), slice.bits(Place::Register));
      // Every thread holds, somewhere in its registers, the sliced coordinates of each of its elements.
      for (int j = 0; j < 20; ++j) {
        Position at{.reg = below(random, layout.count(Place::Register)),
                    .lane = below(random, 1u << laneBits),
                    .warp = below(random, 4)};
        llvm::SmallVector<uint32_t> wanted = layout.unpack(layout.apply(at));
        wanted.erase(wanted.begin() + axis);
        bool found = false;
        for (at.reg = 0; at.reg < slice.count(Place::Register); ++at.reg)
          found |= slice.apply(at) == slice.pack(wanted);
        ASSERT_TRUE(found);
      }
      EXPECT_EQ(layout.collapse(axis), slice.expand(axis));
      // Broadcast by registers, then sliced again: the same.
      EXPECT_EQ(slice.expand(axis).broadcast(axis, 3).slice(axis), slice);
      EXPECT_TRUE(slice.expand(axis).broadcast(axis, 3).isSurjective());
    }
}

TEST(LinearLayout, JoinSplitAndConcatenate) {
  LinearLayout layout = read("[8] register a4 lane a1 a2");
  EXPECT_EQ(layout.join().text(), "[8, 2] register b1 a4 lane a1 a2");
  std::optional<LinearLayout::Split> split = read("[8, 2] register a4 b1 lane a1 a2").split();
  ASSERT_TRUE(split);
  EXPECT_EQ(split->half, layout);
  EXPECT_EQ(split->registerBit, 1u);
  EXPECT_FALSE(read("[8, 2] register a4 lane a1 a2 b1").split());
  EXPECT_FALSE(read("[8, 2] register a4 b1 lane a1+b1 a2").split());
  EXPECT_EQ(layout.concatenate(0).text(), "[16] register a4 a8 lane a1 a2");
}

TEST(LinearLayout, EveryElementHasOneHolder) {
  Random random(5);
  for (unsigned laneBits : {5u, 6u})
    for (int i = 0; i < 200; ++i) {
      LinearLayout layout = randomRegisters(random, randomAxes(random, 3 + below(random, 8)), laneBits, 2);
      uint32_t lanes = layout.copies(Place::Lane), warps = layout.copies(Place::Warp);
      ASSERT_EQ(layout.copies(Place::Register), 0u);
      std::vector<unsigned> holders(size_t(1) << layout.outputBits());
      for (uint32_t x = 0; x < 1u << layout.inputBits(); ++x) {
        Position at = layout.unpackInput(x);
        ASSERT_EQ(layout.packInput(at), x);
        if (!(at.lane & lanes) && !(at.warp & warps))
          ++holders[layout.apply(x)];
      }
      for (uint32_t element = 0; element < holders.size(); ++element) {
        ASSERT_EQ(holders[element], 1u);
        ASSERT_EQ(layout.apply(layout.holder(element)), element);
      }
    }
}

TEST(LinearLayout, ContiguityNeedsUnitBasesThatNobodyElseTouches) {
  EXPECT_EQ(read("[64] register a2 a1 lane a4 a8 a16 a32").contiguity(0), 4u);
  EXPECT_EQ(read("[64] register a2 a1 lane a4 a10 a16 a32").contiguity(0), 2u);
  EXPECT_EQ(read("[64] register a2 lane a1 a4 a8 a16 a32").contiguity(0), 1u);
  EXPECT_EQ(read("[64] register a2 a1 lane a4").contiguousRegisters(0), (llvm::SmallVector<unsigned>{1, 0}));
}

TEST(LinearLayout, DuplicateRegistersAreDropped) {
  LinearLayout layout = read("[8] register a1 0 a2 a3 lane a4 0");
  EXPECT_EQ(layout.withoutDuplicateRegisters().text(), "[8] register a1 a2 lane a4 0");
  EXPECT_EQ(layout.distinctRegisters(), (llvm::SmallVector<unsigned>{0, 2}));
  EXPECT_EQ(layout.copies(Place::Lane), 2u);
}

TEST(LinearLayout, ShapesArePadded) {
  EXPECT_EQ(LinearLayout::paddedBits({1, 2, 3, 96, 128, 129}), (llvm::SmallVector<unsigned>{0, 1, 2, 7, 7, 8}));
}

TEST(LinearLayout, BlocksHavePartsOfTheTile) {
  LinearLayout layout = read("[8, 16] register b1 lane b2 b4 warp a1 a2 block b8 a4");
  EXPECT_TRUE(layout.isSplitOverBlocks());
  EXPECT_TRUE(layout.isSplitOverBlocks(0));
  EXPECT_EQ(layout.ofOneBlock(), read("[4, 8] register b1 lane b2 b4 warp a1 a2"));
  EXPECT_EQ(layout.parts(), read("[2, 2] block b1 a1"));
  EXPECT_EQ(layout.ofOneBlock()->product(layout.parts()), layout);
  EXPECT_EQ(layout.withBlocksAsWarps(), read("[8, 16] register b1 lane b2 b4 warp a1 a2 b8 a4"));
  // A block that has all of it, and bits in the middle of an axis.
  LinearLayout flat = read("[64] register a1 lane a2 a4 a32 block 0 a8 a16");
  EXPECT_EQ(flat.ofOneBlock(), read("[16] register a1 lane a2 a4 a8"));
  EXPECT_TRUE(flat.isSplitOverBlocks());
  EXPECT_FALSE(read("[8] lane a1 a2 a4 block 0").isSplitOverBlocks());
  // Not a tile of its own: something else moves along the bit, or blocks along two at once.
  EXPECT_FALSE(read("[8] lane a1 a2 a4 block a4").ofOneBlock());
  EXPECT_FALSE(read("[4] lane a1 a2 block a3").ofOneBlock());
}

TEST(LinearLayout, WhatABlockHasIsItsPartOfTheTile) {
  Random random(17);
  for (int i = 0; i < 1000; ++i) {
    LinearLayout own = randomRegisters(random, randomAxes(random, below(random, 8)), 2, 2);
    llvm::SmallVector<unsigned> taken(own.rank());
    taken[below(random, own.rank())] = 1;
    LinearLayout parts(taken);
    parts.add(Place::Block, 1);
    parts.add(Place::Block, 0);
    LinearLayout whole = own.product(parts);
    ASSERT_EQ(whole.ofOneBlock(), own) << whole.text();
    ASSERT_EQ(whole.parts(), parts) << whole.text();
  }
}

} // namespace
