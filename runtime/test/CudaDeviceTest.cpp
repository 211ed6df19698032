// The CUDA device on the mock of its driver, without a compiler or Python: memory, launches, and their times.
#include "runtime/devices/cuda/CudaDevice.h"
#include "compiler/targets/cuda/CudaTarget.h"
#include "nacre/nacre.h"
#include "runtime/Events.h"
#include "runtime/launch/Launch.h"
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace nacre;

namespace {

const char *const addOne = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry add_one(.param .u64 p)
.reqntid 32
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

std::shared_ptr<Kernel> kernel() {
  CompiledCode code;
  code.target = &cuda::target();
  code.object = addOne;
  code.symbol = "add_one";
  code.metadata.warps = 1;
  return std::make_shared<Kernel>("hash", std::move(code));
}

class CudaDevices : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("NACRE_CUDA_DRIVER", NACRE_MOCK_DRIVER, 1); }
};

TEST_F(CudaDevices, CopyAndRun) {
  ASSERT_EQ(cuda::driver().count(), 2) << cuda::driver().whyNone();
  for (int index : {0, 1}) {
    Device &device = *cuda::driver().device(index);
    std::vector<int32_t> values(32, 7);
    uint64_t memory = device.allocate(values.size() * 4, 0);
    EXPECT_EQ(cuda::driver().deviceOf(memory + 100), &device);
    device.copyIn(memory, values.data(), values.size() * 4);
    uint32_t grid[3] = {1, 1, 1};
    launch(*kernel(), device, grid, memory);
    device.synchronize();
    device.copyOut(values.data(), memory, values.size() * 4);
    EXPECT_EQ(values, std::vector<int32_t>(32, 8));
    device.release(memory, 0);
  }
}

// What the mock tells of its last launch, as far as it is looked at here.
struct MockRecord {
  uint64_t launches, modules, unloaded, stream;
  int device;
};
const MockRecord &lastLaunch() {
  void *mock = dlopen(NACRE_MOCK_DRIVER, RTLD_NOW);
  return *reinterpret_cast<const MockRecord *(*)()>(dlsym(mock, "mockRecord"))();
}

TEST_F(CudaDevices, RunKernelsOfTheInterfaceInCppOnAStream) {
  setenv("TRITON_PTXAS_PATH", "driver", 1);
  KernelHandle fill = KernelSource::fromString(R"(import triton
import triton.language as tl

@triton.jit
def fill(out, value, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), value)
)")
                          .kernel("fill");
  for (int index : {1, 0}) {
    Device &device = *cuda::driver().device(index);
    std::vector<int32_t> values(32, 7);
    uint64_t memory = device.allocate(values.size() * 4, 0);
    auto *pointer = reinterpret_cast<int32_t *>(memory);
    KernelHandle onStream = fill.onStream(reinterpret_cast<void *>(0x120));
    onStream.launch(Grid(1), pointer, 41, constexprInt(32));
    EXPECT_EQ(lastLaunch().stream, 0x120u);
    EXPECT_EQ(lastLaunch().device, index);
    device.copyOut(values.data(), memory, values.size() * 4);
    EXPECT_EQ(values, std::vector<int32_t>(32, 41));
    fill.launch(Grid(1), pointer, 42, constexprInt(32));
    EXPECT_EQ(lastLaunch().stream, 0u);
    device.copyOut(values.data(), memory, values.size() * 4);
    EXPECT_EQ(values, std::vector<int32_t>(32, 42));
    device.release(memory, 0);
  }
  CompileSettings settings;
  settings.device = "cuda";
  SpecializedKernel compiled = fill.specialize("*i32, i32, 16", settings);
  Device &device = *cuda::driver().device(0);
  uint64_t memory = device.allocate(64, 0);
  compiled.onStream(reinterpret_cast<void *>(0x240)).launch(Grid(1), reinterpret_cast<int32_t *>(memory), 43);
  EXPECT_EQ(lastLaunch().stream, 0x240u);
  int32_t last = 0;
  device.copyOut(&last, memory + 60, 4);
  EXPECT_EQ(last, 43);
  device.release(memory, 0);
}

TEST_F(CudaDevices, TellWhenALaunchRan) {
  struct Listener : EventListener {
    Listener() : EventListener(LaunchEvents | LaunchTimeEvents) {}
    void launchBegin(const LaunchEvent &event) override { launched = event.id; }
    void launchTimes(const LaunchTimes &told) override { times.push_back(told); }
    uint64_t launched = 0;
    std::vector<LaunchTimes> times;
  };
  auto listener = std::make_shared<Listener>();
  addListener(listener);
  Device &device = *cuda::driver().device(0);
  std::vector<int32_t> values(32, 7);
  uint64_t memory = device.allocate(values.size() * 4, 0);
  uint32_t grid[3] = {1, 1, 1};
  launch(*kernel(), device, grid, memory);
  device.synchronize();
  removeListener(*listener);
  ASSERT_EQ(listener->times.size(), 1u);
  EXPECT_EQ(listener->times[0].launch, listener->launched);
  EXPECT_EQ(listener->times[0].end - listener->times[0].begin, 1000000u) << "the mock's millisecond between two events";
}

TEST_F(CudaDevices, RefuseWhatDoesNotFit) {
  CompiledCode code = kernel()->code;
  code.metadata.sharedBytes = 1 << 20;
  try {
    cuda::driver().device(0)->load(code);
    FAIL() << "a megabyte of shared memory was accepted";
  } catch (const OutOfResourcesError &error) {
    EXPECT_EQ(error.required, 1 << 20);
    EXPECT_EQ(error.limit, 232448);
  }
}

TEST_F(CudaDevices, SayWhatTheDriverSaysOfBadCode) {
  CompiledCode code = kernel()->code;
  code.object = "nonsense";
  try {
    cuda::driver().device(0)->load(code);
    FAIL() << "nonsense was loaded";
  } catch (const DeviceError &error) {
    EXPECT_NE(std::string(error.what()).find("CUDA_ERROR_INVALID_PTX"), std::string::npos) << error.what();
    EXPECT_EQ(error.kernel, "add_one");
  }
}

} // namespace
