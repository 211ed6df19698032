// See KernelTrace.h. What CUPTI's headers declare is declared here as far as it is used; these parts of its records
// have been the same from CUDA 11 to CUDA 13.
#include "runtime/devices/cuda/KernelTrace.h"
#include "runtime/Events.h"
#include "runtime/Knobs.h"
#include "runtime/devices/cuda/CudaDevice.h"
#include "llvm/Demangle/Demangle.h"
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace nacre::cuda {

namespace {

using Result = int;
using Subscriber = void *;

struct CallbackData {
  int site; // 0: the call begins
  const char *functionName;
  const void *parameters;
  void *returnValue;
  const char *symbolName;
  void *context;
  uint32_t contextId;
  uint64_t *data;
  uint32_t correlation;
};

struct KernelRecord {
  uint32_t kind;
  char configuration[12];
  uint64_t begin, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3], staticShared, dynamicShared;
  uint32_t localBytes, localTotal, correlation;
  int64_t gridId;
  const char *name;
  char more[32];
  uint64_t graphNode;
};
static_assert(offsetof(CallbackData, correlation) == 64 && offsetof(KernelRecord, begin) == 16 &&
              offsetof(KernelRecord, correlation) == 92 && offsetof(KernelRecord, name) == 104 &&
              offsetof(KernelRecord, graphNode) == 144);

using Callback = void (*)(void *, int domain, uint32_t function, const void *data);
using BufferRequested = void (*)(uint8_t **buffer, size_t *bytes, size_t *records);
using BufferCompleted = void (*)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t used);
using Clock = uint64_t (*)();

constexpr uint32_t concurrentKernels = 10;
constexpr int driverCalls = 1, runtimeCalls = 2;
constexpr Result notPermitted = 35, otherSubscriber = 39;
// Of the functions that launch, each with its twin for per-thread streams: cuLaunchKernel, cuLaunchCooperativeKernel,
// cuGraphLaunch, cuLaunchKernelEx; cudaLaunchKernel, cudaLaunchCooperativeKernel, cudaGraphLaunch, cudaLaunchKernelExC.
constexpr uint32_t driverLaunches[] = {307, 442, 477, 478, 514, 515, 652, 653};
constexpr uint32_t runtimeLaunches[] = {211, 214, 269, 270, 311, 312, 430, 431};

#define NACRE_CUPTI_ENTRY_POINTS(ENTRY)                                                                                \
  ENTRY(cuptiSubscribe, (Subscriber *, Callback, void *))                                                              \
  ENTRY(cuptiUnsubscribe, (Subscriber))                                                                                \
  ENTRY(cuptiEnableCallback, (uint32_t, Subscriber, int, uint32_t))                                                    \
  ENTRY(cuptiActivityRegisterCallbacks, (BufferRequested, BufferCompleted))                                            \
  ENTRY(cuptiActivityRegisterTimestampCallback, (Clock))                                                               \
  ENTRY(cuptiActivityEnable, (uint32_t))                                                                               \
  ENTRY(cuptiActivityDisable, (uint32_t))                                                                              \
  ENTRY(cuptiActivityFlushAll, (uint32_t))                                                                             \
  ENTRY(cuptiActivityGetNextRecord, (uint8_t *, size_t, uint32_t **))                                                  \
  ENTRY(cuptiGetResultString, (Result, const char **))

struct Library {
#define NACRE_CUPTI_ENTRY(name, parameters) Result(*name) parameters = nullptr;
  NACRE_CUPTI_ENTRY_POINTS(NACRE_CUPTI_ENTRY)
#undef NACRE_CUPTI_ENTRY
  std::string problem; // empty: it can be used
};

Library open() {
  Library made;
  void *library = nullptr;
  const std::string folder = knobString(KnobId::CuptiFolder), toolkit = knobString(KnobId::CudaHome);
  if (!folder.empty()) {
    library = dlopen((folder + "/libcupti.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  } else {
    // The one that the process has already (torch's), for there cannot be two; then the toolkit's.
    for (const char *name : {"libcupti.so.13", "libcupti.so.12"})
      library = library ? library : dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    std::string home = toolkit.empty() ? "/usr/local/cuda" : toolkit;
    for (const std::string &path :
         {home + "/lib64/libcupti.so", home + "/extras/CUPTI/lib64/libcupti.so", home + "/lib/libcupti.so",
          std::string("libcupti.so.13"), std::string("libcupti.so.12"), std::string("libcupti.so")})
      library = library ? library : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) {
    made.problem = "CUPTI, a library of CUDA's toolkit, cannot be opened (" + std::string(dlerror()) +
                   "); TRITON_CUPTI_LIB_PATH names its folder, and `pip install nvidia-cuda-cupti` has it";
    return made;
  }
#define NACRE_CUPTI_ENTRY(name, parameters)                                                                            \
  made.name = reinterpret_cast<Result(*) parameters>(dlsym(library, #name));                                           \
  if (!made.name)                                                                                                      \
    made.problem = "CUPTI has no " #name ": it is older than CUDA 11.6";
  NACRE_CUPTI_ENTRY_POINTS(NACRE_CUPTI_ENTRY)
#undef NACRE_CUPTI_ENTRY
  return made;
}

const Library &opened() {
  static const auto *library = new Library(open());
  return *library;
}

std::string describe(Result result) {
  const char *text = nullptr;
  opened().cuptiGetResultString(result, &text);
  std::string said = "CUPTI says " + std::string(text ? text : "error " + std::to_string(result));
  if (result == notPermitted)
    return said + ": the driver lets administrators alone profile; run as root, or load its module with "
                  "NVreg_RestrictProfilingToAdminUsers=0";
  if (result == otherSubscriber)
    return said + ": another profiler (Nsight, torch's, compute-sanitizer) uses it in this process; end that one first";
  return said;
}

std::mutex lock; // guards the subscriber
Subscriber subscriber = nullptr;
std::atomic<bool> isTracing = false;

void onLaunch(void *, int, uint32_t, const void *data) {
  auto &call = *static_cast<const CallbackData *>(data);
  if (call.site == 0)
    events::tell(KernelEvents, [&](EventListener &listener) { listener.kernelLaunched(call.correlation); });
}

constexpr size_t bufferBytes = size_t(1) << 20;

void onBufferRequested(uint8_t **buffer, size_t *bytes, size_t *records) {
  *buffer = static_cast<uint8_t *>(std::aligned_alloc(8, bufferBytes));
  *bytes = *buffer ? bufferBytes : 0;
  *records = 0; // as many as there is room for
}

void onBufferCompleted(void *, uint32_t, uint8_t *buffer, size_t, size_t used) {
  uint32_t *record = nullptr;
  while (used > 0 && opened().cuptiActivityGetNextRecord(buffer, used, &record) == 0) {
    if (*record != concurrentKernels)
      continue;
    auto &kernel = *reinterpret_cast<const KernelRecord *>(record);
    if (kernel.begin == 0 || kernel.end < kernel.begin)
      continue; // the GPU had no memory to note it
    std::string name = llvm::demangle(kernel.name ? kernel.name : "");
    DeviceKernel told{kernel.correlation,   name,         driver().device(static_cast<int>(kernel.device)),
                      kernel.stream,        kernel.begin, kernel.end,
                      kernel.graphNode != 0};
    events::tell(KernelEvents, [&](EventListener &listener) { listener.kernelRan(told); });
  }
  std::free(buffer);
}

uint64_t steadyClock() { return events::now(); }

} // namespace

std::string KernelTrace::start() {
  std::lock_guard<std::mutex> guard(lock);
  if (subscriber)
    return "";
  const Library &library = opened();
  if (!library.problem.empty())
    return library.problem;
  Subscriber made = nullptr;
  if (Result result = library.cuptiSubscribe(&made, onLaunch, nullptr))
    return describe(result);
  auto undo = [&](Result result) {
    library.cuptiUnsubscribe(made);
    return describe(result);
  };
  for (uint32_t function : driverLaunches)
    if (Result result = library.cuptiEnableCallback(1, made, driverCalls, function))
      return undo(result);
  for (uint32_t function : runtimeLaunches)
    if (Result result = library.cuptiEnableCallback(1, made, runtimeCalls, function))
      return undo(result);
  library.cuptiActivityRegisterTimestampCallback(steadyClock); // where it cannot, times are of another clock
  if (Result result = library.cuptiActivityRegisterCallbacks(onBufferRequested, onBufferCompleted))
    return undo(result);
  if (Result result = library.cuptiActivityEnable(concurrentKernels))
    return undo(result);
  subscriber = made;
  isTracing = true;
  return "";
}

void KernelTrace::stop() {
  std::lock_guard<std::mutex> guard(lock);
  if (!subscriber)
    return;
  isTracing = false;
  opened().cuptiActivityFlushAll(0);
  opened().cuptiActivityDisable(concurrentKernels);
  opened().cuptiUnsubscribe(subscriber);
  subscriber = nullptr;
}

bool KernelTrace::isOn() { return isTracing.load(std::memory_order_relaxed); }

void KernelTrace::tellEnded() {
  if (isOn())
    opened().cuptiActivityFlushAll(0);
}

} // namespace nacre::cuda
