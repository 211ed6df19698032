// Every plan, executed on arrays, moves each element to where the destination has it; and exchanges through shared
// memory are free of bank conflicts, counted lane by lane.
#include "compiler/ir/layout/Conversion.h"
#include "Random.h"
#include "compiler/ir/layout/Constructors.h"
#include <bit>
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::test;

namespace {

constexpr uint32_t nothing = ~uint32_t(0);

// Values by warp, lane and register: the element that is there.
struct Registers {
  Registers(uint32_t warps, uint32_t lanes, uint32_t registers)
      : lanes(lanes), registers(registers), values(size_t(warps) * lanes * registers, nothing) {}
  uint32_t &at(uint32_t warp, uint32_t lane, uint32_t reg) { return values[(warp * lanes + lane) * registers + reg]; }
  uint32_t lanes, registers;
  std::vector<uint32_t> values;
};

Registers valuesOf(const LinearLayout &layout) {
  Registers result(layout.count(Place::Warp), layout.count(Place::Lane), layout.count(Place::Register));
  for (uint32_t warp = 0; warp < layout.count(Place::Warp); ++warp)
    for (uint32_t lane = 0; lane < layout.count(Place::Lane); ++lane)
      for (uint32_t reg = 0; reg < layout.count(Place::Register); ++reg)
        result.at(warp, lane, reg) = layout.apply(Position{.reg = reg, .lane = lane, .warp = warp});
  return result;
}

void exchange(Registers &values, uint32_t warps, llvm::ArrayRef<ShufflePlan::Exchange> exchanges) {
  for (const ShufflePlan::Exchange &step : exchanges)
    for (uint32_t warp = 0; warp < warps; ++warp)
      for (uint32_t lane = 0; lane < values.lanes; ++lane)
        if ((std::popcount(lane & step.lanes) + std::popcount(warp & step.warps)) & 1)
          for (uint32_t reg = 0; reg < values.registers; ++reg)
            if (reg < (reg ^ step.registers))
              std::swap(values.at(warp, lane, reg), values.at(warp, lane, reg ^ step.registers));
}

Registers execute(const ShufflePlan &plan, const LinearLayout &source, const LinearLayout &destination) {
  Registers from = valuesOf(source);
  uint32_t warps = source.count(Place::Warp), lanes = source.count(Place::Lane);
  Registers x(warps, lanes, plan.registers), y(warps, lanes, plan.registers);
  Registers result(warps, lanes, destination.count(Place::Register));
  for (uint32_t warp = 0; warp < warps; ++warp)
    for (uint32_t lane = 0; lane < lanes; ++lane)
      for (uint32_t reg = 0; reg < plan.registers; ++reg)
        x.at(warp, lane, reg) = from.at(warp, lane, plan.fromSource[reg]);
  exchange(x, warps, plan.before);
  for (const ShufflePlan::Round &round : plan.rounds)
    for (auto [sent, received] : round.moves)
      for (uint32_t warp = 0; warp < warps; ++warp)
        for (uint32_t lane = 0; lane < lanes; ++lane)
          y.at(warp, lane, received) =
              x.at(warp, plan.laneMap.apply(lane) ^ plan.warpMap.apply(warp) ^ round.laneFlip, sent);
  exchange(y, warps, plan.after);
  for (uint32_t warp = 0; warp < warps; ++warp)
    for (uint32_t lane = 0; lane < lanes; ++lane)
      for (uint32_t reg = 0; reg < result.registers; ++reg)
        result.at(warp, lane, reg) = y.at(warp, lane, plan.toDestination[reg]);
  return result;
}

// The wavefronts of one access of one warp beyond the fewest possible: lanes are served in groups, and in a group words
// of one bank wait for each other.
unsigned conflicts(llvm::ArrayRef<uint32_t> offsets, uint32_t width, unsigned elementBits,
                   const SharedMemoryModel &model) {
  uint32_t wordBytes = 1u << model.wordBits, bytes = width << elementBits;
  uint32_t words = std::max(1u, bytes / wordBytes), group = (1u << model.bankBits) / words;
  unsigned result = 0;
  std::vector<uint32_t> accessed;
  for (size_t first = 0; first < offsets.size(); first += group) {
    accessed.clear();
    for (uint32_t offset : offsets.slice(first).take_front(group))
      if (offset != nothing)
        for (uint32_t word = 0; word < words; ++word)
          accessed.push_back((offset << elementBits) / wordBytes + word);
    std::sort(accessed.begin(), accessed.end());
    accessed.erase(std::unique(accessed.begin(), accessed.end()), accessed.end());
    std::vector<unsigned> inBank(size_t(1) << model.bankBits);
    for (uint32_t word : accessed)
      result = std::max(result, inBank[word & ((1u << model.bankBits) - 1)]++);
  }
  return result;
}

Registers execute(const MemoryPlan &plan, const LinearLayout &source, const LinearLayout &destination,
                  unsigned elementBits, const SharedMemoryModel &model) {
  Registers from = valuesOf(source);
  uint32_t warps = source.count(Place::Warp), lanes = source.count(Place::Lane);
  Registers result(warps, lanes, destination.count(Place::Register));
  bool aligned = true, writtenOnce = true, withinWarp = true;
  for (const MemoryPlan::Round &round : plan.rounds) {
    std::vector<uint32_t> memory(plan.elements(), nothing), writer(plan.elements(), nothing);
    for (bool write : {true, false})
      for (const MemoryPlan::Access &access : write ? round.writes : round.reads)
        for (uint32_t warp = 0; warp < warps; ++warp) {
          llvm::SmallVector<uint32_t> offsets(lanes, nothing);
          for (uint32_t lane = 0; lane < lanes; ++lane) {
            if (write && ((lane & plan.laneCopies) || (warp & plan.warpCopies)))
              continue;
            if (write && (plan.partLane.apply(lane) ^ plan.partWarp.apply(warp)) != access.part)
              continue;
            uint32_t offset = access.offset ^ (write ? plan.writeLane : plan.readLane).apply(lane) ^
                              (write ? plan.writeWarp : plan.readWarp).apply(warp);
            offsets[lane] = offset;
            aligned &= offset % access.registers.size() == 0;
            for (auto [i, reg] : llvm::enumerate(access.registers)) {
              if (write) {
                writtenOnce &= memory[offset + i] == nothing;
                memory[offset + i] = from.at(warp, lane, reg);
                writer[offset + i] = warp;
              } else {
                result.at(warp, lane, reg) = memory[offset + i];
                withinWarp &= !plan.withinWarp || writer[offset + i] == warp;
              }
            }
          }
          EXPECT_EQ(conflicts(offsets, static_cast<uint32_t>(access.registers.size()), elementBits, model), 0u)
              << (write ? "writing " : "reading ") << source.text() << "\n to " << destination.text() << "\n bytes "
              << (1 << elementBits);
        }
  }
  EXPECT_TRUE(aligned && writtenOnce && withinWarp);
  for (auto [copy, of] : plan.copies)
    for (uint32_t warp = 0; warp < warps; ++warp)
      for (uint32_t lane = 0; lane < lanes; ++lane)
        result.at(warp, lane, copy) = result.at(warp, lane, of);
  return result;
}

LinearLayout read(llvm::StringRef text) { return *LinearLayout::parse(text); }

// A layout of a warp's own elements, as another such layout of the same warps.
LinearLayout withinWarps(Random &random, const LinearLayout &other) {
  LinearLayout result(other.axisBits());
  llvm::SmallVector<uint32_t> held(other.basesOf(Place::Register));
  llvm::append_range(held, other.basesOf(Place::Lane));
  Span span(held);
  llvm::SmallVector<uint32_t> basis = span.basis();
  BitMatrix mix(other.outputBits(), basis);
  llvm::SmallVector<uint32_t> vectors;
  for (uint32_t vector : randomBasis(random, static_cast<unsigned>(basis.size())))
    vectors.push_back(mix.apply(vector));
  std::shuffle(vectors.begin(), vectors.end(), random);
  unsigned next = 0;
  for (unsigned i = 0; i < other.bits(Place::Lane); ++i)
    result.add(Place::Lane, next < vectors.size() && below(random, 8) ? vectors[next++] : 0);
  while (next < vectors.size())
    result.add(Place::Register, vectors[next++]);
  for (uint32_t basis : other.basesOf(Place::Warp))
    result.add(Place::Warp, below(random, 4) ? basis : basis ^ mix.apply(bitsOf(random, mix.inputBits())));
  return result;
}

TEST(Conversion, ShufflesMoveEveryElement) {
  Random random(1);
  unsigned flips = 0;
  for (unsigned laneBits : {5u, 6u})
    for (int i = 0; i < 1500; ++i) {
      LinearLayout source =
          randomRegisters(random, randomAxes(random, 3 + below(random, 8)), laneBits, below(random, 3));
      LinearLayout destination = withinWarps(random, source);
      std::optional<ShufflePlan> plan = planShuffles(source, destination, 2);
      if (!plan)
        continue; // copies in several warps may be told apart unluckily
      flips += plan->isFlip();
      ASSERT_EQ(execute(*plan, source, destination).values, valuesOf(destination).values) << source.text() << "\n"
                                                                                          << destination.text();
    }
  EXPECT_GT(flips, 5u);
}

TEST(Conversion, ShufflesAreFew) {
  // One register bit against one lane bit: half of the registers are sent.
  LinearLayout source = read("[256] register a1 a2 a4 lane a8 a16 a32 a64 a128");
  LinearLayout exchanged = read("[256] register a8 a2 a4 lane a1 a16 a32 a64 a128");
  EXPECT_EQ(planShuffles(source, exchanged, 2)->shuffleCount(2), 4u);
  EXPECT_EQ(planShuffles(source, exchanged, 1)->shuffleCount(1), 2u);
  EXPECT_EQ(planShuffles(source, exchanged, 3)->shuffleCount(3), 8u);
  // Three pairs: all but one in eight.
  LinearLayout transposed = read("[256] register a8 a16 a32 lane a1 a2 a4 a64 a128");
  EXPECT_EQ(planShuffles(source, transposed, 2)->shuffleCount(2), 7u);
  // A permutation of lanes: each register once, no select.
  LinearLayout turned = read("[256] register a1 a2 a4 lane a16 a32 a64 a128 a8");
  EXPECT_EQ(planShuffles(source, turned, 2)->shuffleCount(2), 8u);
  EXPECT_EQ(planShuffles(source, turned, 2)->selectCount(), 0u);
  // From copies each lane picks its register: nothing is sent.
  LinearLayout copies = read("[32] register a16 lane a1 a2 a4 a8 0"), spread = read("[32] lane a1 a2 a4 a8 a16");
  EXPECT_EQ(planShuffles(copies, spread, 2)->shuffleCount(2), 0u);
  // And back: one flip.
  EXPECT_EQ(planShuffles(spread, copies, 2)->shuffleCount(2), 1u);
}

TEST(Conversion, RegistersAreRenamed) {
  LinearLayout source = read("[64] register a1 a2 lane a4 a8 a16 a32 0"),
               other = read("[64] register a2 a3 lane a4 a8 a16 a32 0");
  Conversion plan = planConversion(source, other, 2);
  EXPECT_EQ(plan.kind, Conversion::Kind::Registers);
  EXPECT_EQ(plan.registers, (llvm::SmallVector<uint32_t>{0, 2, 3, 1}));
  EXPECT_EQ(plan.cost(2), 0u);
}

TEST(Conversion, MemoryMovesEveryElementWithoutConflicts) {
  Random random(2);
  unsigned withinWarp = 0, several = 0, inParts = 0;
  for (int i = 0; i < 3000 && !testing::Test::HasFailure(); ++i) {
    unsigned laneBits = below(random, 3) ? 5 : 6, warpBits = below(random, 4), elementBits = below(random, 4);
    SharedMemoryModel model{.bankBits = below(random, 4) ? 5u : 6u};
    llvm::SmallVector<unsigned> axes = randomAxes(random, 3 + below(random, 9));
    LinearLayout source = randomRegisters(random, axes, laneBits, warpBits);
    LinearLayout destination =
        below(random, 3) ? randomRegisters(random, axes, laneBits, warpBits) : withinWarps(random, source);
    ConversionLimits limits{.model = model, .scratchBytes = below(random, 2) ? 1u << 30 : 64u << below(random, 6)};
    // Every thread reads an element at once: no limit can be lower.
    unsigned least = laneBits + warpBits + elementBits;
    limits.mostBytes = below(random, 2) ? 1u << 30 : uint64_t(1) << (least + below(random, 3));
    MemoryPlan plan = planMemory(source, destination, elementBits, limits);
    withinWarp += plan.withinWarp;
    several += plan.rounds.size() > 1;
    inParts += plan.partBits > 0;
    ASSERT_LE(plan.elements() << elementBits, limits.mostBytes);
    ASSERT_EQ(execute(plan, source, destination, elementBits, model).values, valuesOf(destination).values)
        << source.text() << "\n"
        << destination.text();
  }
  EXPECT_GT(withinWarp, 100u);
  EXPECT_GT(several, 100u);
  EXPECT_GT(inParts, 100u);
}

TEST(Conversion, TilesLargerThanSharedMemoryGoInParts) {
  // 16 x 128 x 16 elements of 8 bytes in 16 warps, whose threads cover all of the tile on the two sides together.
  LinearLayout source =
      read("[16, 128, 16] register b16 b32 a1 a2 a4 a8 lane c1 c2 c4 c8 b64 warp b1 b2 b4 b8");
  LinearLayout destination =
      read("[16, 128, 16] register c1 c2 c4 c8 b1 b2 lane a1 a2 a4 a8 b64 warp b32 b16 b8 b4");
  Conversion plan = planConversion(source, destination, 3);
  ASSERT_EQ(plan.kind, Conversion::Kind::Memory);
  EXPECT_LE(plan.scratchBytes(3), uint64_t(mostScratchBytes));
  EXPECT_EQ(execute(plan.memory, source, destination, 3, {}).values, valuesOf(destination).values);
  // Which threads write is a question of their warp: no warp does both.
  EXPECT_GT(plan.memory.partBits, 0u);
  EXPECT_EQ(plan.memory.partLane.rank(), 0u);
}

TEST(Conversion, LayoutsOfHardware) {
  // Coalesced rows to fragments and back, transposes, operands: in every width.
  llvm::SmallVector<LinearLayout> layouts;
  for (llvm::SmallVector<unsigned> order : {llvm::SmallVector<unsigned>{1, 0}, {0, 1}})
    for (unsigned vectorBits : {0u, 2u, 3u})
      layouts.push_back(blocked({6, 6}, blockingFor({6, 6}, order, vectorBits, 5, 2)));
  layouts.push_back(tileOver(fragmentC(16, 8), {6, 6}, {0, 0}, {1, 0}));
  layouts.push_back(tileOver(fragmentC(16, 8), {6, 6}, {0, 1}, {1, 0}));
  layouts.push_back(fragmentC(64, 64));
  layouts.push_back(tileOver(fragmentA(16, 16, 2), {6, 6}, {0, copyAxis}, {1, 0}));
  layouts.push_back(tileOver(fragmentB(16, 8, 2), {6, 6}, {copyAxis, 1}, {1, 0}));
  for (const LinearLayout &source : layouts)
    for (const LinearLayout &destination : layouts)
      for (unsigned elementBits : {0u, 1u, 2u, 3u}) {
        MemoryPlan plan = planMemory(source, destination, elementBits, {});
        ASSERT_EQ(execute(plan, source, destination, elementBits, {}).values, valuesOf(destination).values);
        Conversion chosen = planConversion(source, destination, elementBits);
        if (chosen.kind == Conversion::Kind::Shuffles) {
          ASSERT_EQ(execute(chosen.shuffles, source, destination).values, valuesOf(destination).values);
        }
      }
  // 16-byte accesses where both sides have them.
  LinearLayout rows = blocked({6, 6}, blockingFor({6, 6}, {1, 0}, 2, 5, 2));
  LinearLayout permuted = rows;
  permuted.setBasis(Place::Warp, 0, rows.basesOf(Place::Warp)[1]);
  permuted.setBasis(Place::Warp, 1, rows.basesOf(Place::Warp)[0]);
  EXPECT_EQ(planMemory(rows, permuted, 2, {}).rounds.front().writes.front().registers.size(), 4u);
}

TEST(Conversion, OneSideMayAccessMore) {
  // Both have pairs; lanes of the one fill the 16 bytes that a lane of the other takes.
  LinearLayout fragment = fragmentC(64, 64), rows = blocked({6, 6}, blockingFor({6, 6}, {1, 0}, 3, 5, 2));
  MemoryPlan leaving = planMemory(fragment, rows, 1, {}), entering = planMemory(rows, fragment, 1, {});
  for (const MemoryPlan *plan : {&leaving, &entering}) {
    size_t written = plan->rounds.front().writes.front().registers.size();
    size_t read = plan->rounds.front().reads.front().registers.size();
    EXPECT_EQ(std::min(written, read), 2u);
    EXPECT_EQ(std::max(written, read), 8u);
  }
  EXPECT_EQ(execute(leaving, fragment, rows, 1, {}).values, valuesOf(rows).values);
  EXPECT_EQ(execute(entering, rows, fragment, 1, {}).values, valuesOf(fragment).values);
}

TEST(Conversion, DuplicateRegistersAreAllowed) {
  LinearLayout source = read("[64] register a1 0 a2 lane a4 a8 a16 a32 0");
  LinearLayout destination = read("[64] register a32 a32 a16 lane a1 a2 a4 a8 0");
  MemoryPlan memory = planMemory(source, destination, 2, {});
  EXPECT_EQ(execute(memory, source, destination, 2, {}).values, valuesOf(destination).values);
  EXPECT_EQ(execute(*planShuffles(source, destination, 2), source, destination).values, valuesOf(destination).values);
}

} // namespace
