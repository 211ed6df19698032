// See KernelTrace.h.
#include "runtime/devices/cuda/KernelTrace.h"
#include "runtime/Events.h"
#include "runtime/Knobs.h"
#include "runtime/devices/cuda/CudaDevice.h"
#include "runtime/devices/cuda/Cupti.h"
#include "runtime/devices/cuda/PcSampling.h"
#include "llvm/Demangle/Demangle.h"
#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace nacre::cuda {

namespace {

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

struct ResourceData {
  void *context, *handle;
  const void *description;
};

struct GraphData {
  void *graph, *originalGraph, *node, *originalNode;
  uint32_t nodeType; // 0: a kernel
};

struct ModuleData {
  uint32_t id;
  size_t bytes;
  const void *cubin;
};

struct NvtxData {
  const char *function;
  const void *parameters, *result;
};

// A range's description by NVTX.
struct NvtxAttributes {
  char before[32];
  int32_t messageType; // 1: a text
  const char *message;
};
static_assert(offsetof(NvtxAttributes, message) == 40);

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

constexpr uint32_t concurrentKernels = 10;
constexpr int driverCalls = 1, runtimeCalls = 2, resourceCalls = 3, nvtxCalls = 5;
constexpr uint32_t moduleLoaded = 6, graphNodeCreated = 13, graphNodeCloned = 20;
// NVTX: pushes of a text, of a description, of one in a domain; pops, in a domain too.
constexpr uint32_t pushText = 8, pushDescribed = 10, pop = 11, pushInDomain = 33, popInDomain = 34;
// Of the functions that launch, each with its twin for per-thread streams: cuLaunchKernel, cuLaunchCooperativeKernel,
// cuGraphLaunch, cuLaunchKernelEx; cudaLaunchKernel, cudaLaunchCooperativeKernel, cudaGraphLaunch, cudaLaunchKernelExC.
constexpr uint32_t driverLaunches[] = {307, 442, 477, 478, 514, 515, 652, 653};
constexpr uint32_t runtimeLaunches[] = {211, 214, 269, 270, 311, 312, 430, 431};

std::mutex lock; // guards the subscriber
CuptiSubscriber subscriber = nullptr;
std::atomic<bool> isTracing = false;

void onLaunch(const CallbackData &call) {
  if (call.site == 0) {
    events::tell(KernelEvents, [&](EventListener &listener) { listener.kernelLaunched(call.correlation); });
    PcSampling::launchBegins(call.context);
  } else {
    PcSampling::launchEnds(call.context);
  }
}

void onGraphNode(const GraphData &graph, bool isCopy) {
  constexpr uint32_t kernel = 0;
  uint64_t node = 0, original = 0;
  if (graph.nodeType != kernel || cupti().cuptiGetGraphNodeId(graph.node, &node) != 0)
    return;
  if (isCopy && cupti().cuptiGetGraphNodeId(graph.originalNode, &original) != 0)
    return;
  events::tell(KernelEvents, [&](EventListener &listener) { listener.kernelCaptured(node, original); });
}

void onRange(uint32_t function, const NvtxData &data) {
  const char *text = nullptr;
  auto described = [](const void *parameter) -> const char * {
    auto *attributes = *static_cast<const NvtxAttributes *const *>(parameter);
    return attributes && attributes->messageType == 1 ? attributes->message : nullptr;
  };
  if (function == pop || function == popInDomain) {
    events::tell(KernelEvents, [&](EventListener &listener) { listener.rangeEnd(); });
    return;
  }
  if (function == pushText)
    text = *static_cast<const char *const *>(data.parameters);
  else if (function == pushDescribed)
    text = described(data.parameters);
  else if (function == pushInDomain)
    text = described(static_cast<const void *const *>(data.parameters) + 1);
  events::tell(KernelEvents, [&](EventListener &listener) { listener.rangeBegin(text ? text : "range"); });
}

void onCall(void *, int domain, uint32_t function, const void *data) {
  if (domain == driverCalls || domain == runtimeCalls) {
    onLaunch(*static_cast<const CallbackData *>(data));
  } else if (domain == nvtxCalls) {
    onRange(function, *static_cast<const NvtxData *>(data));
  } else if (domain == resourceCalls) {
    const void *described = static_cast<const ResourceData *>(data)->description;
    if (function == graphNodeCreated || function == graphNodeCloned)
      onGraphNode(*static_cast<const GraphData *>(described), function == graphNodeCloned);
    else if (function == moduleLoaded)
      PcSampling::moduleLoaded(static_cast<const ModuleData *>(described)->cubin,
                               static_cast<const ModuleData *>(described)->bytes);
  }
}

void onBufferRequested(uint8_t **buffer, size_t *bytes, size_t *records) {
  size_t wanted = static_cast<size_t>(std::max<int64_t>(knobInteger(KnobId::ProfileBufferBytes), 4096)) & ~size_t(7);
  *buffer = static_cast<uint8_t *>(std::aligned_alloc(8, wanted));
  *bytes = *buffer ? wanted : 0;
  *records = 0; // as many as there is room for
}

void onBufferCompleted(void *, uint32_t, uint8_t *buffer, size_t, size_t used) {
  uint32_t *record = nullptr;
  while (used > 0 && cupti().cuptiActivityGetNextRecord(buffer, used, &record) == 0) {
    if (*record != concurrentKernels)
      continue;
    auto &kernel = *reinterpret_cast<const KernelRecord *>(record);
    if (kernel.begin == 0 || kernel.end < kernel.begin)
      continue; // the GPU had no memory to note it
    std::string name = llvm::demangle(kernel.name ? kernel.name : "");
    DeviceKernel told{kernel.correlation, name,         driver().device(static_cast<int>(kernel.device)),
                      kernel.stream,      kernel.begin, kernel.end,
                      kernel.graphNode};
    events::tell(KernelEvents, [&](EventListener &listener) { listener.kernelRan(told); });
  }
  std::free(buffer);
}

uint64_t steadyClock() { return events::now(); }

} // namespace

std::string KernelTrace::start(uint32_t sampleCycles) {
  std::lock_guard<std::mutex> guard(lock);
  if (subscriber)
    return sampleCycles ? PcSampling::start(sampleCycles) : "";
  const CuptiLibrary &library = cupti();
  if (!library.problem.empty())
    return library.problem;
  // NVTX asks whom to tell when a program marks its first range.
  if (knobBoolean(KnobId::NvtxRanges) && !library.path.empty())
    setenv("NVTX_INJECTION64_PATH", library.path.c_str(), /*overwrite=*/0);
  CuptiSubscriber made = nullptr;
  if (CuptiResult result = library.cuptiSubscribe(&made, onCall, nullptr))
    return describeCupti(result);
  auto undo = [&](CuptiResult result) {
    library.cuptiUnsubscribe(made);
    return describeCupti(result);
  };
  auto enable = [&](int domain, llvm::ArrayRef<uint32_t> functions) -> CuptiResult {
    for (uint32_t function : functions)
      if (CuptiResult result = library.cuptiEnableCallback(1, made, domain, function))
        return result;
    return 0;
  };
  if (CuptiResult result = enable(driverCalls, driverLaunches))
    return undo(result);
  if (CuptiResult result = enable(runtimeCalls, runtimeLaunches))
    return undo(result);
  if (CuptiResult result = enable(resourceCalls, {moduleLoaded, graphNodeCreated, graphNodeCloned}))
    return undo(result);
  if (knobBoolean(KnobId::NvtxRanges))
    enable(nvtxCalls,
           {pushText, pushDescribed, pop, pushInDomain, popInDomain}); // where it cannot, there are no ranges
  library.cuptiActivityRegisterTimestampCallback(steadyClock);         // where it cannot, times are of another clock
  if (CuptiResult result = library.cuptiActivityRegisterCallbacks(onBufferRequested, onBufferCompleted))
    return undo(result);
  if (CuptiResult result = library.cuptiActivityEnable(concurrentKernels))
    return undo(result);
  subscriber = made;
  isTracing = true;
  return sampleCycles ? PcSampling::start(sampleCycles) : "";
}

void KernelTrace::stop() {
  std::lock_guard<std::mutex> guard(lock);
  if (!subscriber)
    return;
  isTracing = false;
  PcSampling::stop();
  cupti().cuptiActivityFlushAll(0);
  cupti().cuptiActivityDisable(concurrentKernels);
  cupti().cuptiUnsubscribe(subscriber);
  subscriber = nullptr;
}

bool KernelTrace::isOn() { return isTracing.load(std::memory_order_relaxed); }

void KernelTrace::tellEnded() {
  if (isOn())
    cupti().cuptiActivityFlushAll(0);
}

} // namespace nacre::cuda
