// See CudaDevice.h.
#include "runtime/devices/cuda/CudaDevice.h"
#include "compiler/support/ForkSafety.h"
#include "compiler/targets/cuda/Architectures.h"
#include "compiler/targets/cuda/CudaTarget.h"
#include "runtime/Events.h"
#include "runtime/Knobs.h"
#include "runtime/devices/cuda/Cupti.h"
#include "runtime/devices/cuda/DriverLibrary.h"
#include "runtime/devices/cuda/ExportedCode.h"
#include "runtime/devices/cuda/KernelTrace.h"
#include "runtime/devices/cuda/LaunchTimer.h"
#include "runtime/devices/cuda/TensorMaps.h"
#include "runtime/devices/cuda/TorchStream.h"
#include "runtime/devices/gpu/CheckedLaunch.h"
#include "runtime/devices/gpu/MarkedLaunch.h"
#include "runtime/launch/Launch.h"
#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <set>

namespace nacre::cuda {

namespace {

struct CudaKernel : LoadedKernel {
  ~CudaKernel() override {
    // After a fork the handle means nothing; while the process ends the driver may be gone already.
    if (module && openedDriverLibrary())
      library->cuModuleUnload(module);
  }
  const DriverLibrary *library = nullptr;
  CuModule module = nullptr;
  CuFunction entry = nullptr;
  unsigned threads = 0, sharedBytes = 0;
  bool cooperative = false, dependentLaunch = false;
  int residentBlocks = 0; // that fit on the device at once; of cooperative kernels
  TensorMaps maps;        // its last parameters
};

std::string shownGrid(const uint32_t *grid) {
  return "(" + std::to_string(grid[0]) + ", " + std::to_string(grid[1]) + ", " + std::to_string(grid[2]) + ")";
}

// The names of the last launches, for errors that arrive later than they happen.
class RecentLaunches {
public:
  void add(const char *kernel) { names[next.fetch_add(1, std::memory_order_relaxed) % names.size()] = kernel; }
  std::string last() const {
    uint64_t count = next.load(std::memory_order_relaxed);
    const char *name = count == 0 ? nullptr : names[(count - 1) % names.size()].load(std::memory_order_relaxed);
    return name ? name : "";
  }
  // Each once, the latest first.
  std::string text() const {
    std::vector<std::string> found;
    uint64_t count = next.load(std::memory_order_relaxed);
    for (uint64_t i = 0; i < std::min<uint64_t>(count, names.size()); ++i)
      if (const char *name = names[(count - 1 - i) % names.size()].load(std::memory_order_relaxed))
        if (std::find(found.begin(), found.end(), name) == found.end())
          found.push_back(name);
    std::string text;
    for (const std::string &name : found)
      text += (text.empty() ? "`" : ", `") + name + "`";
    return text;
  }

private:
  std::array<std::atomic<const char *>, 16> names{}; // interned: kernels may be gone by then
  std::atomic<uint64_t> next = 0;
};

// Whose memory an address is; of memory that the driver does not know, the type is 0.
struct Memory {
  unsigned type = 0;
  int ordinal = 0;
};
Memory memoryOf(const DriverLibrary &library, uint64_t address) {
  Memory memory;
  int attributes[] = {code::pointerMemoryType, code::pointerOrdinal};
  void *values[] = {&memory.type, &memory.ordinal};
  return library.cuPointerGetAttributes(2, attributes, values, address) == code::success ? memory : Memory();
}

// The driver shows what kernels printed when somebody waits for the device: at the latest, the process does at its end.
void showPrintsAtExit();

// A name that lives as long as the process.
const char *interned(const std::string &name) {
  static ProcessLock lock;
  std::lock_guard<ProcessLock> guard(lock);
  static auto *known = new std::set<std::string>;
  return known->insert(name).first->c_str();
}

struct NamedKernel : CudaKernel {
  const char *name = nullptr;
  uint32_t ctas = 1; // blocks that run a program: a cluster, as the code itself says
};

class CudaDevice : public Device {
public:
  CudaDevice(const Driver &driver, int index, const DriverLibrary &library)
      : Device(driver, index), library(library), timer(library) {
    check(library.cuDeviceGet(&handle, index), "finding the device");
    readProperties();
  }

  const DeviceProperties &properties() override { return known; }

  std::string whyNot(const TargetOptions &options) override {
    const Architecture &wanted = architectureNamed(options.architecture);
    if (wanted.runsOn(capability()))
      return "";
    return "it was compiled for compute capability " + std::to_string(wanted.capability) + ", and " + known.name +
           " has " + std::to_string(capability());
  }

  std::unique_ptr<LoadedKernel> load(const CompiledCode &code) override {
    lookForTorch();
    makeCurrent();
    auto made = std::make_unique<NamedKernel>();
    made->library = &library;
    made->name = interned(code.symbol);
    made->threads = static_cast<unsigned>(code.metadata.warps) * static_cast<unsigned>(known.warpSize);
    made->sharedBytes = static_cast<unsigned>(code.metadata.sharedBytes);
    made->ctas = std::max<uint32_t>(1, static_cast<uint32_t>(code.metadata.ctas));
    made->cooperative = code.metadata.cooperative;
    made->dependentLaunch = code.metadata.dependentLaunch;
    made->maps = TensorMaps::of(code);
    if (made->sharedBytes > static_cast<uint64_t>(known.sharedBytes))
      throw OutOfResourcesError("shared memory", made->sharedBytes, known.sharedBytes,
                                "Reducing block sizes or `num_stages` may help.");
    loadModule(*made, code);
    if (code.metadata.prints)
      showPrintsAtExit();
    made->function = reinterpret_cast<uint64_t>(made->entry);
    auto attribute = [&](int which) {
      int value = 0;
      check(library.cuFuncGetAttribute(&value, which, made->entry), "asking for the kernel `" + code.symbol + "`");
      return value;
    };
    made->registers = attribute(code::functionRegisters);
    made->spilledBytes = attribute(code::functionLocalBytes);
    made->maximumThreads = attribute(code::functionThreads);
    if (made->threads > static_cast<unsigned>(made->maximumThreads))
      throw OutOfResourcesError("threads", made->threads, made->maximumThreads, "Reducing `num_warps` may help.");
    constexpr unsigned withoutAsking = 48 << 10;
    if (made->sharedBytes > withoutAsking)
      check(library.cuFuncSetAttribute(made->entry, code::functionSharedLimit, static_cast<int>(made->sharedBytes)),
            "giving the kernel `" + code.symbol + "` its shared memory");
    if (made->cooperative) {
      int blocks = 0;
      check(library.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, made->entry, static_cast<int>(made->threads),
                                                                made->sharedBytes),
            "asking for the occupancy of `" + code.symbol + "`");
      made->residentBlocks = blocks * known.multiprocessors / static_cast<int>(made->ctas);
    }
    return made;
  }

  void enqueue(LoadedKernel &loaded, const EnqueuedLaunch &launch) override {
    auto &kernel = static_cast<NamedKernel &>(loaded);
    makeCurrent();
    auto stream = reinterpret_cast<CuStream>(launch.options.stream ? *launch.options.stream : currentStream());
    bool isChecked = gpu::CheckedLaunch::isNeeded(launch.code), isMarked = gpu::MarkedLaunch::isNeeded(launch.code);
    if (!isChecked && !isMarked)
      return start(kernel, launch, launch.arguments, stream);
    bool isCaptured = isCapturing(stream);
    auto streamNumber = reinterpret_cast<uint64_t>(stream);
    llvm::ArrayRef<uint64_t> arguments = launch.arguments;
    std::optional<gpu::CheckedLaunch> checked;
    if (isChecked)
      arguments = checked.emplace(*this, launch, launch.options.arrays, streamNumber, isCaptured).arguments();
    std::optional<gpu::MarkedLaunch> marked;
    if (isMarked)
      arguments = marked.emplace(*this, launch, arguments, streamNumber, isCaptured).arguments();
    start(kernel, launch, arguments, stream);
    if (isCaptured)
      return;
    if (isChecked || marked->address())
      synchronize(streamNumber);
    if (marked)
      marked->finish();
    if (checked)
      checked->finish();
  }

  void start(NamedKernel &kernel, const EnqueuedLaunch &launch, llvm::ArrayRef<uint64_t> arguments, CuStream stream) {
    constexpr size_t most = 4096 / 8; // a kernel's parameters take at most so many bytes, or eight times as many
    void *parameters[most];
    size_t count = arguments.size();
    if (count + kernel.maps.recipes.size() > most)
      throw DeviceError("the kernel `" + std::string(kernel.name) + "` has more arguments than a launch can have",
                        kernel.name);
    for (size_t i = 0; i < count; ++i) // the low bytes of each slot are the argument
      parameters[i] = const_cast<uint64_t *>(&arguments[i]);
    CuTensorMap maps[TensorMaps::most];
    for (size_t i = 0; i < kernel.maps.recipes.size(); ++i) {
      encode(maps[i], kernel.maps.recipes[i], arguments, kernel.name);
      parameters[count + i] = &maps[i];
    }
    const uint32_t *programs = launch.grid;
    if (uint64_t(programs[0]) * kernel.ctas > INT32_MAX)
      failLaunch(code::invalidValue, kernel, programs);
    const uint32_t grid[3] = {programs[0] * kernel.ctas, programs[1], programs[2]};
    // A trace of the device tells when it ran, without events in its stream.
    CuEvent begin = launch.event && !KernelTrace::isOn() ? timer.begin(stream) : nullptr;
    CuResult result;
    bool isCooperative = kernel.cooperative || launch.options.cooperative;
    if (!isCooperative && !kernel.dependentLaunch) {
      result = library.cuLaunchKernel(kernel.entry, grid[0], grid[1], grid[2], kernel.threads, 1, 1, kernel.sharedBytes,
                                      stream, parameters, nullptr);
    } else {
      CuLaunchAttribute attributes[2] = {};
      unsigned count = 0;
      auto add = [&](int id) {
        attributes[count].id = id;
        attributes[count++].value.number = 1;
      };
      if (isCooperative)
        add(code::attributeCooperative);
      if (kernel.dependentLaunch)
        add(code::attributeSerialized);
      CuLaunchConfig configuration{grid[0], grid[1],    grid[2], kernel.threads, 1, 1, kernel.sharedBytes,
                                   stream,  attributes, count};
      result = library.cuLaunchKernelEx(&configuration, kernel.entry, parameters, nullptr);
    }
    if (result != code::success)
      failLaunch(result, kernel, programs);
    recent.add(kernel.name);
    if (begin)
      timer.end(begin, stream, launch.event);
    if (launch.event)
      timer.tellEnded();
  }

  uint64_t currentStream() override {
    refuseAfterFork();
    return torchStream(index);
  }
  void synchronize(std::optional<uint64_t> stream) override {
    makeCurrent();
    uint64_t begin = events::isWanted(SpanEvents) ? events::now() : 0;
    check(stream ? library.cuStreamSynchronize(reinterpret_cast<CuStream>(*stream)) : library.cuCtxSynchronize(),
          "waiting for the device");
    if (begin != 0) {
      SpanEvent span{"wait", "", begin, events::now()};
      events::tell(SpanEvents, [&](EventListener &listener) { listener.span(span); });
    }
    timer.tellEnded();
    KernelTrace::tellEnded();
  }

  uint64_t allocate(size_t bytes, uint64_t stream) override {
    makeCurrent();
    CuPointer address = 0;
    if (library.cuMemAllocAsync(&address, bytes, reinterpret_cast<CuStream>(stream)) != code::success)
      throw std::bad_alloc();
    return address;
  }
  void release(uint64_t address, uint64_t stream) override {
    makeCurrent();
    check(library.cuMemFreeAsync(address, reinterpret_cast<CuStream>(stream)), "giving memory back");
  }
  void copyIn(uint64_t to, const void *from, size_t bytes) override {
    makeCurrent();
    check(library.cuMemcpyHtoD(to, from, bytes), "copying to the device");
  }
  void copyOut(void *to, uint64_t from, size_t bytes) override {
    makeCurrent();
    check(library.cuMemcpyDtoH(to, from, bytes), "copying from the device");
  }
  bool reachesHostMemory(uint64_t address) override {
    makeCurrent();
    return memoryOf(library, address).type == code::hostMemory;
  }

  int capability() const { return major * 10 + minor; }

  // Waits, whatever the outcome: at the end of the process there is nobody to tell.
  void waitAtExit() {
    CuContext mine = context.load(std::memory_order_acquire);
    if (mine && library.cuCtxSetCurrent(mine) == code::success)
      library.cuCtxSynchronize();
  }

  // What is launched on the stream is recorded, for a graph that runs later.
  bool isCapturing(CuStream stream) {
    int status = 0;
    check(library.cuStreamIsCapturing(stream, &status), "asking the stream");
    return status != 0;
  }

private:
  void readProperties() {
    auto attribute = [&](int which) {
      int value = 0;
      check(library.cuDeviceGetAttribute(&value, which, handle), "asking the device");
      return value;
    };
    char name[256] = "";
    check(library.cuDeviceGetName(name, sizeof name, handle), "asking the device");
    major = attribute(code::capabilityMajor);
    minor = attribute(code::capabilityMinor);
    size_t bytes = 0;
    check(library.cuDeviceTotalMem(&bytes, handle), "asking the device");
    known.name = name;
    known.architecture = std::to_string(capability());
    known.multiprocessors = attribute(code::multiprocessors);
    known.warpSize = attribute(code::warpSize);
    known.sharedBytes = attribute(code::sharedBytesOptIn);
    known.registers = attribute(code::registersPerMultiprocessor);
    known.memoryBytes = static_cast<int64_t>(bytes);
    known.clockKilohertz = attribute(code::clockRate);
    known.memoryClockKilohertz = attribute(code::memoryClockRate);
    known.memoryBusBits = attribute(code::memoryBusWidth);
  }

  static void refuseAfterFork() {
    if (isForked())
      throw DeviceError("this process was forked from one that had used CUDA: it can compile, but neither launch nor "
                        "touch the GPU's memory; start it with multiprocessing's spawn");
  }

  void makeCurrent() {
    refuseAfterFork();
    CuContext mine = context.load(std::memory_order_acquire);
    if (!mine) {
      check(library.cuDevicePrimaryCtxRetain(&mine, handle), "starting the device"); // kept as long as the process
      context.store(mine, std::memory_order_release);
    }
    CuContext now = nullptr;
    library.cuCtxGetCurrent(&now);
    if (now != mine)
      check(library.cuCtxSetCurrent(mine), "choosing the device");
  }

  void encode(CuTensorMap &map, const simt::TensorMapRecipe &recipe, llvm::ArrayRef<uint64_t> arguments,
              const char *kernel) {
    simt::TensorMapRecipe::Numbers numbers = TensorMaps::evaluate(recipe, arguments, kernel);
    constexpr uint32_t ones[simt::TensorMapRecipe::mostAxes] = {1, 1, 1, 1, 1};
    CuResult result = library.cuTensorMapEncodeTiled(
        &map, static_cast<int>(recipe.element), recipe.rank(), reinterpret_cast<void *>(numbers.address),
        numbers.sizes.data(), numbers.strides.data(), numbers.box.data(), ones, code::interleaveNone,
        TensorMaps::swizzleCode(recipe), recipe.swizzle == 128 ? code::promotion256 : code::promotion128,
        recipe.fillsNaN);
    if (result != code::success)
      fail(result,
           "the kernel `" + std::string(kernel) +
               "`: the driver refuses a tensor descriptor: " + library.describe(result),
           kernel);
  }

  void loadModule(NamedKernel &kernel, const CompiledCode &code) {
    std::string log(8192, '\0');
    int options[] = {code::jitErrorLog, code::jitErrorLogSize};
    void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
    CuResult result = library.cuModuleLoadDataEx(&kernel.module, code.object.c_str(), 2, options, values);
    if (result != code::success) {
      kernel.module = nullptr;
      std::string said = log.c_str();
      std::string text = "the driver cannot load the kernel `" + code.symbol + "`: " + library.describe(result);
      if (!said.empty())
        text += "\n" + said;
      if (isPtx(code.object) && (result == code::unsupportedPtxVersion || result == code::jitCompilerNotFound))
        text +=
            "\nhint: there is no ptxas here, so that the driver must assemble it; install CUDA's ptxas (pip install "
            "nvidia-cuda-nvcc) or name it with TRITON_PTXAS_PATH";
      fail(result, text, code.symbol);
    }
    check(library.cuModuleGetFunction(&kernel.entry, kernel.module, code.symbol.c_str()),
          "finding the kernel `" + code.symbol + "`");
  }

  // Errors that belong to the call itself; all others are of something that was launched before.
  static bool isOwn(CuResult result) {
    constexpr CuResult firstOfKernels = 700; // illegal address, launch timeout, assert, misaligned, trap, ...
    return result < firstOfKernels || result == code::outOfResources || result == code::cooperativeTooLarge;
  }

  [[noreturn]] void fail(CuResult result, const std::string &text, const std::string &kernel) {
    if (isOwn(result))
      throw DeviceError(text, kernel);
    std::string launches = recent.text();
    throw DeviceError(text + "\nIt happened in something that was launched before" +
                          (launches.empty() ? "." : "; the last kernels were " + launches + ".") +
                          " CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer shows which one; NACRE_DEVICE=simulate shows "
                          "the line.",
                      recent.last(), /*isLate=*/true);
  }

  void check(CuResult result, const std::string &doing) {
    if (result != code::success)
      fail(result, doing + " failed: " + library.describe(result), "");
  }

  [[noreturn]] void failLaunch(CuResult result, const NamedKernel &kernel, const uint32_t *grid) {
    if (result == code::cooperativeTooLarge)
      throw OutOfResourcesError("programs that run at the same time", int64_t(grid[0]) * grid[1] * grid[2],
                                kernel.residentBlocks,
                                "A cooperative grid must fit on the device at once: launch fewer programs.");
    std::string text =
        "launching the kernel `" + std::string(kernel.name) + "` failed: " + library.describe(result) + " (grid " +
        shownGrid(grid) + ", " + (kernel.ctas > 1 ? std::to_string(kernel.ctas) + " blocks a program, " : "") +
        std::to_string(kernel.threads) + " threads, " + std::to_string(kernel.sharedBytes) + " bytes of shared memory)";
    constexpr uint32_t mostOfY = 65535;
    if (result == code::invalidValue && (grid[1] > mostOfY || grid[2] > mostOfY))
      text += "\nhint: the second and third extent of a grid are at most 65535; put the large one first";
    fail(result, text, kernel.name);
  }

  const DriverLibrary &library;
  CuDevice handle = 0;
  int major = 0, minor = 0;
  DeviceProperties known;
  std::atomic<CuContext> context = nullptr;
  RecentLaunches recent;
  LaunchTimer timer;
};

class CudaDriver : public Driver {
public:
  llvm::StringRef name() const override { return "cuda"; }
  const Target &target() const override { return cuda::target(); }
  int count() override { return static_cast<int>(all().size()); }
  std::string whyNone() override {
    std::string why;
    return driverLibrary(&why) ? "the driver finds no GPU (CUDA_VISIBLE_DEVICES may hide them)" : why;
  }
  Device *device(int index) override {
    const auto &devices = all();
    return index >= 0 && static_cast<size_t>(index) < devices.size() ? devices[static_cast<size_t>(index)] : nullptr;
  }
  int currentIndex() override {
    static std::atomic<int> known = 0; // the last answer is a forked child's
    if (isForked())
      return known;
    const DriverLibrary *library = openedDriverLibrary();
    CuContext context = nullptr;
    CuDevice device = 0;
    bool isChosen = library && library->cuCtxGetCurrent(&context) == code::success && context &&
                    library->cuCtxGetDevice(&device) == code::success;
    known = isChosen ? device : 0;
    return isChosen ? device : 0;
  }
  bool isPreferred() override { return true; }
  void setArchitecture(TargetOptions &options, Device *device) const override {
    options.architecture = knobString(KnobId::OverrideArch);
    if (options.architecture.empty() && device)
      options.architecture = device->properties().architecture;
    options.features = knobString(KnobId::CudaFeatures);
    options.assembler = knobString(KnobId::Ptxas);
    options.assemblerOptions = knobString(KnobId::PtxasOptions);
    options.toolkit = knobString(KnobId::CudaHome);
    options.libdevice = knobString(KnobId::LibdevicePath);
    if (options.assembler == "driver") { // the driver's own
      options.assembler.clear();
      options.assembles = false;
    }
  }

  std::string traceKernels(bool isWanted, uint32_t sampleCycles) override {
    if (isForked()) // what the parent traces is the parent's to stop
      return isWanted ? whyNone() : "";
    if (!isWanted)
      return KernelTrace::stop(), "";
    if (count() == 0)
      return whyNone();
    if (Device *current = device(currentIndex()))
      cuptiCapability = std::atoi(current->properties().architecture.c_str());
    return KernelTrace::start(sampleCycles);
  }
  const ExportedCode *exportedCode() const override { return &cuda::exportedCode(); }

  const char *tensorFlag() const override { return "is_cuda"; }
  const char *arrayInterface() const override { return "__cuda_array_interface__"; }
  int dlpackType() const override { return 2; }
  Device *deviceOf(uint64_t address) override {
    const DriverLibrary *library = openedDriverLibrary();
    Memory memory = library ? memoryOf(*library, address) : Memory();
    return memory.type == code::deviceMemory ? device(memory.ordinal) : nullptr;
  }

  static const std::vector<CudaDevice *> &all();
};

CudaDriver &instance() {
  static auto *made = new CudaDriver;
  return *made;
}

const std::vector<CudaDevice *> &CudaDriver::all() {
  // What was found before a fork is known in the child, where the driver answers nothing any more.
  static std::atomic<const std::vector<CudaDevice *> *> found = nullptr;
  if (const auto *devices = found.load(std::memory_order_acquire))
    return *devices;
  static const std::vector<CudaDevice *> none;
  const DriverLibrary *library = driverLibrary();
  if (!library)
    return none;
  static ProcessLock lock;
  std::lock_guard<ProcessLock> guard(lock);
  if (const auto *devices = found.load(std::memory_order_acquire))
    return *devices;
  auto *made = new std::vector<CudaDevice *>;
  int count = 0;
  if (library->cuDeviceGetCount(&count) == code::success)
    for (int index = 0; index < count; ++index)
      made->push_back(new CudaDevice(instance(), index, *library));
  found.store(made, std::memory_order_release);
  return *made;
}

void showPrintsAtExit() {
  // The driver's own end was registered when it was opened: it comes after this one.
  static const int isRegistered = std::atexit([] {
    if (openedDriverLibrary())
      for (CudaDevice *device : CudaDriver::all())
        device->waitAtExit();
  });
  (void)isRegistered;
}

// Children of a process in which anybody has started CUDA compile for its GPUs, and the driver answers them nothing:
// what they may ask is asked before the fork. Registered when the library is loaded, since a handler that is registered
// within another one does not run at that fork.
[[maybe_unused]] const bool knowsForks = [] {
  markForkedChildren();
  beforeFork([] {
    if (isStarted())
      CudaDriver::all();
  });
  return true;
}();

} // namespace

Driver &driver() { return instance(); }

} // namespace nacre::cuda
