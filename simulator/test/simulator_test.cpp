// Units of the simulator: rounding, swizzles, fragments, words of PTX, printing, and a kernel through the C++
// interface.
#include "simulator/Formats.h"
#include "simulator/Lexer.h"
#include "simulator/Matrix.h"
#include "simulator/Print.h"
#include "simulator/Simulator.h"
#include "simulator/TensorMap.h"
#include <array>
#include <gtest/gtest.h>
#include <pthread.h>
#include <set>
#include <thread>

namespace nacre::simulator {
namespace {

TEST(Formats, SixteenBitFloatsRoundTrip) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    double value = decodeBits(halfFormat, half);
    if (value == value) {
      EXPECT_EQ(encode(halfFormat, value, Rounding::Nearest), half);
      EXPECT_EQ(floatToHalf(halfToFloat(half)), half);
      EXPECT_EQ(static_cast<double>(halfToFloat(half)), value);
    }
    double brain = decodeBits(bfloatFormat, half);
    if (brain == brain) {
      EXPECT_EQ(encode(bfloatFormat, brain, Rounding::Nearest), half);
    }
  }
}

// Every mode against its definition, by the neighbours of a value.
TEST(Formats, RoundingModes) {
  for (double value :
       {1.0 + 0x1p-12, -1.0 - 0x1p-12, 65519.9, 0x1p-25, 0x1p-26, -0x1.8p-24, 1.0 + 0x1p-11, 3.14159, 1e-7}) {
    double down = decodeBits(halfFormat, encode(halfFormat, value, Rounding::Down));
    double up = decodeBits(halfFormat, encode(halfFormat, value, Rounding::Up));
    double zero = decodeBits(halfFormat, encode(halfFormat, value, Rounding::Zero));
    double nearest = decodeBits(halfFormat, encode(halfFormat, value, Rounding::Nearest));
    EXPECT_LE(down, value);
    EXPECT_GE(up, value);
    EXPECT_EQ(zero, value > 0 ? down : up);
    EXPECT_TRUE(nearest == down || nearest == up);
    EXPECT_LE(std::fabs(nearest - value), std::min(value - down, up - value) * (1 + 1e-12));
  }
  EXPECT_EQ(encode(halfFormat, 65520.0, Rounding::Nearest), 0x7C00u);
  EXPECT_EQ(encode(halfFormat, 65520.0, Rounding::Zero), 0x7BFFu);
  EXPECT_EQ(encode(e4m3Format, 1e9, Rounding::Nearest, true), 0x7Eu);
  EXPECT_EQ(encode(e5m2Format, 1e9, Rounding::Nearest, true), 0x7Bu);
}

TEST(Formats, SumsToOddRoundExactly) {
  // 1 + 2^-60 is above 1: rounding up must show it, in any narrower format.
  EXPECT_EQ(encode(singleFormat, addToOdd(1.0, 0x1p-60), Rounding::Up), 0x3F800001u);
  EXPECT_EQ(encode(singleFormat, addToOdd(1.0, -0x1p-60), Rounding::Down), 0x3F7FFFFFu);
}

// Every element of a tile is in exactly one place of the fragment.
TEST(Fragments, CoverTheirTiles) {
  for (unsigned perRegister : {1u, 2u, 4u, 8u})
    for (unsigned registers : {2u, 4u}) {
      std::set<std::pair<unsigned, unsigned>> seen;
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned r = 0; r < registers; ++r)
          for (unsigned j = 0; j < perRegister; ++j) {
            FragmentPlace at = placeInA(lane, r, j, perRegister);
            EXPECT_LT(at.row, 16u);
            EXPECT_LT(at.column, 2 * registers * perRegister);
            EXPECT_TRUE(seen.insert({at.row, at.column}).second);
          }
      EXPECT_EQ(seen.size(), 32 * registers * perRegister);
    }
  std::set<std::pair<unsigned, unsigned>> seen;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 128; ++i) {
      FragmentPlace at = placeInC(lane, i);
      EXPECT_TRUE(at.row < 16 && at.column < 256);
      EXPECT_TRUE(seen.insert({at.row, at.column}).second);
    }
}

TEST(Swizzle, PermutesChunksWithinItsPattern) {
  for (uint8_t mode : {1, 2, 3}) {
    std::set<uint64_t> seen;
    for (uint64_t at = 0; at < 1024; at += 16) {
      uint64_t moved = swizzled(at, mode);
      EXPECT_EQ(moved >> (4 + mode), at >> (4 + mode)); // within a row of the swizzle's width
      EXPECT_EQ(swizzled(moved, mode), at);
      EXPECT_TRUE(seen.insert(moved).second);
    }
  }
  EXPECT_EQ(swizzled(128, 3), 128u + 16);
}

TEST(TensorMaps, RefuseWhatTheHardwareRefuses) {
  alignas(16) static float data[64 * 64];
  TensorMapParameters good;
  good.type = TensorMapParameters::Type::F32;
  good.rank = 2;
  good.address = data;
  good.sizes = {64, 64};
  good.strides = {256};
  good.box = {32, 8};
  good.swizzle = TensorMapParameters::Swizzle::Bytes128;
  EXPECT_NO_THROW(encodeTensorMap(good));
  auto refused = [&](auto change) {
    TensorMapParameters bad = good;
    change(bad);
    EXPECT_THROW(encodeTensorMap(bad), Error);
  };
  refused([](auto &map) { map.address = reinterpret_cast<std::byte *>(map.address) + 4; });
  refused([](auto &map) { map.strides[0] = 100; });
  refused([](auto &map) { map.box[1] = 257; });
  refused([](auto &map) { map.box[0] = 64; }); // 256 bytes under a 128-byte swizzle
  refused([](auto &map) { map.box[0] = 3; });  // 12 bytes
  refused([](auto &map) { map.rank = 6; });
}

TEST(Words, AreReadWithTheirLines) {
  Lexer lexer("// comment\n.reg.b32 %r<4>; /* two\nlines */ add.s32 %r1, %r2, -0x1F;");
  std::vector<std::string> words;
  std::vector<uint32_t> lines;
  while (lexer.peek().kind != TokenKind::End) {
    Token token = lexer.next();
    words.emplace_back(token.text);
    lines.push_back(token.line);
  }
  EXPECT_EQ(words, (std::vector<std::string>{".reg", ".b32", "%r", "<", "4", ">", ";", "add.s32", "%r1", ",", "%r2",
                                             ",", "-", "0x1F", ";"}));
  EXPECT_EQ(lines.front(), 2u);
  EXPECT_EQ(lines.back(), 3u);
}

TEST(Printing, TakesArgumentsAtTheirAlignment) {
  struct {
    int32_t first;
    double second;
    int64_t third;
  } buffer = {-5, 1.5, int64_t(1) << 40};
  auto print = [&](const char *format) {
    return formatPrint(format, reinterpret_cast<const std::byte *>(&buffer), sizeof buffer, nullptr);
  };
  EXPECT_EQ(print("%d %5.2f %lld %%\n").text, "-5  1.50 1099511627776 %\n");
  EXPECT_EQ(print("%d %5.2f %lld %%\n").arguments, 3u);
  EXPECT_EQ(print("nothing %%\n").arguments, 0u);
  EXPECT_EQ(print("%-600d|").text.size(), 601u);
}

const char *const addOne = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 p, .param .u32 n)
{
.reg .pred %q;
.reg .b32 %r<4>;
.reg .b64 %rd<3>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
setp.ge.u32 %q, %r2, %r1;
@%q bra DONE;
mul.wide.u32 %rd2, %r2, 4;
add.u64 %rd1, %rd1, %rd2;
ld.global.u32 %r3, [%rd1];
add.u32 %r3, %r3, 1;
st.global.u32 [%rd1], %r3;
DONE:
ret;
}
)";

TEST(Interface, RunsAndReports) {
  auto module = load(addOne);
  ASSERT_EQ(module->kernels().size(), 1u);
  EXPECT_EQ(module->kernels()[0].parameters.size(), 2u);
  alignas(32) std::array<uint32_t, 8> data = {}; // one sector
  Launch launch;
  launch.block = {32};
  launch.memory = {{data.data(), sizeof(data), "data"}};
  launch.addPointer(data.data()).add<uint32_t>(8);
  Report report = module->run(launch);
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(data, (std::array<uint32_t, 8>{1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(report.counters.globalSectors, 2u);

  Launch wrong = launch;
  wrong.arguments.clear();
  wrong.addPointer(data.data()).add<uint32_t>(9);
  report = module->run(wrong);
  ASSERT_FALSE(report.clean());
  EXPECT_EQ(report.findings[0].kind, FindingKind::OutOfBounds);
  EXPECT_EQ(report.findings[0].place.ptxLine, 16u);
  EXPECT_NE(report.json().find("\"kind\": \"out-of-bounds\""), std::string::npos);
}

// What a kernel may access can be most of an address space: of a kernel that was given bare pointers it is all memory
// of the process, of which a sanitizer's shadow is terabytes.
TEST(Interface, RecordsOnlyWhatIsAccessed) {
  auto module = load(addOne);
  alignas(4096) static std::array<uint32_t, 2048> data;
  constexpr uint64_t stretch = uint64_t(4) << 20, most = uint64_t(1) << 44; // of the record; of memory
  Launch launch;
  launch.block = {32};
  launch.grid = {2};
  launch.memory = {{reinterpret_cast<std::byte *>(data.data() + 1024) - stretch, most, "memory"}};
  for (size_t first : {0, 1008, 1024}) { // in a stretch, in two, in the next one
    Launch racing = launch;
    racing.addPointer(data.data() + first).add<uint32_t>(32);
    Report report = module->run(racing);
    ASSERT_FALSE(report.clean());
    EXPECT_EQ(report.findings[0].kind, FindingKind::GlobalRace);
  }
  launch.grid = {1}, launch.block = {64};
  launch.addPointer(data.data() + 1000).add<uint32_t>(64);
  Report report = module->run(launch);
  EXPECT_TRUE(report.clean()) << report.text();
}

// Calls a function through a pointer, whose second argument is its result, 35; the first one is of the type.
std::string callsThroughPointer(const std::string &type, const std::string &inFunction, uint32_t turns) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) f(.param .)" +
         type + R"( p, .param .b32 q)
{
.reg .b32 %r<2>;
ld.param.b32 %r1, [q];
)" + inFunction +
         R"(
st.param.b32 [r], %r1;
ret;
}
.visible .entry k(.param .u64 p)
{
.reg .pred %q;
.reg .b32 %r<4>;
.reg .b64 %rd<3>;
.param .)" +
         type + R"( first;
.param .b32 second;
.param .b32 result;
mov.u32 %r1, 0;
LOOP:
add.u32 %r1, %r1, 1;
setp.lt.u32 %q, %r1, )" +
         std::to_string(turns) + R"(;
@%q bra LOOP;
mov.u32 %r2, 35;
mov.u64 %rd2, 7;
st.param.)" +
         type + " [first], " + (type == "b64" ? "%rd2" : "%r1") + R"(;
st.param.b32 [second], %r2;
mov.u64 %rd2, f;
PROTOTYPE: .callprototype (.param .b32 _) _ (.param .)" +
         type + R"( _, .param .b32 _);
call (result), %rd2, (first, second), PROTOTYPE;
ld.param.b32 %r3, [result];
ld.param.u64 %rd1, [p];
st.global.b32 [%rd1], %r3;
ret;
}
)";
}

TEST(Interface, CallsThroughPointersAsItsModuleSays) {
  for (const char *type : {"b32", "b64", "b32", "b64"}) { // each where the one before was
    auto module = load(callsThroughPointer(type, "", 1));
    uint32_t result = 0;
    Launch launch;
    launch.threads = 1;
    launch.memory = {{&result, sizeof(result), "result"}};
    Report report = module->run(launch.addPointer(&result));
    EXPECT_TRUE(report.clean()) << report.text();
    EXPECT_EQ(result, 35u) << type;
  }
}

// Whoever is asked whether a launch is interrupted may launch, too; that one may fail.
TEST(Interface, GoesOnAfterALaunchWithinItFailed) {
  auto inner = load(callsThroughPointer("b32", "frobnicate.b32 %r1, %r1;", 1));
  auto outer = load(callsThroughPointer("b32", "", 4000000));
  uint32_t result = 0;
  unsigned failures = 0;
  auto launchOf = [&] {
    Launch launch;
    launch.threads = 1;
    launch.memory = {{&result, sizeof(result), "result"}};
    launch.addPointer(&result);
    return launch;
  };
  Launch launch = launchOf();
  Report alone = outer->run(launch);
  launch.interrupted = [&] {
    try {
      inner->run(launchOf());
    } catch (const Error &) {
      ++failures;
    }
    return false;
  };
  Report report = outer->run(launch);
  EXPECT_GT(failures, 0u);
  EXPECT_EQ(result, 35u);
  EXPECT_EQ(report.counters.warpInstructions, alone.counters.warpInstructions);
}

TEST(Interface, RunsOnTheThreadsThatItGets) {
  auto module = load(addOne);
  std::array<uint32_t, 32> data = {};
  Launch launch;
  launch.block = {32};
  launch.grid = {1, 1, 64};
  launch.threads = 4;
  launch.checks = false; // the blocks would race
  launch.memory = {{data.data(), sizeof(data), "data"}};
  launch.addPointer(data.data()).add<uint32_t>(32);
  pthread_attr_t usual, huge;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_getattr_default_np(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t(1) << 50), 0); // no thread can be started
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  Report report = module->run(launch);
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(data[31], 64u);
}

TEST(Interface, ThrowsWhatTheQuestionForAnInterruptThrows) {
  auto module = load(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
.reg .pred %q;
.reg .b32 %r<4>;
mov.u32 %r1, %ctaid.x;
mad.lo.u32 %r1, %r1, 40000000, 100000;
mov.u32 %r2, 0;
LOOP:
add.u32 %r2, %r2, 1;
setp.lt.u32 %q, %r2, %r1;
@%q bra LOOP;
ret;
}
)");
  Launch launch;
  launch.grid = {2}; // of which one is soon done
  launch.threads = 2;
  launch.interrupted = []() -> bool { throw std::runtime_error("the question"); };
  for (int i = 0; i < 8; ++i) // the thread that asks runs a block or waits for the other thread
    EXPECT_THROW(module->run(launch), std::runtime_error);
}

TEST(Interface, NamesWhatItDoesNotKnow) {
  auto message = [](const std::string &instruction) -> std::string {
    std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n" +
                      instruction + "\nret;\n}\n";
    try {
      auto module = load(ptx);
      EXPECT_EQ(module->kernels().at(0).refusal.empty(), instruction.starts_with("add.s32 %r1, %r2"));
      module->run(Launch());
    } catch (const Error &error) {
      return std::to_string(error.line) + ": " + error.what();
    }
    return "";
  };
  EXPECT_NE(message("frobnicate.b32 %r1, %r2;")
                .find("7: `frobnicate.b32 %r1, %r2`: the simulator does not know the instruction `frobnicate`"),
            std::string::npos);
  EXPECT_NE(message("add.wrong.s32 %r1, %r2, %r3;").find("`.wrong`"), std::string::npos);
  EXPECT_NE(message("add.s32 %r1, %r9, %r3;").find("%r9"), std::string::npos);
  EXPECT_NE(message("add.s64 %r1, %r2, %r3;"), "");
  EXPECT_NE(message("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1}, %r2, 0;")
                .find("sparse"),
            std::string::npos);
  EXPECT_NE(message("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%r2, "
                    "{%r1, %r1, %r1}], [%r3], {%r1};")
                .find("im2col"),
            std::string::npos);
  EXPECT_EQ(message("add.s32 %r1, %r2, %r3;"), "");
}

} // namespace
} // namespace nacre::simulator
