// Tiles as text. The expected texts are NumPy's for the same arrays.
#include "compiler/reference/Printing.h"
#include "compiler/reference/test/Tiles.h"
#include <cmath>

using namespace nacre;

namespace {
EagerBuilder builder;

std::string text(const Value &value) { return formatTile(bufferOf(value)); }

TEST(Printing, Numbers) {
  EXPECT_EQ(text(ints({1, -20, 300})), "[  1 -20 300]");
  EXPECT_EQ(text(floats({1, 2.5f, 3})), "[1.  2.5 3. ]");
  EXPECT_EQ(text(floats({0.1f, -0.0f, 100})), "[  0.1  -0.  100. ]");
  EXPECT_EQ(text(floats({1e-5f, 1})), "[1.e-05 1.e+00]");
  EXPECT_EQ(text(floats({1e8f, 1.5f})), "[1.0e+08 1.5e+00]");
  EXPECT_EQ(text(floats({1.0f / 3, 2.0f / 3})), "[0.33333334 0.6666667 ]");
  EXPECT_EQ(text(floats({std::nanf(""), HUGE_VALF, -1})), "[nan inf -1.]");
  EXPECT_EQ(text(floats({-HUGE_VALF, 0})), "[-inf   0.]");
  EXPECT_EQ(text(tile<double>(float64(), {2}, {M_PI, 1e10})), "[3.14159265e+00 1.00000000e+10]");
  EXPECT_EQ(text(narrow(ScalarKind::Float16, {0.1f, 1})), "[0.1 1. ]");
  EXPECT_EQ(text(narrow(ScalarKind::BFloat16, {0.1f, 1})), "[0.10009766 1.        ]");
  EXPECT_EQ(text(masks({1, 0})), "[ True False]");
  EXPECT_EQ(text(tile<uint8_t>(uint8(), {2}, {255, 1})), "[255   1]");
  EXPECT_EQ(text(tile<uint64_t>(uint64(), {1}, {~uint64_t(0)})), "[18446744073709551615]");
}

TEST(Printing, Layout) {
  EXPECT_EQ(text(builder.reshape(builder.arange(0, 6), {2, 3})), "[[0 1 2]\n [3 4 5]]");
  EXPECT_EQ(text(builder.reshape(builder.arange(0, 8), {2, 2, 2})), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  EXPECT_EQ(text(builder.arange(0, 30)),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]");
  EXPECT_EQ(text(builder.arange(0, 2000)), "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(text(builder.permute(builder.reshape(builder.arange(0, 1024), {256, 4}), {0, 1})),
            "[[   0    1    2    3]\n [   4    5    6    7]\n [   8    9   10   11]\n ...\n [1012 1013 1014 1015]\n "
            "[1016 1017 1018 1019]\n [1020 1021 1022 1023]]");
}

TEST(Printing, DevicePrint) {
  std::string printed;
  EagerBuilder program;
  program.program.programId = {1, 2, 3};
  program.program.print = [&](llvm::StringRef text) { printed += text; };
  program.devicePrint("x", {ints({1, 2})}, false);
  program.devicePrint(" y: ", {program.scalarFromBits(int32(), 5)}, false);
  program.devicePrint("", {ints({255})}, true);
  program.devicePrint("here", {}, false);
  EXPECT_EQ(printed, "(1, 2, 3)  x:  [1 2]\n(1, 2, 3)  y:  [5]\n(1, 2, 3) [0x000000ff]\n(1, 2, 3)  here: \n");
}

TEST(Printing, DeviceAssert) {
  EagerBuilder program;
  program.program.programId = {1, 0, 0};
  EXPECT_NO_THROW(program.deviceAssert(masks({1, 1}), "fine"));
  try {
    program.deviceAssert(masks({1, 0}), "all must hold");
    FAIL() << "no error";
  } catch (const CompileError &error) {
    EXPECT_EQ(error.diagnostic.message, "program (1, 0, 0): device_assert failed: all must hold");
  }
}
} // namespace
