// Races, order by atomics, views with holes, unwritten memory and arithmetic, as a launch would tell them.
#include "compiler/language/meaning/Type.h"
#include "sanitizer/LaunchSanitizer.h"
#include "gtest/gtest.h"

using namespace nacre;
using namespace nacre::sanitizer;

namespace {

struct Watched {
  explicit Watched(uint32_t kinds, std::vector<float> &memory, uint32_t programs = 4, bool goesOn = true)
      : sanitizer(facts(memory, programs), kinds, goesOn) {}

  static LaunchFacts facts(std::vector<float> &memory, uint32_t programs) {
    auto begin = reinterpret_cast<uint64_t>(memory.data());
    uint64_t bytes = memory.size() * 4;
    LaunchFacts facts{"kernel", {programs, 1, 1}, {}, {0}};
    facts.arrays.push_back({begin, begin + bytes, begin, false, "x", "float32", {int64_t(memory.size())}, {4}, 4});
    facts.arrays.back().prepare();
    return facts;
  }

  bool access(uint32_t program, uint32_t effects, std::vector<int64_t> indices, uint32_t line = 1) {
    std::vector<uint64_t> addresses;
    for (int64_t index : indices)
      addresses.push_back(sanitizer.facts.arrays[0].begin + static_cast<uint64_t>(index * 4));
    uint32_t id[3] = {program, 0, 0};
    std::vector<int64_t> shape = {int64_t(indices.size())};
    return sanitizer.access({{id, program},
                             "access",
                             effects,
                             uint32_t(ScalarKind::Float32),
                             4,
                             0,
                             shape,
                             shape[0],
                             addresses.data(),
                             nullptr,
                             "file.py",
                             line,
                             1});
  }

  LaunchSanitizer sanitizer;
};

constexpr uint32_t atomicBoth = AccessReads | AccessWrites | AccessAtomic;

} // namespace

TEST(Races, AnyTwoProgramsInNoOrder) {
  std::vector<float> memory(16);
  Watched watched(Races, memory);
  watched.access(0, AccessWrites, {0, 1, 2, 3});
  watched.access(1, AccessWrites, {4, 5, 6, 7});
  EXPECT_TRUE(watched.sanitizer.findings().empty());
  watched.access(2, AccessWrites, {3, 8}, 2);
  ASSERT_EQ(watched.sanitizer.findings().size(), 1u);
  const Finding &finding = watched.sanitizer.findings()[0];
  EXPECT_EQ(finding.what, "write after write");
  EXPECT_EQ(finding.laneCount, 1);
  EXPECT_EQ(finding.other->program[0], 0u);
  watched.access(3, AccessReads, {8}, 3);
  EXPECT_EQ(watched.sanitizer.findings()[1].what, "read after write");
}

TEST(Bounds, TheFirstProgramsFindingIsShownWhoeverCameFirst) {
  std::vector<float> memory(4);
  Watched watched(Bounds, memory);
  watched.access(3, AccessReads, {9}, 5);
  watched.access(2, AccessReads, {8}, 7);
  watched.access(1, AccessReads, {5, 6}, 5);
  watched.access(2, AccessReads, {7}, 5);
  const std::vector<Finding> &findings = watched.sanitizer.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].party.program[0], 1u);
  EXPECT_EQ(findings[0].laneCount, 2);
  EXPECT_EQ(findings[0].repeats, 2u);
  EXPECT_EQ(findings[1].party.line, 7u);
}

TEST(Races, ReadersDoNotRaceAndAWriterRacesWithThem) {
  std::vector<float> memory(4);
  Watched watched(Races, memory);
  for (uint32_t program = 0; program < 3; ++program)
    watched.access(program, AccessReads, {0});
  EXPECT_TRUE(watched.sanitizer.findings().empty());
  watched.access(0, AccessWrites, {0}, 2);
  ASSERT_EQ(watched.sanitizer.findings().size(), 1u);
  EXPECT_EQ(watched.sanitizer.findings()[0].what, "write after read");
}

TEST(Races, AtomicsDoNotRaceWithEachOtherButWithPlainAccesses) {
  std::vector<float> memory(4);
  Watched watched(Races, memory);
  watched.access(0, atomicBoth, {0});
  watched.access(1, atomicBoth, {0});
  EXPECT_TRUE(watched.sanitizer.findings().empty());
  watched.access(2, AccessReads, {0}, 2);
  EXPECT_EQ(watched.sanitizer.findings().size(), 1u);
}

TEST(Races, WhatWasReleasedAndAcquiredIsOrdered) {
  std::vector<float> memory(4);
  Watched watched(Races, memory);
  watched.access(0, AccessWrites, {0});
  watched.access(0, atomicBoth | AccessReleases, {3}); // the flag
  watched.access(1, atomicBoth | AccessReleases, {3});
  watched.access(1, AccessAcquires, {3});
  watched.access(1, AccessReads, {0}, 2);
  EXPECT_TRUE(watched.sanitizer.findings().empty());
  watched.access(2, AccessReads, {0}, 3); // it did not look at the flag
  EXPECT_EQ(watched.sanitizer.findings().size(), 1u);
}

TEST(Races, WhatComesAfterTheReleaseIsNotOrdered) {
  std::vector<float> memory(4);
  Watched watched(Races, memory);
  watched.access(0, atomicBoth | AccessReleases, {3});
  watched.access(0, AccessWrites, {0});
  watched.access(1, AccessAcquires, {3});
  watched.access(1, AccessReads, {0}, 2);
  EXPECT_EQ(watched.sanitizer.findings().size(), 1u);
}

TEST(Races, WholeStretchesAndPartsOfThem) {
  std::vector<float> memory(256);
  Watched watched(Races, memory, 4);
  std::vector<int64_t> all;
  for (int64_t i = 0; i < 256; ++i)
    all.push_back(i);
  watched.access(0, AccessReads, all);
  watched.access(1, AccessReads, all);
  EXPECT_TRUE(watched.sanitizer.findings().empty());
  watched.access(1, AccessWrites, {101}, 2); // a part of what was one stretch
  ASSERT_EQ(watched.sanitizer.findings().size(), 1u);
  EXPECT_EQ(watched.sanitizer.findings()[0].laneCount, 1);
  watched.access(2, AccessReads, all, 3);
  ASSERT_EQ(watched.sanitizer.findings().size(), 2u);
  EXPECT_EQ(watched.sanitizer.findings()[1].lanes, std::vector<int64_t>{101});
  watched.access(3, AccessWrites, all, 4);
  EXPECT_EQ(watched.sanitizer.findings()[2].laneCount, 255);
}

TEST(Bounds, ViewsWithHoles) {
  Array array{1000, 1000 + 2 * 40 + 8, 1000, false, "x", "float32", {3, 2}, {40, 4}, 4};
  array.prepare();
  EXPECT_TRUE(array.contains(1040, 4));
  EXPECT_TRUE(array.contains(1044, 4));
  EXPECT_FALSE(array.contains(1008, 4));
  EXPECT_FALSE(array.contains(1084 + 4, 4));
  EXPECT_FALSE(array.contains(1004, 8));
  Array overlapping{1000, 1024, 1000, false, "x", "float32", {3, 4}, {4, 4}, 4}; // a sliding window
  overlapping.prepare();
  EXPECT_TRUE(overlapping.isDense);
}

TEST(Bounds, TheProgramThatLeavesItsArrayIsEnded) {
  std::vector<float> memory(8);
  Watched watched(Bounds, memory);
  EXPECT_TRUE(watched.access(0, AccessWrites, {0, 7}));
  EXPECT_FALSE(watched.access(1, AccessWrites, {6, 8}));
  EXPECT_FALSE(watched.access(2, AccessReads, {-1}, 2));
  ASSERT_EQ(watched.sanitizer.findings().size(), 2u);
  EXPECT_EQ(watched.sanitizer.findings()[0].lanes, std::vector<int64_t>{1});
  EXPECT_FALSE(watched.sanitizer.isDone());
}

TEST(Unwritten, ReadsOfWhatNobodyWrote) {
  std::vector<float> memory(16);
  Unwritten::shared().add(reinterpret_cast<uint64_t>(memory.data()), 64);
  memory[4] = 1; // the host writes, and takes its neighbour in the group of eight bytes with it
  {
    Watched watched(Uninitialised, memory);
    watched.access(0, AccessWrites, {0});
    watched.access(0, AccessReads, {0, 4});
    EXPECT_TRUE(watched.sanitizer.findings().empty());
    watched.access(0, AccessReads, {1, 8});
    ASSERT_EQ(watched.sanitizer.findings().size(), 1u);
    EXPECT_EQ(watched.sanitizer.findings()[0].laneCount, 2);
  }
  for (float &value : memory)
    value = 0;
  Watched watched(Uninitialised, memory);
  watched.access(0, AccessReads, {1, 8});
  EXPECT_TRUE(watched.sanitizer.findings().empty());
}

TEST(Arithmetic, OverflowShiftsAndDivision) {
  std::vector<float> memory(1);
  auto fault = [&](const char *name, ScalarKind kind, int64_t lhs, int64_t rhs) -> std::string {
    Watched watched(Arithmetic, memory);
    uint32_t id[3] = {0, 0, 0};
    uint32_t kinds[2] = {uint32_t(kind), uint32_t(kind)};
    const void *data[2] = {&lhs, &rhs};
    watched.sanitizer.told({{id, 0}, "arithmetic", name, "file.py", 1, 1, 2, kinds, nullptr, data});
    return watched.sanitizer.findings().empty() ? "" : watched.sanitizer.findings()[0].what;
  };
  EXPECT_EQ(fault("add int32", ScalarKind::Int64, 2147483647, 1), "signed integer overflow");
  EXPECT_EQ(fault("add int32", ScalarKind::Int64, 2147483646, 1), "");
  EXPECT_EQ(fault("mul int8", ScalarKind::Int64, 16, 8), "signed integer overflow");
  EXPECT_EQ(fault("div int32", ScalarKind::Int32, 1, 0), "division by zero");
  EXPECT_EQ(fault("mod uint32", ScalarKind::UInt32, 1, 0), "division by zero");
  EXPECT_EQ(fault("div int32", ScalarKind::Int32, INT32_MIN, -1), "signed integer overflow");
  EXPECT_EQ(fault("shl int32", ScalarKind::Int32, 1, 32), "shift exponent too large");
  EXPECT_EQ(fault("shr uint32", ScalarKind::Int32, 1, 31), "");
}
