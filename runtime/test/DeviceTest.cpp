// Launches on devices other than the host, shown on the one on which nothing runs.
#include "runtime/devices/null/NullDevice.h"
#include "runtime/launch/Launch.h"
#include "gtest/gtest.h"
#include <array>

using namespace nacre;

namespace {

CompiledCode someCode() {
  CompiledCode code;
  code.symbol = "kernel";
  return code;
}

TEST(Device, IsFoundByItsDriversName) {
  EXPECT_EQ(findDriver("null"), &nullDriver());
  EXPECT_EQ(findDriver("abacus"), nullptr);
  EXPECT_EQ(&hostDevice().driver, drivers().front());
  EXPECT_EQ(nullDriver().device(1)->name(), "null:1");
  EXPECT_EQ(nullDriver().device(2), nullptr);
}

TEST(Device, LaunchesHaveAGridArgumentsAndAStream) {
  Kernel kernel("hash", someCode());
  Device &device = *nullDriver().device(0);
  uint64_t before = nullLaunches(0).count;
  uint32_t grid[3] = {2, 3, 1}, empty[3] = {2, 0, 1};
  LaunchOptions options;
  options.stream = 7;
  launch(kernel, device, grid, {11, 12}, options);
  NullLaunches told = nullLaunches(0);
  EXPECT_EQ(told.count, before + 1);
  EXPECT_EQ(told.kernel, "kernel");
  EXPECT_EQ(told.grid[1], 3u);
  EXPECT_EQ(told.stream, 7u);
  EXPECT_EQ(told.arguments, (std::vector<uint64_t>{11, 12}));
  launch(kernel, device, grid, {});
  EXPECT_EQ(nullLaunches(0).stream, device.currentStream());
  launch(kernel, device, empty, {}); // runs nothing
  EXPECT_EQ(nullLaunches(0).count, before + 2);
}

TEST(Device, LoadsAKernelOnce) {
  Kernel kernel("hash", someCode());
  Device &first = *nullDriver().device(0), &second = *nullDriver().device(1);
  LoadedKernel *onFirst = &kernel.on(first), *onSecond = &kernel.on(second);
  EXPECT_NE(onFirst, onSecond);
  EXPECT_EQ(&kernel.on(first), onFirst);
  EXPECT_EQ(&kernel.on(second), onSecond);
}

TEST(Device, ErrorsMayArriveLate) {
  Kernel kernel("hash", someCode());
  Device &device = *nullDriver().device(1);
  uint32_t grid[3] = {1, 1, 1};
  launch(kernel, device, grid, {});
  failNullLaunch(1, "an access out of bounds");
  try {
    device.synchronize();
    FAIL() << "nothing was thrown";
  } catch (const DeviceError &error) {
    EXPECT_TRUE(error.isLate);
    EXPECT_EQ(error.kernel, "kernel");
  }
  device.synchronize(); // it is told once
  failNullLaunch(1, "an access out of bounds");
  EXPECT_THROW(launch(kernel, device, grid, {}), DeviceError);
}

TEST(Device, KnowsItsMemory) {
  for (Device *device : {&hostDevice(), nullDriver().device(0)}) {
    uint64_t address = device->allocate(64, device->currentStream());
    EXPECT_EQ(address % 256, 0u);
    std::array<int, 4> numbers = {1, 2, 3, 4}, back{};
    device->copyIn(address, numbers.data(), sizeof(numbers));
    device->copyOut(back.data(), address, sizeof(back));
    EXPECT_EQ(back, numbers);
    EXPECT_EQ(nullDriver().deviceOf(address + 63), device == &hostDevice() ? nullptr : device);
    EXPECT_EQ(nullDriver().deviceOf(address + 64), nullptr);
    device->release(address, device->currentStream());
  }
}

TEST(Device, OneCanBeMadeActive) {
  EXPECT_EQ(&activeDevice(), &hostDevice());
  setActiveDevice(nullDriver().device(1));
  EXPECT_EQ(&activeDevice(), nullDriver().device(1));
  EXPECT_EQ(&hostMemoryDevice(), &hostDevice()); // arrays in host memory are not on it
  setActiveDevice(nullptr);
  EXPECT_EQ(&activeDevice(), &hostDevice());
}

} // namespace
