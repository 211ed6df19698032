// A driver of two GPUs that are not there: the entry points that devices/cuda uses, backed by the simulator. Tests name
// this library in NACRE_CUDA_DRIVER. Launches run at once; what the simulator finds becomes an error that later calls
// report, as a GPU's do; what kernels print is shown when somebody waits. `mockRecord` tells what the last launch was;
// after `mockCapture(1)` streams are captured: who waits for them, or copies, is refused.
#include "runtime/devices/cuda/DriverLibrary.h"
#include "runtime/test/MockCupti.h"
#include "simulator/Simulator.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

using namespace nacre::cuda;
namespace simulator = nacre::simulator;

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace nacre::cuda {
struct CuContextObject {
  int device;
};
struct CuModuleObject {
  std::unique_ptr<simulator::Module> module;
  std::map<std::string, std::unique_ptr<CuFunctionObject>> functions;
};
struct CuFunctionObject {
  CuModuleObject *owner;
  simulator::KernelInfo info;
  int sharedLimit = 48 << 10;
};
} // namespace nacre::cuda

namespace {

constexpr int deviceCount = 2;
CuContextObject contexts[deviceCount] = {{0}, {1}};
thread_local CuContextObject *current = nullptr;

struct Allocation {
  size_t bytes;
  int device;
};
std::mutex lock; // guards what follows
std::map<CuPointer, Allocation> allocations;
CuResult pending = code::success; // of something launched before; stays
std::string printed;              // that nobody has waited for

constexpr CuResult invalidHandle = 400, illegalAddress = 700, launchFailed = 719;

// The allocation that holds the address; end() when none does.
auto holding(CuPointer address) {
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin() || address - std::prev(next)->first >= std::prev(next)->second.bytes)
    return allocations.end();
  return std::prev(next);
}

} // namespace

struct MockRecord {
  uint64_t launches, modules, unloaded;
  uint64_t stream;
  int device, cooperative, serialized;
  unsigned grid[3], threads, sharedBytes;
  char kernel[64];
};
static MockRecord record;
EXPORTED const MockRecord *mockRecord() { return &record; }

static bool isCaptured = false;
EXPORTED void mockCapture(int captures) { isCaptured = captures != 0; }

// In a child of the process that started it, the driver answers nothing.
static pid_t startedIn = 0;
static bool isInChild() { return startedIn != 0 && startedIn != getpid(); }
EXPORTED CuResult cuInit(unsigned) {
  if (isInChild())
    return code::notInitialized;
  return startedIn = getpid(), code::success;
}
EXPORTED CuResult cuDriverGetVersion(int *version) { return *version = 13000, code::success; }
EXPORTED CuResult cuGetErrorName(CuResult result, const char **name) {
  *name = result == illegalAddress              ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : result == code::cooperativeTooLarge ? "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"
          : result == code::invalidValue        ? "CUDA_ERROR_INVALID_VALUE"
          : result == code::invalidPtx          ? "CUDA_ERROR_INVALID_PTX"
                                                : "CUDA_ERROR_UNKNOWN";
  return code::success;
}
EXPORTED CuResult cuGetErrorString(CuResult result, const char **text) {
  *text = result == illegalAddress ? "an illegal memory access was encountered" : "something is wrong";
  return code::success;
}
EXPORTED CuResult cuDeviceGetCount(int *count) {
  return startedIn == 0 || isInChild() ? code::notInitialized : (*count = deviceCount, code::success);
}
EXPORTED CuResult cuDeviceGet(CuDevice *device, int index) { return *device = index, code::success; }
EXPORTED CuResult cuDeviceGetName(char *name, int size, CuDevice device) {
  std::snprintf(name, static_cast<size_t>(size), "mock GPU %d", device);
  return code::success;
}
EXPORTED CuResult cuDeviceGetAttribute(int *value, int which, CuDevice) {
  static const std::map<int, int> values = {{code::capabilityMajor, 9},       {code::capabilityMinor, 0},
                                            {code::multiprocessors, 4},       {code::warpSize, 32},
                                            {code::sharedBytesOptIn, 232448}, {code::registersPerMultiprocessor, 65536},
                                            {code::maximumThreads, 1024},     {code::clockRate, 1980000},
                                            {code::memoryClockRate, 3201000}, {code::memoryBusWidth, 6144}};
  if (isInChild())
    return code::notInitialized;
  auto found = values.find(which);
  *value = found == values.end() ? 0 : found->second;
  return code::success;
}
EXPORTED CuResult cuDeviceTotalMem(size_t *bytes, CuDevice) { return *bytes = size_t(1) << 30, code::success; }
EXPORTED CuResult cuDevicePrimaryCtxRetain(CuContext *context, CuDevice device) {
  return isInChild() ? code::notInitialized : (*context = &contexts[device], code::success);
}
EXPORTED CuResult cuCtxGetCurrent(CuContext *context) {
  return isInChild() ? code::notInitialized : (*context = current, code::success);
}
EXPORTED CuResult cuCtxSetCurrent(CuContext context) { return current = context, code::success; }
EXPORTED CuResult cuCtxGetDevice(CuDevice *device) {
  return current ? (*device = current->device, code::success) : CuResult(201);
}
// Time goes on by a millisecond with each event. As with a GPU, nobody knows that an event has come before somebody has
// waited.
namespace nacre::cuda {
struct CuEventObject {
  float time = -1;
};
} // namespace nacre::cuda
static float waitedUntil = -1, nextTime = 0;
EXPORTED CuResult cuCtxSynchronize() {
  constexpr CuResult captureUnsupported = 900;
  std::lock_guard<std::mutex> guard(lock);
  if (isCaptured)
    return captureUnsupported;
  std::fwrite(printed.data(), 1, printed.size(), stdout);
  std::fflush(stdout);
  printed.clear();
  waitedUntil = nextTime;
  return pending;
}
EXPORTED CuResult cuStreamSynchronize(CuStream) { return cuCtxSynchronize(); }

EXPORTED CuResult cuModuleLoadDataEx(CuModule *module, const void *image, unsigned count, int *options, void **values) {
  if (!current)
    return 201;
  try {
    auto made = std::make_unique<CuModuleObject>();
    made->module = simulator::load(static_cast<const char *>(image));
    for (const simulator::KernelInfo &info : made->module->kernels()) {
      auto function = std::make_unique<CuFunctionObject>();
      function->owner = made.get();
      function->info = info;
      made->functions.emplace(info.name, std::move(function));
    }
    *module = made.release();
    std::lock_guard<std::mutex> guard(lock);
    ++record.modules;
    return code::success;
  } catch (const simulator::Error &error) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == code::jitErrorLog)
        std::snprintf(static_cast<char *>(values[i]), 8192, "line %u: %s", error.line, error.what());
    return code::invalidPtx;
  }
}
EXPORTED CuResult cuModuleGetFunction(CuFunction *function, CuModule module, const char *name) {
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return 500;
  *function = found->second.get();
  return code::success;
}
EXPORTED CuResult cuModuleUnload(CuModule module) {
  delete module;
  std::lock_guard<std::mutex> guard(lock);
  ++record.unloaded;
  return code::success;
}
EXPORTED CuResult cuFuncGetAttribute(int *value, int which, CuFunction) {
  *value = which == code::functionThreads ? 1024 : which == code::functionRegisters ? 32 : 0;
  return code::success;
}
EXPORTED CuResult cuFuncSetAttribute(CuFunction function, int which, int value) {
  if (which == code::functionSharedLimit)
    function->sharedLimit = value;
  return code::success;
}
EXPORTED CuResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CuFunction, int, size_t) {
  return *blocks = 2, code::success;
}

static CuResult runTold(const CuLaunchConfig &configuration, CuFunction function, void **parameters,
                        uint32_t correlation) {
  std::lock_guard<std::mutex> guard(lock);
  if (pending != code::success)
    return pending;
  if (!current)
    return 201;
  if (configuration.gridY > 65535 || configuration.gridZ > 65535 ||
      configuration.sharedBytes > static_cast<unsigned>(function->sharedLimit))
    return code::invalidValue;
  record.cooperative = record.serialized = 0;
  for (unsigned i = 0; i < configuration.attributeCount; ++i) {
    record.cooperative |= configuration.attributes[i].id == code::attributeCooperative;
    record.serialized |= configuration.attributes[i].id == code::attributeSerialized;
  }
  uint64_t blocks = uint64_t(configuration.gridX) * configuration.gridY * configuration.gridZ;
  if (record.cooperative && blocks > 8)
    return code::cooperativeTooLarge;
  mockCuptiKernel(correlation, current->device, reinterpret_cast<uint64_t>(configuration.stream),
                  function->info.name.c_str());
  simulator::Launch launch;
  launch.kernel = function->info.name;
  launch.grid = {configuration.gridX, configuration.gridY, configuration.gridZ};
  launch.block = {configuration.blockX, configuration.blockY, configuration.blockZ};
  launch.sharedBytes = configuration.sharedBytes;
  for (size_t i = 0; i < function->info.parameters.size(); ++i)
    launch.addBytes(parameters[i], function->info.parameters[i].size);
  for (const auto &[address, allocation] : allocations)
    if (allocation.device == current->device)
      launch.memory.push_back({reinterpret_cast<void *>(address), allocation.bytes, "memory", true});
  ++record.launches;
  record.stream = reinterpret_cast<uint64_t>(configuration.stream);
  record.device = current->device;
  unsigned grid[3] = {configuration.gridX, configuration.gridY, configuration.gridZ};
  std::copy(grid, grid + 3, record.grid);
  record.threads = configuration.blockX;
  record.sharedBytes = configuration.sharedBytes;
  std::snprintf(record.kernel, sizeof record.kernel, "%s", function->info.name.c_str());
  launch.print = [](std::string_view text) { printed += text; };
  try {
    simulator::Report report = function->owner->module->run(launch);
    if (!report.clean())
      pending = report.findings.front().kind == simulator::FindingKind::OutOfBounds ? illegalAddress : launchFailed;
  } catch (const simulator::Error &) {
    pending = launchFailed;
  }
  return code::success; // what happened is told later
}

static CuResult run(const CuLaunchConfig &configuration, CuFunction function, void **parameters) {
  uint32_t correlation = mockCuptiLaunch(); // its listeners may call us
  CuResult result = runTold(configuration, function, parameters, correlation);
  mockCuptiLaunched(correlation);
  return result;
}
EXPORTED CuResult cuLaunchKernelEx(const CuLaunchConfig *configuration, CuFunction function, void **parameters,
                                   void **) {
  return run(*configuration, function, parameters);
}
EXPORTED CuResult cuLaunchKernel(CuFunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                 unsigned blockY, unsigned blockZ, unsigned sharedBytes, CuStream stream,
                                 void **parameters, void **) {
  return run({gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, nullptr, 0}, function, parameters);
}

EXPORTED CuResult cuPointerGetAttributes(unsigned count, int *attributes, void **values, CuPointer address) {
  std::lock_guard<std::mutex> guard(lock);
  auto found = holding(address);
  for (unsigned i = 0; i < count; ++i)
    *static_cast<int *>(values[i]) = found == allocations.end()                 ? 0
                                     : attributes[i] == code::pointerMemoryType ? code::deviceMemory
                                                                                : found->second.device;
  return code::success;
}
EXPORTED CuResult cuMemAlloc(CuPointer *address, size_t bytes) {
  if (!current)
    return 201;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::lock_guard<std::mutex> guard(lock);
  *address = reinterpret_cast<CuPointer>(memory);
  allocations[*address] = {bytes, current->device};
  return code::success;
}
EXPORTED CuResult cuMemFree(CuPointer address) {
  std::lock_guard<std::mutex> guard(lock);
  if (!allocations.erase(address))
    return code::invalidValue;
  std::free(reinterpret_cast<void *>(address));
  return code::success;
}
EXPORTED CuResult cuMemAllocAsync(CuPointer *address, size_t bytes, CuStream) { return cuMemAlloc(address, bytes); }
EXPORTED CuResult cuMemFreeAsync(CuPointer address, CuStream) { return cuMemFree(address); }
EXPORTED CuResult cuMemcpyHtoD(CuPointer to, const void *from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return cuCtxSynchronize();
}
EXPORTED CuResult cuMemcpyDtoH(void *to, CuPointer from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return cuCtxSynchronize();
}

EXPORTED CuResult cuTensorMapEncodeTiled(CuTensorMap *map, int type, unsigned rank, void *address,
                                         const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                         const uint32_t *elementStrides, int interleave, int swizzle, int, int fill) {
  simulator::TensorMapParameters parameters;
  parameters.type = static_cast<simulator::TensorMapParameters::Type>(type);
  parameters.rank = rank;
  parameters.address = address;
  for (unsigned i = 0; i < std::min(rank, 5u); ++i) {
    parameters.sizes[i] = sizes[i];
    parameters.box[i] = box[i];
    parameters.elementStrides[i] = elementStrides[i];
    if (i > 0)
      parameters.strides[i - 1] = strides[i - 1];
  }
  parameters.interleave = static_cast<uint8_t>(interleave);
  parameters.swizzle = static_cast<simulator::TensorMapParameters::Swizzle>(swizzle);
  parameters.fillNaN = fill != 0;
  try {
    simulator::TensorMap made = simulator::encodeTensorMap(parameters);
    std::memcpy(map->bytes, made.data(), sizeof map->bytes);
    return code::success;
  } catch (const simulator::Error &) {
    return code::invalidValue;
  }
}

EXPORTED CuResult cuStreamIsCapturing(CuStream, int *isCapturing) { return *isCapturing = isCaptured, code::success; }
EXPORTED CuResult cuEventCreate(CuEvent *event, unsigned) { return *event = new CuEventObject, code::success; }
EXPORTED CuResult cuEventRecord(CuEvent event, CuStream) {
  std::lock_guard<std::mutex> guard(lock);
  event->time = nextTime++;
  return code::success;
}
EXPORTED CuResult cuEventQuery(CuEvent event) {
  constexpr CuResult notReady = 600;
  std::lock_guard<std::mutex> guard(lock);
  return event->time <= waitedUntil ? code::success : notReady;
}
EXPORTED CuResult cuEventSynchronize(CuEvent event) {
  std::lock_guard<std::mutex> guard(lock);
  return waitedUntil = std::max(waitedUntil, event->time), code::success;
}
EXPORTED CuResult cuEventElapsedTime(float *milliseconds, CuEvent begin, CuEvent end) {
  return *milliseconds = end->time - begin->time, code::success;
}

EXPORTED CuResult cuGetProcAddress_v2(const char *name, void **entry, int, uint64_t, void *) {
#define NACRE_CUDA_ENTRY(known, version, parameters)                                                                   \
  if (std::strcmp(name, #known) == 0)                                                                                  \
    return *entry = reinterpret_cast<void *>(&known), code::success;
  NACRE_CUDA_ENTRY_POINTS(NACRE_CUDA_ENTRY)
#undef NACRE_CUDA_ENTRY
  return invalidHandle;
}
