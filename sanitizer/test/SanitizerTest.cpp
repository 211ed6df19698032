// Races, order by atomics, views with holes, unwritten memory and arithmetic, as a launch would tell them.
#include "compiler/language/meaning/Type.h"
#include "sanitizer/LaunchSanitizer.h"
#include "gtest/gtest.h"
#include <numeric>

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

  // A tile of this shape, told by its rows along `axis`: (index of the first, step in elements, count).
  bool rows(uint32_t program, uint32_t effects, std::vector<int64_t> shape, uint32_t axis,
            std::vector<std::array<int64_t, 3>> told, uint32_t line = 1) {
    std::vector<AccessRow> rows;
    for (auto [first, step, count] : told)
      rows.push_back({sanitizer.facts.arrays[0].begin + static_cast<uint64_t>(first * 4), step * 4, count});
    uint32_t id[3] = {program, 0, 0};
    AccessEvent event{{id, program}, "access", effects, uint32_t(ScalarKind::Float32), 4, 0, shape, 1};
    for (int64_t extent : shape)
      event.elements *= extent;
    event.addresses = nullptr;
    event.mask = nullptr;
    event.file = "file.py";
    event.line = line;
    event.column = 1;
    event.rows = rows.data();
    event.rowAxis = axis;
    return sanitizer.access(event);
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
  EXPECT_EQ(finding.address, reinterpret_cast<uint64_t>(&memory[3]));
  EXPECT_EQ(finding.other->program[0], 0u);
  watched.access(3, AccessReads, {8}, 3);
  EXPECT_EQ(watched.sanitizer.findings()[1].what, "read after write");
}

// The same accesses in every order of the programs: one finding for each pair of places, with the lowest programs and
// the lowest element.
TEST(Races, TheSameIsFoundWhoeverCameFirst) {
  std::vector<float> memory(64);
  std::vector<uint32_t> order = {0, 1, 2, 3, 4};
  do {
    Watched watched(Races, memory, 5);
    for (uint32_t program : order) {
      watched.access(program, AccessReads, {1, 2, 3}, 1);
      if (program != 1)
        watched.access(program, AccessWrites, {2, 40}, 2);
      if (program == 3)
        watched.access(program, AccessWrites, {3}, 3);
    }
    std::string told;
    for (const Finding &finding : watched.sanitizer.findings())
      told += finding.what + " " + std::to_string(finding.other->line) + ":" +
              std::to_string(finding.other->program[0]) + " " + std::to_string(finding.party.line) + ":" +
              std::to_string(finding.party.program[0]) + " " +
              std::to_string((finding.address - reinterpret_cast<uint64_t>(memory.data())) / 4) + " " +
              std::to_string(finding.repeats) + "\n";
    EXPECT_EQ(told, "read after write 2:0 1:1 2 0\n"
                    "write after write 2:0 2:2 2 0\n"
                    "write after read 1:0 3:3 3 0\n");
  } while (std::next_permutation(order.begin(), order.end()));
}

// An atomic access does not hide a plain one before it from those that race with that alone.
TEST(Races, APlainAccessBeforeAnAtomicOne) {
  std::vector<float> memory(4);
  Watched watched(Races, memory);
  watched.access(0, AccessWrites, {0});
  watched.access(0, atomicBoth | AccessReleases, {3});
  watched.access(1, AccessAcquires, {3});
  watched.access(1, atomicBoth, {0}, 2);
  EXPECT_TRUE(watched.sanitizer.findings().empty());
  watched.access(2, atomicBoth, {0}, 3);
  ASSERT_EQ(watched.sanitizer.findings().size(), 1u);
  EXPECT_EQ(watched.sanitizer.findings()[0].other->line, 1u);
}

// Of many readers one alone is in no order with the writer, whichever it is and whoever came first.
TEST(Races, TheOneReaderThatIsNotOrdered) {
  std::vector<float> memory(64);
  for (uint32_t alone = 0; alone < 5; ++alone)
    for (int form = 0; form < 4; ++form) {
      bool isLast = form & 1;
      Watched watched(Races, memory, 6);
      if (form & 2) // their clocks are higher
        for (uint32_t program = 0; program < 5; program += 1 + form % 2)
          watched.access(program, atomicBoth | AccessReleases, {41}, 7);
      auto readAndRelease = [&](uint32_t program) {
        watched.access(program, AccessReads, {0, 1, 2});
        if (program != alone)
          watched.access(program, atomicBoth | AccessReleases, {40}, 2);
      };
      for (uint32_t program = 0; program < 5; ++program) {
        if (isLast) {
          readAndRelease(4 - program);
          continue;
        }
        watched.access(program, AccessReads, {0, 1, 2}); // all read before anybody releases
      }
      if (!isLast)
        for (uint32_t program = 0; program < 5; ++program)
          if (program != alone)
            watched.access(program, atomicBoth | AccessReleases, {40}, 2);
      watched.access(5, AccessAcquires, {40}, 3);
      EXPECT_TRUE(watched.sanitizer.findings().empty());
      watched.access(5, AccessWrites, {1}, 4);
      ASSERT_EQ(watched.sanitizer.findings().size(), 1u) << alone;
      const Finding &finding = watched.sanitizer.findings()[0];
      EXPECT_EQ(finding.what, "write after read");
      EXPECT_EQ(finding.other->program[0], alone);
      EXPECT_EQ(finding.party.program[0], 5u);
    }
}

// The same where all of them are ordered, in whole stretches of memory that are then split.
TEST(Races, ManyReadersThatAreOrdered) {
  std::vector<float> memory(128);
  std::vector<int64_t> all(64);
  std::iota(all.begin(), all.end(), 0);
  Watched watched(Races, memory, 40);
  for (uint32_t program = 0; program < 39; ++program) {
    watched.access(program, AccessReads, all);
    watched.access(program, atomicBoth | AccessReleases, {100}, 2);
  }
  watched.access(39, AccessAcquires, {100}, 3);
  watched.access(39, AccessWrites, {1, 7, 33}, 4);
  watched.access(39, AccessWrites, all, 5);
  EXPECT_TRUE(watched.sanitizer.findings().empty());
  watched.access(38, AccessReads, {7}, 6);            // again, after its release
  ASSERT_EQ(watched.sanitizer.findings().size(), 2u); // with either write
  EXPECT_EQ(watched.sanitizer.findings()[0].other->program[0], 38u);
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
  watched.access(3, AccessWrites, {0}, 2);
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
  auto element = [&](size_t finding) {
    return (watched.sanitizer.findings()[finding].address - reinterpret_cast<uint64_t>(memory.data())) / 4;
  };
  EXPECT_EQ(element(0), 101u);
  watched.access(2, AccessReads, all, 3);
  ASSERT_EQ(watched.sanitizer.findings().size(), 2u);
  EXPECT_EQ(element(1), 101u);
  watched.access(3, AccessWrites, all, 4); // with each of the three places
  ASSERT_EQ(watched.sanitizer.findings().size(), 5u);
  EXPECT_EQ(element(1), 0u);
}

TEST(Races, PiecesOfStretchesNeedNotBeElements) {
  std::vector<float> memory(1000);
  Watched watched(Races, memory, 8);
  for (uint32_t program = 0; program < 8; ++program) // 125 elements each: bounds inside of stretches
    watched.rows(program, AccessWrites, {128}, 0, {{{program * 125, 1, 125}}});
  EXPECT_TRUE(watched.sanitizer.findings().empty());
  watched.rows(3, AccessReads, {4}, 0, {{{498, 1, 4}}}, 2);
  ASSERT_EQ(watched.sanitizer.findings().size(), 1u);
  EXPECT_EQ(watched.sanitizer.findings()[0].address, reinterpret_cast<uint64_t>(&memory[500]));
  EXPECT_EQ(watched.sanitizer.findings()[0].other->program[0], 3u);
  EXPECT_EQ(watched.sanitizer.findings()[0].party.program[0], 4u);
}

TEST(Races, ALaunchKnowsNothingOfTheOneBefore) {
  std::vector<float> memory(256);
  for (uint32_t program = 0; program < 3; ++program) {
    Watched watched(Races, memory);
    watched.rows(program, AccessWrites, {256}, 0, {{{0, 1, 256}}});
    watched.rows(program, AccessWrites, {1}, 0, {{{17, 1, 1}}});
    EXPECT_TRUE(watched.sanitizer.findings().empty());
  }
}

TEST(Races, OutsideOfTheArraysToo) {
  std::vector<float> memory(256);
  Watched watched(Races, memory);
  watched.rows(0, AccessWrites, {64}, 0, {{{224, 1, 64}}});
  watched.rows(1, AccessWrites, {64}, 0, {{{256, 1, 64}}}, 2);
  ASSERT_EQ(watched.sanitizer.findings().size(), 1u);
  EXPECT_EQ(watched.sanitizer.findings()[0].address, reinterpret_cast<uint64_t>(memory.data() + 256));
}

TEST(Bounds, Rows) {
  std::vector<float> memory(64);
  Watched watched(Bounds, memory);
  EXPECT_TRUE(watched.rows(0, AccessReads, {2, 8}, 1, {{{0, 1, 8}}, {{56, 1, 8}}}));
  EXPECT_TRUE(watched.rows(0, AccessReads, {2, 8}, 1, {{{0, 1, 8}}, {{60, 1, 4}}}));   // the mask ends it
  EXPECT_TRUE(watched.rows(0, AccessReads, {8}, 0, {{{63, -9, 8}}}));                  // backwards
  EXPECT_TRUE(watched.rows(0, AccessReads, {2, 8}, 1, {{{900, 1, 0}}, {{-5, 1, 0}}})); // nothing
  EXPECT_FALSE(watched.rows(0, AccessReads, {2, 8}, 1, {{{0, 1, 8}}, {{60, 1, 8}}}, 2));
  EXPECT_FALSE(watched.rows(0, AccessReads, {8}, 0, {{{7, -2, 8}}}, 3));
  // Its last lane has come around.
  EXPECT_FALSE(watched.rows(0, AccessReads, {5}, 0, {{{0, int64_t(1) << 60, 5}}}, 4));
  EXPECT_FALSE(watched.rows(0, AccessReads, {3, 2}, 0, {{{58, 2, 3}}, {{61, 2, 3}}}, 5)); // columns
  const std::vector<Finding> &findings = watched.sanitizer.findings();
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].lanes, (std::vector<int64_t>{12, 13, 14, 15}));
  EXPECT_EQ(findings[1].lanes, (std::vector<int64_t>{4, 5, 6, 7}));
  EXPECT_EQ(findings[2].laneCount, 3);
  EXPECT_EQ(findings[3].lanes, std::vector<int64_t>{5});
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
  EXPECT_EQ(watched.sanitizer.firstUnwanted(), UINT64_MAX);
}

// A launch that ends at an access out of bounds: whether higher programs ran was chance, lower ones do run.
TEST(Bounds, TheLowestProgramThatLeavesItsArrayEndsTheLaunch) {
  std::vector<float> memory(8);
  for (std::vector<uint32_t> order : {std::vector<uint32_t>{3, 1, 2}, {1, 2, 3}, {2, 3, 1}}) {
    Watched watched(Bounds, memory, 4, /*goesOn=*/false);
    for (uint32_t program : order)
      if (program < watched.sanitizer.firstUnwanted())
        watched.access(program, AccessReads, {6 + program}, program);
    EXPECT_EQ(watched.sanitizer.firstUnwanted(), 3u);
    ASSERT_EQ(watched.sanitizer.findings().size(), 1u);
    EXPECT_EQ(watched.sanitizer.findings()[0].party.program[0], 2u);
    EXPECT_EQ(watched.sanitizer.findings()[0].repeats, 0u);
  }
}

TEST(Unwritten, ReadsOfWhatNobodyWrote) {
  std::vector<float> memory(16);
  Unwritten::shared().add(reinterpret_cast<uint64_t>(memory.data()), 64);
  memory[4] = 1; // the host writes, and takes its neighbour in the group of eight bytes with it
  {
    Watched watched(Uninitialized, memory);
    watched.access(0, AccessWrites, {0});
    watched.access(0, AccessReads, {0, 4});
    EXPECT_TRUE(watched.sanitizer.findings().empty());
    watched.access(0, AccessReads, {1, 8});
    ASSERT_EQ(watched.sanitizer.findings().size(), 1u);
    EXPECT_EQ(watched.sanitizer.findings()[0].laneCount, 2);
  }
  for (float &value : memory)
    value = 0;
  Watched watched(Uninitialized, memory);
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
    watched.sanitizer.told({{id, 0}, ToldKind::Arithmetic, name, "file.py", 1, 1, 2, kinds, nullptr, data});
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
