#include "runtime/devices/cpu/CpuDevice.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "runtime/Events.h"
#include "runtime/Knobs.h"
#include "runtime/devices/cpu/ExportedCode.h"
#include "runtime/threads/ThreadPool.h"
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

namespace nacre::cpu {

LoadedCpuKernel::LoadedCpuKernel(std::unique_ptr<LoadedCode> loaded) : code(std::move(loaded)) {}
LoadedCpuKernel::~LoadedCpuKernel() = default;

namespace {

constexpr size_t allocationAlignment = 256;

class CpuDevice : public Device {
public:
  using Device::Device;

  const DeviceProperties &properties() override {
    static const DeviceProperties *known = [] {
      auto *made = new DeviceProperties;
      made->name = made->architecture = hostCpu();
      made->features = hostFeatures();
      made->multiprocessors = usableCores();
      made->sharedBytes = int64_t(1) << 30; // scripts divide by these: what does not limit a launch is large
      made->registers = 1 << 16;
      made->memoryBytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
      return made;
    }();
    return *known;
  }

  std::string whyNot(const TargetOptions &options) override { return whyNotOnHost(options); }
  void prepare() override { ThreadPool::shared(); }

  std::unique_ptr<LoadedKernel> load(const CompiledCode &code) override {
    if (knobBoolean(KnobId::TellPerf))
      announceToPerf();
    auto made = std::make_unique<LoadedCpuKernel>(cpu::load(code.object, code.symbol, code.externals));
    made->function = reinterpret_cast<uint64_t>(made->code->function);
    made->range = {made->code->codeBegin, made->code->codeEnd, code.symbol.c_str(), code.metadata.callsLibraries};
    return made;
  }

  void enqueue(LoadedKernel &kernel, const EnqueuedLaunch &launch) override {
    run(static_cast<LoadedCpuKernel &>(kernel), launch);
  }

  void synchronize(std::optional<uint64_t>) override {} // launches have ended when they return

  uint64_t allocate(size_t bytes, uint64_t) override {
    auto address = reinterpret_cast<uint64_t>(::operator new(bytes, std::align_val_t(allocationAlignment)));
    tellAllocation(*this, address, bytes);
    return address;
  }
  void release(uint64_t address, uint64_t) override {
    tellAllocation(*this, address, 0);
    ::operator delete(reinterpret_cast<void *>(address), std::align_val_t(allocationAlignment));
  }
  void copyIn(uint64_t to, const void *from, size_t bytes) override {
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  }
  void copyOut(void *to, uint64_t from, size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  }
  bool reachesHostMemory(uint64_t) override { return true; }
};

class CpuDriver : public Driver {
public:
  llvm::StringRef name() const override { return "cpu"; }
  const Target &target() const override { return cpu::target(); }
  int count() override { return 1; }
  std::string whyNone() override { return ""; }
  Device *device(int index) override {
    static auto *only = new CpuDevice(*this, 0); // kernels may run until the process ends
    return index == 0 ? only : nullptr;
  }
  bool usesHostMemory() const override { return true; }
  void setArchitecture(TargetOptions &options, Device *) const override {
    options.architecture = knobString(KnobId::CpuTarget);
    options.features = knobString(KnobId::CpuFeatures);
  }
  const ExportedCode *exportedCode() const override { return &cpu::exportedCode(); }
  int dlpackType() const override { return 1; }
};

} // namespace

Driver &driver() {
  static auto *instance = new CpuDriver;
  return *instance;
}

} // namespace nacre::cpu
