// Scans executed on arrays by their plan: every element gets the sum of those up to it along the axis.
#include "compiler/ir/layout/Scan.h"
#include "Random.h"
#include "compiler/ir/layout/Constructors.h"
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::test;

namespace {

uint32_t weight(uint32_t element) { return element * 2654435761u + 12345u; }

// Steps as the plan names them: chunks, then joins by one bit of the axis after another. Sums, so that order is no
// matter.
class Model {
public:
  explicit Model(const ScanPlan &plan, uint64_t mostTotals = ~uint64_t(0))
      : plan(plan), mostTotals(mostTotals), lanes(plan.layout.count(Place::Lane)), warps(plan.layout.count(Place::Warp)),
        chunks(plan.chunkCount()), totals(size_t(warps) * lanes * chunks), prefixes(totals.size()) {}

  void expectSums() {
    std::vector<std::vector<uint32_t>> scanned(totals.size());
    forAll([&](Position at, size_t slot) {
      uint32_t sum = 0;
      for (uint32_t reg : plan.registersOf(at.reg))
        scanned[slot].push_back(sum +=
                                weight(plan.layout.apply(Position{.reg = reg, .lane = at.lane, .warp = at.warp})));
      totals[slot] = sum;
    });
    for (unsigned bit = plan.chunkBits; bit < plan.inputs.size();)
      bit += plan.inputs[bit].place == Place::Warp ? joinWarps(bit) : join(plan.inputs[bit]);
    forAll([&](Position at, size_t slot) {
      llvm::SmallVector<uint32_t> registers = plan.registersOf(at.reg);
      for (size_t i = 0; i < registers.size(); ++i) {
        uint32_t element = plan.layout.apply(Position{.reg = registers[i], .lane = at.lane, .warp = at.warp});
        uint32_t shift = plan.layout.shiftOf(plan.axis), sum = 0;
        for (uint32_t x = 0; x <= plan.layout.coordinate(element, plan.axis); ++x)
          sum += weight((element & ~plan.layout.maskOf(plan.axis)) | x << shift);
        ASSERT_EQ(prefixes[slot] + scanned[slot][i], sum) << plan.layout.text();
      }
    });
  }

private:
  size_t slotOf(Position at) const { return (at.warp * lanes + at.lane) * chunks + at.reg; }
  template <typename Body> void forAll(Body body) {
    for (Position at; at.warp < warps; ++at.warp)
      for (at.lane = 0; at.lane < lanes; ++at.lane)
        for (at.reg = 0; at.reg < chunks; ++at.reg)
          body(at, slotOf(at));
  }

  unsigned join(const ScanPlan::InputBit &input) {
    std::vector<uint32_t> before = totals;
    uint32_t bit = uint32_t(1) << input.bit;
    if (input.place == Place::Register)
      bit = uint32_t(1) << (llvm::find(plan.chunkRegisters, input.bit) - plan.chunkRegisters.begin());
    forAll([&](Position at, size_t slot) {
      Position other = at;
      uint32_t &moved = input.place == Place::Register ? other.reg : other.lane;
      bool isSecond = moved & bit;
      moved ^= bit;
      if (isSecond)
        prefixes[slot] += before[slotOf(other)];
      totals[slot] += before[slotOf(other)];
    });
    return 1;
  }

  unsigned joinWarps(unsigned first) {
    ScanPlan::WarpExchange exchange = plan.warpExchange(first, mostTotals);
    EXPECT_LE(exchange.count(), plan.exchangeCount(mostTotals));
    EXPECT_LE(exchange.count(), std::max<uint64_t>(mostTotals, lanes * warps));
    for (uint32_t chunk = 0; chunk < chunks; chunk += exchange.chunksAtOnce)
      joinWarps(first, exchange, chunk);
    return plan.warpRun(first);
  }

  void joinWarps(unsigned first, const ScanPlan::WarpExchange &exchange, uint32_t firstChunk) {
    auto isOfRound = [&](Position at) { return at.reg / exchange.chunksAtOnce * exchange.chunksAtOnce == firstChunk; };
    std::vector<uint32_t> memory(exchange.count());
    std::vector<bool> written(exchange.count());
    forAll([&](Position at, size_t slot) {
      if ((at.lane & exchange.silentLanes) || (at.warp & exchange.silentWarps) || !isOfRound(at))
        return;
      uint32_t offset = exchange.offsets.apply(at);
      EXPECT_FALSE(written[offset]);
      written[offset] = true;
      memory[offset] = totals[slot];
    });
    unsigned count = plan.warpRun(first);
    forAll([&](Position at, size_t slot) {
      if (!isOfRound(at))
        return;
      uint32_t own = 0, run = 0;
      for (unsigned i = 0; i < count; ++i) {
        own |= (at.warp >> plan.inputs[first + i].bit & 1) << i;
        run |= uint32_t(1) << plan.inputs[first + i].bit;
      }
      totals[slot] = 0;
      for (uint32_t number = 0; number < uint32_t(1) << count; ++number) {
        Position other = at;
        other.warp &= ~run;
        for (unsigned i = 0; i < count; ++i)
          other.warp |= (number >> i & 1) << plan.inputs[first + i].bit;
        uint32_t offset = exchange.offsets.apply(other);
        EXPECT_TRUE(written[offset]);
        if (number < own)
          prefixes[slot] += memory[offset];
        totals[slot] += memory[offset];
      }
    });
  }

  const ScanPlan &plan;
  uint64_t mostTotals;
  uint32_t lanes, warps, chunks;
  std::vector<uint32_t> totals, prefixes;
};

TEST(Scan, EveryElementGetsTheSumUpToIt) {
  Random random(9);
  for (unsigned laneBits : {5u, 6u})
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
      llvm::SmallVector<unsigned> axes = randomAxes(random, 2 + below(random, 8));
      // Any bit of the tile may be any thread's: a random permutation of unit bases, copies among them.
      LinearLayout layout(axes);
      llvm::SmallVector<uint32_t> units(BitMatrix::identity(layout.outputBits()).images());
      std::shuffle(units.begin(), units.end(), random);
      unsigned next = 0;
      for (unsigned bit = 0; bit < laneBits + 2; ++bit)
        layout.add(bit < laneBits ? Place::Lane : Place::Warp,
                   next < units.size() && below(random, 4) ? units[next++] : 0);
      while (next < units.size())
        layout.add(Place::Register, units[next++]);
      for (unsigned axis = 0; axis < layout.rank(); ++axis) {
        std::optional<ScanPlan> plan = planScan(layout, axis);
        ASSERT_TRUE(plan);
        Model(*plan).expectSums();
        Model(*plan, uint64_t(1) << below(random, 10)).expectSums();
      }
    }
}

TEST(Scan, OtherLayoutsAreConverted) {
  Random random(10);
  for (int i = 0; i < 200; ++i) {
    LinearLayout layout = randomRegisters(random, randomAxes(random, 2 + below(random, 8)), 5, 2);
    unsigned axis = below(random, layout.rank());
    LinearLayout working = scanLayout(layout, axis);
    ASSERT_TRUE(planScan(working, axis)) << working.text();
    ASSERT_TRUE(working.isSurjective());
    EXPECT_EQ(working == layout, planScan(layout, axis).has_value());
  }
}

} // namespace
