// The devices of this build. See Device.h.
#include "runtime/Device.h"
#include "runtime/Knobs.h"
#include "runtime/devices/cpu/CpuDevice.h"
#include "runtime/devices/cuda/CudaDevice.h"
#include "runtime/devices/cuda/SimulatedDevice.h"
#include "runtime/devices/hip/SimulatedDevice.h"
#include "runtime/devices/null/NullDevice.h"
#include <atomic>

namespace nacre {

namespace {
std::atomic<Device *> activated = nullptr;

// What NACRE_DEVICE names; null: nothing.
Device *requestedDevice() {
  static Device *const known = []() -> Device * {
    std::string name = knobString(KnobId::Device);
    if (name.empty())
      return nullptr;
    Driver *driver = findDriver(name);
    if (!driver) {
      std::string known;
      for (Driver *other : drivers())
        known += (known.empty() ? "" : ", ") + other->name().str();
      throw std::invalid_argument("NACRE_DEVICE=" + name + ": there is no such device; there are " + known);
    }
    if (Device *device = driver->device(driver->currentIndex()))
      return device;
    throw std::invalid_argument("NACRE_DEVICE=" + name + ": " + driver->whyNone());
  }();
  return known;
}

Device *chosenDevice() {
  Device *active = activated.load(std::memory_order_acquire);
  return active ? active : requestedDevice();
}
} // namespace

llvm::ArrayRef<Driver *> drivers() {
  static Driver *const all[] = {&cpu::driver(), &cuda::driver(), &cuda::simulatedDriver(), &hip::simulatedDriver(),
                                &nullDriver()};
  return all;
}

Driver *findDriver(llvm::StringRef name) {
  for (Driver *driver : drivers())
    if (driver->name() == name)
      return driver;
  return nullptr;
}

Device *deviceOf(uint64_t address) {
  for (Driver *driver : drivers())
    if (Device *device = driver->deviceOf(address))
      return device;
  return nullptr;
}

Device &hostDevice() {
  static Device &device = *drivers().front()->device(0);
  return device;
}

Device &hostMemoryDevice() {
  Device *active = chosenDevice();
  return active && active->driver.usesHostMemory() ? *active : hostDevice();
}

Device &activeDevice() {
  if (Device *active = chosenDevice())
    return *active;
  for (Driver *driver : drivers())
    if (driver->isPreferred() && driver->count() > 0)
      if (Device *device = driver->device(driver->currentIndex()))
        return *device;
  return hostDevice();
}

Device *setActiveDevice(Device *device) { return activated.exchange(device, std::memory_order_acq_rel); }

std::string Device::name() const {
  std::string number = ":" + std::to_string(index);
  return driver.name().str() + (&driver == drivers().front() ? "" : number);
}

OutOfResourcesError::OutOfResourcesError(std::string resource, int64_t required, int64_t limit, const std::string &hint)
    : std::runtime_error("out of resource: " + resource + ", required: " + std::to_string(required) +
                         ", hardware limit: " + std::to_string(limit) + (hint.empty() ? "" : ". " + hint)),
      resource(std::move(resource)), required(required), limit(limit) {}

static std::atomic<bool> isForgotten = false;
void forgetMemory() { isForgotten.store(true, std::memory_order_relaxed); }
bool memoryIsForgotten() { return isForgotten.load(std::memory_order_relaxed); }

CompileOptions compileOptionsFor(Device &device) {
  CompileOptions options = defaultCompileOptions(device.driver.target());
  device.driver.setArchitecture(options, &device);
  return options;
}

CompileOptions compileOptionsFor(const Driver &driver) {
  CompileOptions options = defaultCompileOptions(driver.target());
  driver.setArchitecture(options, nullptr);
  return options;
}

} // namespace nacre
