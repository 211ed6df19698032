// CUPTI for the mock of NVIDIA's driver, in the same library: tests make a link libcupti.so to it and name the folder.
// A kernel takes two microseconds and follows the last one. With NACRE_MOCK_CUPTI=refuse there is another subscriber.
// A child of a fork must not call it: the process ends. What the mock of the driver has not (graphs, ranges of NVTX) tests ask for by functions of its own.
#include "runtime/test/MockCupti.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {
using Callback = void (*)(void *, int, uint32_t, const void *);
using BufferRequested = void (*)(uint8_t **, size_t *, size_t *);
using BufferCompleted = void (*)(void *, uint32_t, uint8_t *, size_t, size_t);

constexpr size_t recordBytes = 216, correlationInCall = 64;
constexpr uint32_t concurrentKernels = 10;
constexpr int otherSubscriber = 39, noMoreRecords = 12;

pid_t subscribedIn = 0;

struct Kernel {
  uint32_t launch;
  int device;
  uint64_t stream;
  const char *name;
  uint64_t node = 0;
};
void endInChild() {
  if (subscribedIn != 0 && subscribedIn != getpid()) {
    std::fputs("CUPTI was called in a child of a fork\n", stderr);
    std::abort();
  }
}

std::mutex lock; // guards what follows
Callback subscriber = nullptr;
void *subscriberData = nullptr;
BufferRequested requested = nullptr;
BufferCompleted completed = nullptr;
bool isEnabled = false;
std::vector<Kernel> kernels;
uint64_t gpuTime = 1000000;
uint32_t launches = 0;

template <typename T> void put(uint8_t *record, size_t offset, T value) {
  std::memcpy(record + offset, &value, sizeof value);
}
} // namespace

uint32_t mockCuptiLaunch() {
  Callback told;
  void *data;
  uint32_t launch;
  {
    std::lock_guard<std::mutex> guard(lock);
    told = subscriber;
    data = subscriberData;
    launch = ++launches;
  }
  alignas(8) uint8_t call[correlationInCall + 8] = {};
  put(call, correlationInCall, launch);
  put(call, 40, &subscriber); // a context
  if (told)
    told(data, 1, 307, call);
  return launch;
}

// The call that launched has come back.
void mockCuptiLaunched(uint32_t launch) {
  Callback told;
  void *data;
  {
    std::lock_guard<std::mutex> guard(lock);
    told = subscriber;
    data = subscriberData;
  }
  alignas(8) uint8_t call[correlationInCall + 8] = {};
  put(call, 0, 1);
  put(call, correlationInCall, launch);
  put(call, 40, &subscriber);
  if (told)
    told(data, 1, 307, call);
}

void mockCuptiKernel(uint32_t launch, int device, uint64_t stream, const char *name) {
  std::lock_guard<std::mutex> guard(lock);
  if (isEnabled)
    kernels.push_back({launch, device, stream, name});
}

// A kernel is captured as a node, or a node is a copy of another one.
EXPORTED void nacreMockGraphNode(uint64_t node, uint64_t original) {
  struct {
    void *graph, *originalGraph;
    uint64_t node, original;
    uint32_t type;
  } graph = {nullptr, nullptr, node, original, 0};
  struct {
    void *context, *handle, *description;
  } resource = {nullptr, nullptr, &graph};
  if (subscriber)
    subscriber(subscriberData, 3, original ? 20 : 13, &resource);
}
EXPORTED void nacreMockReplay(uint64_t node) {
  uint32_t launch = mockCuptiLaunch();
  std::lock_guard<std::mutex> guard(lock);
  kernels.push_back({launch, 0, 0, "of_a_graph", node});
}
// A range begins; without a name: the last one ends.
EXPORTED void nacreMockRange(const char *name) {
  struct {
    const char *function;
    const void *parameters, *result;
  } call = {nullptr, &name, nullptr};
  if (subscriber)
    subscriber(subscriberData, 5, name ? 8 : 11, &call);
}
EXPORTED int cuptiGetGraphNodeId(void *node, uint64_t *id) { return *id = reinterpret_cast<uint64_t>(node), 0; }

// ---- Samples: each launch is found five times at its first instruction, and waits for memory in three of them.

EXPORTED int cuptiPCSamplingEnable(void *) {
  const char *wish = std::getenv("NACRE_MOCK_CUPTI");
  return wish && std::strcmp(wish, "no samples") == 0 ? 35 : 0;
}
EXPORTED int cuptiPCSamplingDisable(void *) { return 0; }
EXPORTED int cuptiPCSamplingStart(void *) { return 0; }
// Of the buffer that was configured; samples are there after a stop, and there are no more of them.
static uint8_t *samples = nullptr;
EXPORTED int cuptiPCSamplingSetConfigurationAttribute(void *call) {
  constexpr uint32_t bufferAttribute = 8;
  size_t count = *reinterpret_cast<size_t *>(static_cast<char *>(call) + 24);
  auto *attributes = *reinterpret_cast<uint8_t **>(static_cast<char *>(call) + 32);
  for (size_t i = 0; i < count; ++i)
    if (*reinterpret_cast<uint32_t *>(attributes + 32 * i) == bufferAttribute)
      samples = *reinterpret_cast<uint8_t **>(attributes + 32 * i + 8);
  return 0;
}
EXPORTED int cuptiPCSamplingGetNumStallReasons(void *call) {
  return **reinterpret_cast<size_t **>(static_cast<char *>(call) + 24) = 2, 0;
}
EXPORTED int cuptiPCSamplingGetStallReasons(void *call) {
  auto **fields = reinterpret_cast<void **>(static_cast<char *>(call) + 24);
  auto *indices = static_cast<uint32_t *>(fields[1]);
  auto **names = static_cast<char **>(fields[2]);
  indices[0] = 7, indices[1] = 8;
  std::strcpy(names[0], "smsp__pcsamp_warps_issue_stalled_long_scoreboard");
  std::strcpy(names[1], "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued");
  return 0;
}
EXPORTED int cuptiPCSamplingStop(void *) {
  auto *pc = *reinterpret_cast<uint8_t **>(samples + 56);
  auto *stalls = *reinterpret_cast<uint32_t **>(pc + 48);
  put<size_t>(samples, 32, 1);
  put<size_t>(samples, 40, 0);
  put<uint64_t>(pc, 8, 99);
  put<const char *>(pc, 32, "add");
  put<size_t>(pc, 40, 2);
  stalls[0] = 7, stalls[1] = 5, stalls[2] = 8, stalls[3] = 3;
  return 0;
}
EXPORTED int cuptiPCSamplingGetData(void *call) {
  auto *data = *reinterpret_cast<uint8_t **>(static_cast<char *>(call) + 24);
  put<size_t>(data, 32, 0);
  return 0;
}
EXPORTED int cuptiGetCubinCrc(void *call) {
  put<uint64_t>(static_cast<uint8_t *>(call), 24, 99);
  return 0;
}
EXPORTED int cuptiGetSassToSourceCorrelation(void *call) {
  put<uint32_t>(static_cast<uint8_t *>(call), 32, 12);
  put(static_cast<uint8_t *>(call), 48, strdup("kernels.py"));
  put(static_cast<uint8_t *>(call), 56, strdup("/somewhere"));
  return 0;
}
EXPORTED void nacreMockModule() {
  static const char cubin[] = "cubin";
  struct {
    uint32_t id;
    size_t bytes;
    const void *cubin;
  } module = {1, sizeof cubin, cubin};
  struct {
    void *context, *handle, *description;
  } resource = {nullptr, nullptr, &module};
  if (subscriber)
    subscriber(subscriberData, 3, 6, &resource);
}

EXPORTED int cuptiSubscribe(void **made, Callback callback, void *data) {
  const char *wish = std::getenv("NACRE_MOCK_CUPTI");
  endInChild();
  std::lock_guard<std::mutex> guard(lock);
  if (subscriber || (wish && std::strcmp(wish, "refuse") == 0))
    return otherSubscriber;
  subscriber = callback;
  subscriberData = data;
  subscribedIn = getpid();
  return *made = &subscriber, 0;
}
EXPORTED int cuptiUnsubscribe(void *) {
  endInChild();
  std::lock_guard<std::mutex> guard(lock);
  return subscriber = nullptr, 0;
}
EXPORTED int cuptiEnableCallback(uint32_t, void *, int, uint32_t) { return 0; }
EXPORTED int cuptiActivityRegisterCallbacks(BufferRequested request, BufferCompleted complete) {
  return requested = request, completed = complete, 0;
}
EXPORTED int cuptiActivityRegisterTimestampCallback(uint64_t (*now)()) {
  std::lock_guard<std::mutex> guard(lock);
  return gpuTime = now(), 0;
}
EXPORTED int cuptiActivityEnable(uint32_t kind) { return isEnabled = kind == concurrentKernels, 0; }
EXPORTED int cuptiActivityDisable(uint32_t) { return isEnabled = false, 0; }
EXPORTED int cuptiActivityFlushAll(uint32_t) {
  endInChild();
  std::vector<Kernel> ended;
  {
    std::lock_guard<std::mutex> guard(lock);
    ended.swap(kernels);
  }
  for (const Kernel &kernel : ended) {
    uint8_t *record = nullptr;
    size_t bytes = 0, most = 0;
    requested(&record, &bytes, &most);
    std::memset(record, 0, recordBytes);
    put(record, 0, concurrentKernels);
    put(record, 16, gpuTime);
    put(record, 24, gpuTime += 2000);
    put(record, 40, kernel.device);
    put(record, 48, static_cast<uint32_t>(kernel.stream));
    put(record, 92, kernel.launch);
    put(record, 104, kernel.name);
    put(record, 144, kernel.node);
    completed(nullptr, 0, record, bytes, recordBytes);
  }
  return 0;
}
EXPORTED int cuptiActivityGetNextRecord(uint8_t *buffer, size_t, uint8_t **record) {
  return *record ? noMoreRecords : (*record = buffer, 0);
}
EXPORTED int cuptiGetResultString(int result, const char **text) {
  static thread_local std::string held;
  held = result == otherSubscriber ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "error";
  return *text = held.c_str(), 0;
}

// ---- NVTX: as a tool that this process runs under hears of ranges.

static int pushed(const char *name) { return std::printf("range %s\n", name), std::fflush(stdout), 0; }
static int popped() { return std::printf("range ends\n"), std::fflush(stdout), 0; }
EXPORTED int InitializeInjectionNvtx2(const void *(*tables)(uint32_t)) {
  struct Callbacks {
    size_t size;
    int (*tableOf)(int, void ***, unsigned *);
  };
  auto *callbacks = static_cast<const Callbacks *>(tables(1));
  void **table = nullptr;
  unsigned size = 0;
  if (!callbacks || callbacks->tableOf(1, &table, &size) != 1 || size < 16)
    return 0;
  *static_cast<int (**)(const char *)>(table[9]) = pushed;
  *static_cast<int (**)()>(table[11]) = popped;
  return 1;
}
