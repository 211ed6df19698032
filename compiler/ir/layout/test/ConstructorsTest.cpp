// Layouts of hardware, against the simulator's maps of fragments (typed from the tables of the ISA, independent of
// these) and against the arithmetic that defines blockings and swizzles.
#include "compiler/ir/layout/Constructors.h"
#include "simulator/Matrix.h"
#include "simulator/TensorMap.h"
#include <gtest/gtest.h>
#include <set>

using namespace nacre;

namespace {

// Both directions: every place holds what the simulator says, and every element of the fragment is reached.
template <typename PlaceOf> void expectFragment(const LinearLayout &layout, unsigned warps, PlaceOf placeOf) {
  ASSERT_EQ(layout.count(Place::Lane), 32u);
  ASSERT_EQ(layout.count(Place::Warp), warps);
  std::set<uint32_t> seen;
  for (uint32_t warp = 0; warp < warps; ++warp)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t reg = 0; reg < layout.count(Place::Register); ++reg) {
        simulator::FragmentPlace place = placeOf(lane, reg);
        uint32_t packed = layout.apply(Position{.reg = reg, .lane = lane, .warp = warp});
        ASSERT_EQ(layout.coordinate(packed, 0), place.row + 16 * warp) << layout.text();
        ASSERT_EQ(layout.coordinate(packed, 1), place.column) << layout.text();
        seen.insert(packed);
        ASSERT_EQ(layout.holder(packed), (Position{.reg = reg, .lane = lane, .warp = warp}));
      }
  EXPECT_EQ(seen.size(), size_t(1) << layout.outputBits());
}

TEST(Fragments, OperandsAgreeWithTheSimulator) {
  for (unsigned per : {1u, 2u, 4u, 8u}) {
    auto inA = [&](uint32_t lane, uint32_t reg) { return simulator::placeInA(lane, reg / per, reg % per, per); };
    auto inB = [&](uint32_t lane, uint32_t reg) { return simulator::placeInB(lane, reg / per, reg % per, per); };
    for (unsigned k : {4 * per, 8 * per}) {
      expectFragment(fragmentA(16, k, per), 1, inA);
      expectFragment(fragmentA(64, k, per), 4, inA);
      expectFragment(fragmentB(k, 8, per), 1, inB);
    }
    expectFragment(fragmentA(8, 4 * per, per), 1, inA);
  }
}

TEST(Fragments, ResultsAgreeWithTheSimulator) {
  auto inC = [](uint32_t lane, uint32_t reg) { return simulator::placeInC(lane, reg); };
  expectFragment(fragmentC(16, 8), 1, inC);
  expectFragment(fragmentC(8, 8), 1, inC);
  for (unsigned n = 8; n <= 256; n *= 2)
    expectFragment(fragmentC(64, n), 4, inC);
}

TEST(Fragments, AnAccumulatorIsTheNextProductsOperand) {
  // Two neighbouring n8 accumulators are, register for register, one 16-bit operand of k16.
  EXPECT_EQ(fragmentC(64, 16), fragmentA(64, 16, 2));
}

TEST(Fragments, MatrixLoads) {
  EXPECT_EQ(matrixLoad(2, false).text(), "[8, 8] register b1 lane b2 b4 a1 a2 a4");
  EXPECT_EQ(matrixLoad(2, true).text(), "[8, 8] register a1 lane a2 a4 b1 b2 b4");
  EXPECT_EQ(matrixLoad(4, false).text(), "[8, 16] register b1 b2 lane b4 b8 a1 a2 a4");
  // Four of them are an operand of mma.sync, and its transpose as B.
  EXPECT_TRUE(fragmentA(16, 16, 2).fit(matrixLoad(2, false)));
  EXPECT_TRUE(fragmentB(16, 8, 2).fit(matrixLoad(2, true)));
  EXPECT_FALSE(fragmentB(16, 8, 2).fit(matrixLoad(2, false)));
}

TEST(Blocked, FollowsItsOrder) {
  // 2 registers along b, lanes 4 x 8, warps 2 x 2, in a tile of 32 x 64.
  Blocking blocking{.order = {1, 0}, .registerBits = {0, 1}, .laneBits = {2, 3}, .warpBits = {1, 1}};
  EXPECT_EQ(blocked({5, 6}, blocking).text(), "[32, 64] register b1 b32 a8 a16 lane b2 b4 b8 a1 a2 warp b16 a4");
  // A smaller tile: what has no room is a copy.
  EXPECT_EQ(blocked({1, 3}, blocking).text(), "[2, 8] register b1 lane b2 b4 0 a1 0 warp 0 0");
}

TEST(Blocked, AnyNumberOfLanes) {
  for (unsigned laneBits : {5u, 6u}) {
    for (llvm::SmallVector<unsigned> axes : {llvm::SmallVector<unsigned>{10}, {3, 4}, {0, 2}, {7, 7}, {2, 3, 5}}) {
      llvm::SmallVector<unsigned> order;
      for (unsigned axis = 0; axis < axes.size(); ++axis)
        order.push_back(static_cast<unsigned>(axes.size()) - 1 - axis);
      LinearLayout layout = blocked(axes, blockingFor(axes, order, 2, laneBits, 2));
      EXPECT_EQ(layout.bits(Place::Lane), laneBits);
      EXPECT_EQ(layout.bits(Place::Warp), 2u);
      EXPECT_TRUE(layout.isSurjective());
      EXPECT_EQ(layout.contiguity(order[0]), 1u << std::min(2u, axes[order[0]])) << layout.text();
      EXPECT_EQ(layout.copies(Place::Register), 0u);
    }
  }
}

TEST(TileOver, RepeatsAnInstruction) {
  LinearLayout instruction = fragmentC(16, 8);
  LinearLayout layout = tileOver(instruction, {7, 6}, {0, 1, 0}, {1, 0});
  EXPECT_EQ(layout.text(), "[128, 64] register b1 a8 b16 b32 a64 lane b2 b4 a1 a2 a4 warp a16 b8 a32");
  EXPECT_TRUE(layout.quotient(instruction));
  // The operand A of the same warps: those along n hold copies.
  EXPECT_EQ(tileOver(fragmentA(16, 16, 2), {7, 5}, {0, copyAxis, 0}, {1, 0}).text(),
            "[128, 32] register b1 a8 b8 b16 a64 lane b2 b4 a1 a2 a4 warp a16 0 a32");
}

TEST(Shared, SwizzlesExchangePiecesOfRows) {
  for (unsigned spanBits : {5u, 6u, 7u})
    for (unsigned elementBits : {0u, 1u, 2u}) {
      unsigned column = spanBits - elementBits + 1; // two panels
      LinearLayout layout = sharedSwizzled({5, column}, {1, 0}, spanBits, elementBits);
      ASSERT_TRUE(layout.isInjective() && layout.isSurjective());
      for (uint32_t offset = 0; offset < layout.count(Place::Offset); ++offset) {
        // Its own inverse, by byte addresses.
        auto plain = static_cast<uint32_t>(simulator::swizzled(offset << elementBits, uint8_t(spanBits - 4)));
        uint32_t within = plain & ((1u << spanBits) - 1), row = plain >> spanBits & 31, panel = plain >> (spanBits + 5);
        uint32_t packed = layout.apply(Position{.offset = offset});
        ASSERT_EQ(layout.coordinate(packed, 0), row);
        ASSERT_EQ(layout.coordinate(packed, 1), (within + (panel << spanBits)) >> elementBits);
      }
    }
  EXPECT_EQ(sharedInOrder({2, 3}, {0, 1}).text(), "[4, 8] offset a1 a2 b1 b2 b4");
}

} // namespace
