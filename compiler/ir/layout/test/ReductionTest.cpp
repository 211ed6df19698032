// Reductions executed on arrays: each element of a row is counted once, in every thread.
#include "compiler/ir/layout/Reduction.h"
#include "Random.h"
#include "compiler/ir/layout/Constructors.h"
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::test;

namespace {

// Sums of a number for each element, modulo 2^32: a row's sum is right only if each element is in it once.
uint32_t weight(uint32_t element) { return element * 2654435761u + 12345u; }

void expectSums(const LinearLayout &layout, unsigned axis, uint64_t mostElements = ~uint64_t(0)) {
  ReductionPlan plan = planReduction(layout, axis, mostElements);
  ASSERT_EQ(plan.result, layout.slice(axis));
  uint32_t lanes = layout.count(Place::Lane), warps = layout.count(Place::Warp);
  uint32_t registers = plan.result.count(Place::Register);
  std::vector<uint32_t> values(size_t(warps) * lanes * registers), next;
  auto at = [&](std::vector<uint32_t> &from, uint32_t warp, uint32_t lane, uint32_t reg) -> uint32_t & {
    return from[(warp * lanes + lane) * registers + reg];
  };
  auto forAll = [&](auto &&body) {
    for (uint32_t warp = 0; warp < warps; ++warp)
      for (uint32_t lane = 0; lane < lanes; ++lane)
        for (uint32_t reg = 0; reg < registers; ++reg)
          body(warp, lane, reg);
  };
  forAll([&](uint32_t warp, uint32_t lane, uint32_t reg) {
    uint32_t &sum = at(values, warp, lane, reg);
    sum = 0;
    for (uint32_t source : plan.groups[reg])
      sum += weight(layout.apply(Position{.reg = source, .lane = lane, .warp = warp}));
  });
  for (const ReductionPlan::LaneStep &step : plan.laneSteps) {
    next = values;
    forAll([&](uint32_t warp, uint32_t lane, uint32_t reg) {
      at(next, warp, lane, reg) += at(values, warp, lane ^ step.lanes, reg ^ step.registers);
    });
    values = next;
  }
  EXPECT_LE(plan.offsetCount(), std::max<uint64_t>(mostElements, warps * lanes << plan.partBits));
  std::vector<uint32_t> combined(values);
  for (llvm::ArrayRef<uint32_t> round : plan.rounds) {
    std::vector<uint32_t> memory(plan.offsetCount());
    std::vector<bool> written(plan.offsetCount());
    forAll([&](uint32_t warp, uint32_t lane, uint32_t reg) {
      if ((lane & plan.laneCopies) || (warp & plan.warpCopies) || !llvm::is_contained(round, reg))
        return;
      uint32_t offset = plan.write.apply(Position{.reg = reg, .lane = lane, .warp = warp});
      EXPECT_FALSE(written[offset]);
      written[offset] = true;
      memory[offset] = at(values, warp, lane, reg);
    });
    forAll([&](uint32_t warp, uint32_t lane, uint32_t reg) {
      if (!llvm::is_contained(round, reg))
        return;
      uint32_t offset = plan.read.apply(Position{.reg = reg, .lane = lane, .warp = warp}), sum = 0;
      for (uint32_t part = 0; part < plan.partCount(); ++part) {
        EXPECT_TRUE(written[offset + (part << plan.rowBits)]);
        sum += memory[offset + (part << plan.rowBits)];
      }
      at(combined, warp, lane, reg) = sum;
    });
  }
  values = combined;
  std::vector<uint32_t> sums(size_t(1) << plan.result.outputBits());
  for (uint32_t element = 0; element < 1u << layout.outputBits(); ++element) {
    llvm::SmallVector<uint32_t> row = layout.unpack(element);
    row.erase(row.begin() + axis);
    sums[plan.result.pack(row)] += weight(element);
  }
  bool right = true;
  forAll([&](uint32_t warp, uint32_t lane, uint32_t reg) {
    right &= at(values, warp, lane, reg) == sums[plan.result.apply(Position{.reg = reg, .lane = lane, .warp = warp})];
  });
  ASSERT_TRUE(right) << layout.text() << " along axis " << axis;
}

TEST(Reduction, CountsEveryElementOnce) {
  Random random(7);
  for (unsigned laneBits : {5u, 6u})
    for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) {
      LinearLayout layout =
          randomRegisters(random, randomAxes(random, 2 + below(random, 9)), laneBits, below(random, 4));
      for (unsigned axis = 0; axis < layout.rank(); ++axis) {
        expectSums(layout, axis);
        expectSums(layout, axis, uint64_t(1) << below(random, 10));
      }
    }
}

TEST(Reduction, MemoryBoundsWhatIsExchangedAtOnce) {
  // 64 rows of 4096 columns, summed over rows that eight warps have.
  LinearLayout layout =
      *LinearLayout::parse("[64, 4096] register b1 b128 b256 b512 b1024 b2048 a8 a16 a32 lane b2 b4 b8 b16 b32 warp "
                           "a1 a2 a4");
  layout.add(Place::Register, 1, 64);
  EXPECT_EQ(planReduction(layout, 0).offsetCount(), 32768u);
  EXPECT_EQ(planReduction(layout, 0).rounds.size(), 1u);
  ReductionPlan plan = planReduction(layout, 0, 8192);
  EXPECT_EQ(plan.offsetCount(), 8192u);
  EXPECT_EQ(plan.rounds.size(), 4u);
  expectSums(layout, 0, 8192);
}

TEST(Reduction, StepsOfHardwaresLayouts) {
  LinearLayout rows = fragmentC(64, 32);
  ReductionPlan plan = planReduction(rows, 1);
  EXPECT_EQ(plan.laneSteps.size(), 2u);
  EXPECT_EQ(plan.partBits, 0u);
  EXPECT_EQ(plan.groups.size(), 2u);
  expectSums(rows, 1);
  plan = planReduction(rows, 0);
  EXPECT_EQ(plan.laneSteps.size(), 3u);
  EXPECT_EQ(plan.partBits, 2u);
  expectSums(rows, 0);
  // Copies need no step.
  EXPECT_EQ(planReduction(*LinearLayout::parse("[8] lane a1 a2 a4 0 0 warp 0 0"), 0).laneSteps.size(), 3u);
}

} // namespace
