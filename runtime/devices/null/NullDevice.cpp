#include "runtime/devices/null/NullDevice.h"
#include "runtime/Events.h"
#include "runtime/launch/Launch.h"
#include <cstring>
#include <map>
#include <mutex>
#include <new>

namespace nacre {

namespace {

class NullDevice : public Device {
public:
  using Device::Device;

  const DeviceProperties &properties() override { return known; }
  std::string whyNot(const TargetOptions &) override { return ""; }

  std::unique_ptr<LoadedKernel> load(const CompiledCode &) override {
    auto made = std::make_unique<LoadedKernel>();
    made->function = reinterpret_cast<uint64_t>(made.get());
    return made;
  }

  void enqueue(LoadedKernel &, const EnqueuedLaunch &launch) override {
    std::lock_guard<std::mutex> guard(lock);
    throwIfFailed();
    ++launches.count;
    launches.kernel = launch.code.symbol;
    std::copy(launch.grid, launch.grid + 3, launches.grid);
    launches.stream = launch.options.stream.value_or(currentStream());
    launches.arguments = launch.arguments.vec();
    if (launch.event) {
      LaunchTimes times{launch.event, events::now(), events::now(), 0};
      events::tell(LaunchTimeEvents, [&](EventListener &listener) { listener.launchTimes(times); });
    }
  }

  uint64_t currentStream() override { return static_cast<uint64_t>(index) + 1; }
  void synchronize(std::optional<uint64_t>) override {
    std::lock_guard<std::mutex> guard(lock);
    throwIfFailed();
  }

  uint64_t allocate(size_t bytes, uint64_t) override {
    auto address = reinterpret_cast<uint64_t>(::operator new(bytes, alignment));
    std::lock_guard<std::mutex> guard(lock);
    allocations[address] = bytes;
    tellAllocation(*this, address, bytes);
    return address;
  }
  void release(uint64_t address, uint64_t) override {
    tellAllocation(*this, address, 0);
    ::operator delete(reinterpret_cast<void *>(address), alignment);
    std::lock_guard<std::mutex> guard(lock);
    allocations.erase(address);
  }
  void copyIn(uint64_t to, const void *from, size_t bytes) override {
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  }
  void copyOut(void *to, uint64_t from, size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  }
  bool reachesHostMemory(uint64_t) override { return false; }

  bool owns(uint64_t address) {
    std::lock_guard<std::mutex> guard(lock);
    auto next = allocations.upper_bound(address);
    return next != allocations.begin() && address - std::prev(next)->first < std::prev(next)->second;
  }

  // With the lock.
  void throwIfFailed() {
    if (!failure.empty())
      throw DeviceError(std::exchange(failure, ""), launches.kernel, /*isLate=*/true);
  }

  std::mutex lock; // guards what follows
  NullLaunches launches;
  std::string failure;
  std::map<uint64_t, size_t> allocations; // sizes by address

private:
  static constexpr std::align_val_t alignment{256};
  const DeviceProperties known{.name = "no device", .architecture = "", .features = "", .warpSize = 32};
};

class NullDriver : public Driver {
public:
  llvm::StringRef name() const override { return "null"; }
  const Target &target() const override { return *targets().front(); }
  int count() override { return 2; }
  std::string whyNone() override { return ""; }
  Device *device(int index) override { return index == 0 || index == 1 ? &at(index) : nullptr; }
  void setArchitecture(TargetOptions &, Device *) const override {}
  const char *arrayInterface() const override { return "__null_array_interface__"; }
  int dlpackType() const override { return 12; }
  Device *deviceOf(uint64_t address) override {
    for (int index : {0, 1})
      if (at(index).owns(address))
        return &at(index);
    return nullptr;
  }

  NullDevice &at(int index) {
    static NullDevice *const all[] = {new NullDevice(*this, 0), new NullDevice(*this, 1)};
    return *all[index];
  }
};

NullDriver &instance() {
  static auto *made = new NullDriver;
  return *made;
}

} // namespace

Driver &nullDriver() { return instance(); }

NullLaunches nullLaunches(int index) {
  NullDevice &device = instance().at(index);
  std::lock_guard<std::mutex> guard(device.lock);
  return device.launches;
}

void failNullLaunch(int index, std::string text) {
  NullDevice &device = instance().at(index);
  std::lock_guard<std::mutex> guard(device.lock);
  device.failure = std::move(text);
}

} // namespace nacre
