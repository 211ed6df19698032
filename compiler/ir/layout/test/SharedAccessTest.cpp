// Every plan, executed on arrays, moves each element between its registers and its place in shared memory; fragments of
// matrix instructions are moved as matrices, and their rows do not conflict.
#include "compiler/ir/layout/SharedAccess.h"
#include "Random.h"
#include "compiler/ir/layout/Constructors.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace nacre;
using namespace nacre::test;

namespace {

using Kind = SharedAccessPlan::Kind;
constexpr uint32_t nothing = ~uint32_t(0);

// What the register `reg` of a thread gets by the plan from a memory that holds each element at its place.
struct Executed {
  Executed(const SharedAccessPlan &plan, const LinearLayout &registers, const LinearLayout &shared,
           unsigned elementBits)
      : registerCount(registers.count(Place::Register)), lanes(registers.count(Place::Lane)) {
    uint32_t warps = registers.count(Place::Warp), perWord = std::max(1u, 4u >> elementBits);
    values.assign(size_t(warps) * lanes * registerCount, nothing);
    auto element = [&](uint32_t offset) { return shared.apply(Position{.offset = offset}); };
    for (uint32_t warp = 0; warp < warps; ++warp)
      for (const SharedAccessPlan::Access &access : plan.accesses) {
        auto address = [&](uint32_t lane) { return plan.lane.apply(lane) ^ plan.warp.apply(warp) ^ access.offset; };
        for (uint32_t lane = 0; lane < lanes; ++lane)
          for (uint32_t i = 0; i < access.registers.size(); ++i) {
            uint32_t offset = 0;
            if (plan.kind == Kind::Words) {
              EXPECT_EQ(address(lane) % access.registers.size(), 0u) << "an access is aligned";
              offset = address(lane) + i;
            } else if (plan.kind == Kind::TransposedBytes) {
              uint32_t matrix = i / 8 * 2 + i % 4 / 2, second = i / 4 % 2;
              EXPECT_EQ(address(lane) % 16, 0u) << "a row is aligned";
              offset = address(matrix * 8 + lane % 4 * 2 + i % 2) + lane / 4 * 2 + second;
            } else {
              uint32_t matrix = i / perWord, within = i % perWord;
              EXPECT_EQ((address(lane) << elementBits) % 16, 0u) << "a row is aligned";
              offset = plan.kind == Kind::Matrices ? address(matrix * 8 + lane / 4) + lane % 4 * perWord + within
                                                   : address(matrix * 8 + lane % 4 * 2 + within) + lane / 4;
            }
            at(warp, lane, access.registers[i]) = element(offset);
          }
      }
    for (uint32_t warp = 0; warp < warps; ++warp)
      for (uint32_t lane = 0; lane < lanes; ++lane)
        for (auto [copy, of] : plan.copies)
          at(warp, lane, copy) = at(warp, lane, of);
  }
  uint32_t &at(uint32_t warp, uint32_t lane, uint32_t reg) {
    return values[(warp * lanes + lane) * registerCount + reg];
  }
  uint32_t registerCount, lanes;
  std::vector<uint32_t> values;
};

void check(const LinearLayout &registers, const LinearLayout &shared, unsigned elementBits, bool mayUseMatrices) {
  SharedAccessPlan plan = planSharedAccess(registers, shared, elementBits, mayUseMatrices);
  Executed executed(plan, registers, shared, elementBits);
  for (uint32_t warp = 0; warp < registers.count(Place::Warp); ++warp)
    for (uint32_t lane = 0; lane < registers.count(Place::Lane); ++lane)
      for (uint32_t reg = 0; reg < registers.count(Place::Register); ++reg)
        ASSERT_EQ(executed.at(warp, lane, reg), registers.apply(Position{.reg = reg, .lane = lane, .warp = warp}))
            << registers.text() << " from " << shared.text();
}

// Rows of one matrix that lie in the same banks.
unsigned conflicts(const SharedAccessPlan &plan, unsigned elementBits) {
  unsigned worst = 0;
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    std::set<uint32_t> banks;
    for (unsigned row = 0; row < 8; ++row)
      banks.insert((plan.lane.apply(matrix * 8 + row) << elementBits) % 128 / 16);
    worst = std::max(worst, 8 - static_cast<unsigned>(banks.size()));
  }
  return worst;
}

} // namespace

TEST(SharedAccess, RandomLayouts) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    llvm::SmallVector<unsigned> axes = randomAxes(random, 4 + below(random, 8));
    LinearLayout registers = randomRegisters(random, axes, 5 + below(random, 2), below(random, 3));
    LinearLayout shared(axes);
    for (uint32_t basis : randomBasis(random, shared.outputBits()))
      shared.add(Place::Offset, basis);
    for (bool mayUseMatrices : {false, true})
      check(registers, shared, below(random, 4), mayUseMatrices);
  }
}

// The same of accesses by words: lanes are served in groups of 128 bytes.
static unsigned wordConflicts(const SharedAccessPlan &plan, unsigned elementBits) {
  unsigned most = 0;
  for (const SharedAccessPlan::Access &access : plan.accesses) {
    uint32_t bytes = static_cast<uint32_t>(access.registers.size()) << elementBits, lanes = std::min(32u, 128 / bytes);
    for (uint32_t first = 0; first < 32; first += lanes) {
      std::map<uint32_t, std::set<uint32_t>> rows; // of each bank
      for (uint32_t lane = first; lane < first + lanes; ++lane)
        for (uint32_t byte = 0; byte < bytes; byte += 4) {
          uint32_t word = (((access.offset ^ plan.lane.apply(lane)) << elementBits) + byte) / 4;
          rows[word % 32].insert(word / 32);
        }
      for (const auto &[bank, found] : rows)
        most = std::max(most, static_cast<unsigned>(found.size()) - 1);
    }
  }
  return most;
}

TEST(SharedAccess, RowsOfSixteenBytes) {
  // 64 x 64 halves, eight neighbours a thread.
  LinearLayout registers = blocked({6, 6}, blockingFor({6, 6}, {1, 0}, 3, 5, 2));
  LinearLayout shared = sharedInRows({6, 6}, {1, 0}, 1);
  SharedAccessPlan plan = planSharedAccess(registers, shared, 1, true);
  EXPECT_EQ(plan.kind, Kind::Words);
  for (const SharedAccessPlan::Access &access : plan.accesses)
    EXPECT_EQ(access.registers.size(), 8u);
  check(registers, shared, 1, true);
}

TEST(SharedAccess, TransposedBytes) {
  // 128 x 64 bytes in rows along the first axis, four neighbours of which along the second are a word of an operand.
  LinearLayout registers({7, 6});
  for (auto [axis, distance] : {std::pair(1u, 1u), {1u, 2u}, {0u, 1u}, {1u, 16u}, {1u, 32u}, {0u, 64u}})
    registers.add(Place::Register, axis, distance);
  for (auto [axis, distance] : {std::pair(1u, 4u), {1u, 8u}, {0u, 2u}, {0u, 4u}, {0u, 8u}})
    registers.add(Place::Lane, axis, distance);
  for (uint32_t distance : {16u, 32u})
    registers.add(Place::Warp, 0, distance);
  LinearLayout shared = sharedInRowsFor(registers, {7, 6}, {0, 1}, 0);
  std::optional<SharedAccessPlan> plan = planTransposedBytes(registers, shared);
  ASSERT_TRUE(plan && plan->kind == Kind::TransposedBytes);
  EXPECT_EQ(plan->accesses.size(), 4u);
  EXPECT_EQ(conflicts(*plan, 0), 0u);
  Executed executed(*plan, registers, shared, 0);
  for (uint32_t warp = 0; warp < 4; ++warp)
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t reg = 0; reg < 64; ++reg)
        ASSERT_EQ(executed.at(warp, lane, reg), registers.apply(Position{.reg = reg, .lane = lane, .warp = warp}));
  // Rows along the other axis are words as they are.
  EXPECT_FALSE(planTransposedBytes(registers, sharedInRows({7, 6}, {1, 0}, 0)));
}

TEST(SharedAccess, BetweenCopiesAndFragments) {
  // 32 x 128 words, copied by four neighbours along the second axis and read as an operand that lies along the first.
  LinearLayout writer = blocked({5, 7}, blockingFor({5, 7}, {1, 0}, 2, 5, 3));
  LinearLayout reader = tileOver(fragmentA(64, 8, 1), {7, 5}, {0}, {1, 0}).permute({1, 0});
  LinearLayout shared = sharedInRowsFor(reader, {5, 7}, {1, 0}, 2);
  SharedAccessPlan write = planSharedAccess(writer, shared, 2, false),
                   read = planSharedAccess(reader, shared, 2, false);
  EXPECT_EQ(write.accesses.front().registers.size(), 4u);
  EXPECT_EQ(wordConflicts(write, 2), 0u) << shared.text();
  EXPECT_EQ(wordConflicts(read, 2), 0u) << shared.text();
  EXPECT_GT(wordConflicts(planSharedAccess(reader, sharedInRows({5, 7}, {1, 0}, 2), 2, false), 2), 0u);
  check(writer, shared, 2, false);
  check(reader, shared, 2, false);
  // A line of 128 bytes is a row, in whatever order.
  BitMatrix offsetOf = *shared.matrix().inverse();
  for (uint32_t column = 0; column < 32; ++column)
    EXPECT_LT(offsetOf.apply(column), 32u);
}

TEST(SharedAccess, FragmentsAreMovedAsMatrices) {
  struct Case {
    LinearLayout fragment;
    unsigned elementBits, fastest;
    Kind kind;
  };
  for (const Case &example :
       {Case{fragmentA(16, 16, 2), 1, 1, Kind::Matrices}, Case{fragmentA(16, 16, 2), 1, 0, Kind::TransposedMatrices},
        Case{fragmentB(16, 8, 2), 1, 0, Kind::Matrices}, Case{fragmentB(16, 8, 2), 1, 1, Kind::TransposedMatrices},
        Case{fragmentA(16, 32, 4), 0, 1, Kind::Matrices}, Case{fragmentB(32, 8, 4), 0, 0, Kind::Matrices},
        Case{fragmentA(16, 8, 1), 2, 1, Kind::Matrices}, Case{fragmentA(16, 32, 4), 0, 0, Kind::Words},
        Case{fragmentB(8, 8, 1), 2, 1, Kind::Words}}) {
    LinearLayout registers = tileOver(example.fragment, {6, 6}, {0, copyAxis}, {1, 0});
    LinearLayout shared = sharedInRows({6, 6}, {example.fastest, 1 - example.fastest}, example.elementBits);
    SharedAccessPlan plan = planSharedAccess(registers, shared, example.elementBits, true);
    EXPECT_EQ(plan.kind, example.kind) << registers.text() << " from " << shared.text();
    if (plan.kind != Kind::Words) {
      EXPECT_EQ(conflicts(plan, example.elementBits), 0u) << shared.text();
      EXPECT_EQ(plan.accesses.front().registers.size(), 4 * (4u >> example.elementBits));
    }
    check(registers, shared, example.elementBits, true);
    check(registers, shared, example.elementBits, false);
  }
}
