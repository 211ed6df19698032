// CUPTI for the mock of NVIDIA's driver, in the same library: tests make a link libcupti.so to it and name the folder.
// A kernel takes two microseconds and follows the last one. With NACRE_MOCK_CUPTI=refuse there is another subscriber.
#include "runtime/test/MockCupti.h"
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {
using Callback = void (*)(void *, int, uint32_t, const void *);
using BufferRequested = void (*)(uint8_t **, size_t *, size_t *);
using BufferCompleted = void (*)(void *, uint32_t, uint8_t *, size_t, size_t);

constexpr size_t recordBytes = 216, correlationInCall = 64;
constexpr uint32_t concurrentKernels = 10;
constexpr int otherSubscriber = 39, noMoreRecords = 12;

struct Kernel {
  uint32_t launch;
  int device;
  uint64_t stream;
  const char *name;
};
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
  if (told)
    told(data, 1, 307, call);
  return launch;
}

void mockCuptiKernel(uint32_t launch, int device, uint64_t stream, const char *name) {
  std::lock_guard<std::mutex> guard(lock);
  if (isEnabled)
    kernels.push_back({launch, device, stream, name});
}

EXPORTED int cuptiSubscribe(void **made, Callback callback, void *data) {
  const char *wish = std::getenv("NACRE_MOCK_CUPTI");
  std::lock_guard<std::mutex> guard(lock);
  if (subscriber || (wish && std::strcmp(wish, "refuse") == 0))
    return otherSubscriber;
  subscriber = callback;
  subscriberData = data;
  return *made = &subscriber, 0;
}
EXPORTED int cuptiUnsubscribe(void *) {
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
