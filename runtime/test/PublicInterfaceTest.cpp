// The C++ interface: loading, specializing, launching, errors.
#include "nacre/nacre.h"
#include "runtime/devices/null/NullDevice.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace nacre;

namespace {

const char *const text = R"(import triton
import triton.language as tl

SCALE = tl.constexpr(2)

@triton.jit
def scaled(x):
    return x * SCALE

@triton.jit
def kernel(x, out, n, factor, flag, BLOCK: tl.constexpr = 16, MODE: tl.constexpr = 'scale'):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    if MODE == 'scale':
        value = scaled(value)
    if flag:
        value += factor
    tl.store(out + offsets, value, mask=offsets < n)

@triton.jit
def fill(out, value):
    tl.store(out + tl.program_id(0), value)

@triton.jit
def checked(out, limit):
    tl.device_assert(tl.program_id(0) < limit, "past the limit")

@triton.jit
def wrong(out):
    tl.store(out, unknown)

@triton.jit
def copied(x, out):
    out.store([0, 0], x.load([1, 0]))

@triton.jit
def shifted(out, n: tl.int64, x: tl.const):
    tl.store(out, (n << 40) + tl.load(x))
)";

class PublicInterface : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/nacre-interface-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
    setenv("TRITON_CACHE_DIR", folder.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string folder;
  KernelSource source = KernelSource::fromString(text, "kernels.py");
};

TEST_F(PublicInterface, LaunchesOnRawPointers) {
  float x[16], out[16] = {};
  for (int i = 0; i < 16; ++i)
    x[i] = static_cast<float>(i);
  KernelHandle kernel = source.kernel("kernel");
  EXPECT_EQ(kernel.name(), "kernel");
  EXPECT_EQ(kernel.parameters().size(), 7u);
  kernel.launch({1}, x, out, 10, 0.5, true);
  EXPECT_EQ(out[9], 18.5f);
  EXPECT_EQ(out[10], 0.0f);
  kernel.launch({1}, static_cast<const float *>(x), out, 10, 0.5f, false, constexprInt(16), constexprText("other"));
  EXPECT_EQ(out[9], 9.0f);
}

TEST_F(PublicInterface, NumbersOfEveryType) {
  KernelHandle fill = source.kernel("fill");
  int64_t wide[3] = {};
  fill.launch({3}, wide, int64_t(1) << 40);
  EXPECT_EQ(wide[2], int64_t(1) << 40);
  uint8_t narrow[2] = {};
  fill.launch(2, narrow, 1);
  EXPECT_EQ(narrow[1], 1);
  double precise[1] = {};
  fill.launch({1}, precise, 0.25);
  EXPECT_EQ(precise[0], 0.25);
  uint16_t brain[1] = {};
  fill.launch({1}, Argument("bf16", brain), 1.0);
  EXPECT_EQ(brain[0], 0x3F80);
}

// As from Python: a forced type is the argument's, also of an integer that is 1, and the pointer is one that is read.
TEST_F(PublicInterface, AnnotationsForceTypes) {
  int64_t out[1] = {};
  int x[1] = {2};
  source.kernel("shifted").launch({1}, out, 1, x);
  EXPECT_EQ(out[0], (int64_t(1) << 40) + 2);
}

TEST_F(PublicInterface, SpecializesBySignature) {
  KernelHandle kernel = source.kernel("kernel");
  SpecializedKernel specialized = kernel.specialize("*fp32, *fp32, i32, fp32, flag=i1, BLOCK=8, MODE='none'");
  EXPECT_EQ(specialized.signature(), "x=*fp32, out=*fp32, n=i32, factor=fp32, flag=i1, BLOCK=8, MODE='none'");
  EXPECT_EQ(specialized.hash().size(), 40u);
  EXPECT_EQ(specialized.object().substr(1, 3), "ELF");
  EXPECT_NE(specialized.stage("tile").find("tile.load"), std::string::npos);
  EXPECT_NE(specialized.stage("llvm").find("define"), std::string::npos);
  EXPECT_THROW(specialized.stage("ptx"), Error);
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {};
  specialized.launch({1}, x, out, 8, 1.0f, true);
  EXPECT_EQ(out[7], 9.0f);
  EXPECT_THROW(specialized.launch({1}, x, out, 8, 1.0f), Error);
  EXPECT_THROW(specialized.launch({1}, x, out, 8, 1.0f, true, 1, 2, 3), Error);
  EXPECT_THROW(specialized.launch({1}, 1.0, out, 8, 1.0f, true), Error);
  double wrong[8] = {};
  EXPECT_THROW(specialized.launch({1}, wrong, out, 8, 1.0f, true), Error);
}

TEST_F(PublicInterface, TakesTensorDescriptorsBySignature) {
  SpecializedKernel specialized =
      source.kernel("copied").specialize("tensordesc<fp32[2, 4]>:16, tensordesc<fp32[2, 4]>");
  EXPECT_EQ(specialized.signature(), "x=tensordesc<fp32[2, 4]>:16, out=tensordesc<fp32[2, 4]>");
  alignas(16) float x[6] = {1, 2, 3, 4, 5, 6};
  float out[8] = {9, 9, 9, 9, 9, 9, 9, 9};
  // Of each descriptor the base, the shape, and the strides but the last.
  specialized.launch({1}, x, 2, 3, int64_t(3), out, 2, 4, int64_t(4));
  const float expected[8] = {4, 5, 6, 0, 0, 0, 0, 0};
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

TEST_F(PublicInterface, ReportsErrorsWithTheirPlace) {
  try {
    float out = 0;
    source.kernel("wrong").launch({1}, &out);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.file, "kernels.py");
    EXPECT_EQ(error.line, 30);
    EXPECT_NE(error.message.find("unknown"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("    tl.store(out, unknown)"), std::string::npos);
  }
  EXPECT_THROW(source.kernel("missing"), Error);
  EXPECT_THROW(KernelSource::fromString("def broken(:\n"), Error);
  EXPECT_THROW(KernelSource::fromFile("/no/such/file.py"), Error);
  for (const char *signature :
       {"*fp32", "*fp32, i32, i32", "*fp32, value=i32, value=i32", "*fp32, other=1", "*fp99, 1", "*fp32:3, 1"})
    EXPECT_THROW(source.kernel("fill").specialize(signature), Error) << signature;
}

TEST_F(PublicInterface, FailedAssertsAreErrors) {
  CompileSettings settings;
  settings.debug = true;
  SpecializedKernel checked = source.kernel("checked").specialize("*fp32, i32", settings);
  float out = 0;
  checked.launch({4}, &out, 4);
  EXPECT_THROW(checked.launch({5}, &out, 4), Error);
}

TEST_F(PublicInterface, FaultsAreErrors) {
  KernelHandle fill = source.kernel("fill");
  int32_t out[4] = {};
  for (uint32_t programs : {1u, 64u}) {
    try {
      fill.launch({programs}, static_cast<int32_t *>(nullptr), 7);
      FAIL();
    } catch (const Error &error) {
      EXPECT_NE(error.message.find("the kernel `fill` accessed memory that is not there"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("TRITON_INTERPRET=1"), std::string::npos);
    }
    fill.launch({4}, out, 7 + static_cast<int>(programs));
    EXPECT_EQ(out[3], 7 + static_cast<int>(programs));
  }
}

TEST_F(PublicInterface, RunsWhereThePointersPoint) {
  Device &device = *nullDriver().device(1);
  auto *elsewhere = reinterpret_cast<int32_t *>(device.allocate(64, 0));
  uint64_t before = nullLaunches(1).count;
  KernelHandle fill = source.kernel("fill");
  fill.launch({4}, elsewhere, 7);
  EXPECT_EQ(nullLaunches(1).count, before + 1);
  int32_t out[4] = {};
  fill.launch({4}, out, 7);
  EXPECT_EQ(out[3], 7);
  EXPECT_EQ(nullLaunches(1).count, before + 1);
  float here[8] = {};
  try {
    source.kernel("kernel").launch({1}, reinterpret_cast<float *>(elsewhere), here, 8, 0.5, true);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.message, "argument 1 is in host memory, and others are on null:1");
  }
  device.release(reinterpret_cast<uint64_t>(elsewhere), 0);
}

TEST_F(PublicInterface, CompilesForOtherDevices) {
  CompileSettings settings;
  settings.device = "cuda";
  settings.options = {{"num_warps", 8}};
  std::string ptx = source.kernel("fill").specialize("*i32, i32", settings).stage("ptx");
  EXPECT_NE(ptx.find(".reqntid 256"), std::string::npos) << ptx;
  settings.options = {{"num_wraps", 8}};
  EXPECT_THROW(source.kernel("fill").specialize("*i32, i32", settings), Error);
  settings.options = {{"num_warps", 3}};
  EXPECT_THROW(source.kernel("fill").specialize("*i32, i32", settings), Error);
  settings.device = "abacus";
  EXPECT_THROW(source.kernel("fill").specialize("*i32, i32", settings), Error);
}

TEST_F(PublicInterface, LoadsFiles) {
  std::ofstream(folder + "/kernels.py") << text;
  int32_t out[4] = {};
  KernelSource::fromFile(folder + "/kernels.py").kernel("fill").launch({4}, out, 7);
  EXPECT_EQ(out[3], 7);
}

} // namespace
