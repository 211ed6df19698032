// See DriverLibrary.h.
#include "runtime/devices/cuda/DriverLibrary.h"
#include "compiler/support/ForkSafety.h"
#include "runtime/Device.h"
#include "runtime/Knobs.h"
#include <atomic>
#include <dlfcn.h>
#include <mutex>

namespace nacre::cuda {

namespace {

struct Opened {
  DriverLibrary entries;
  std::string problem; // empty: it is open and started
};

std::atomic<const Opened *> opened = nullptr;
std::atomic<bool> forked = false;
const char *const forkProblem =
    "this process was forked from one that had used CUDA; start it with multiprocessing's spawn";

// cuGetProcAddress gives an entry point of at most the version that is asked for.
using GetProcAddress = CuResult (*)(const char *, void **, int, uint64_t, void *);

std::string find(void *library, DriverLibrary &entries) {
  auto getProcAddress = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (!getProcAddress)
    return "it is older than CUDA 12; install a newer driver";
#define NACRE_CUDA_ENTRY(name, version, parameters)                                                                    \
  {                                                                                                                    \
    void *found = nullptr;                                                                                             \
    if (getProcAddress(#name, &found, version, 0, nullptr) != code::success || !found)                                 \
      return "it has no " #name "; install a newer driver";                                                            \
    entries.name = reinterpret_cast<CuResult(*) parameters>(found);                                                    \
  }
  NACRE_CUDA_ENTRY_POINTS(NACRE_CUDA_ENTRY)
#undef NACRE_CUDA_ENTRY
  return "";
}

std::string libraryPath() {
  std::string path = knobString(KnobId::CudaDriver);
  return path.empty() ? "libcuda.so.1" : path;
}

const Opened *open() {
  auto *made = new Opened;
  std::string path = libraryPath();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    made->problem = "NVIDIA's driver cannot be opened (" + std::string(dlerror()) + ")";
    return made;
  }
  if (std::string problem = find(library, made->entries); !problem.empty()) {
    made->problem = "NVIDIA's driver " + path + " cannot be used: " + problem;
    return made;
  }
  // That is what it says in a child of a process where somebody else had started it.
  if (CuResult result = made->entries.cuInit(0); result == code::notInitialized)
    made->problem = forkProblem;
  else if (result != code::success)
    made->problem = "NVIDIA's driver does not start: " + made->entries.describe(result);
  return made;
}

} // namespace

std::string DriverLibrary::describe(CuResult result) const {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  return std::string(name ? name : "error " + std::to_string(result)) + (text ? ": " + std::string(text) : "");
}

bool isStarted() {
  if (openedDriverLibrary())
    return true;
  if (isForked())
    return false;
  void *library = dlopen(libraryPath().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library)
    return false;
  auto getCount = reinterpret_cast<CuResult (*)(int *)>(dlsym(library, "cuDeviceGetCount"));
  int count = 0;
  bool answers = getCount && getCount(&count) == code::success;
  dlclose(library); // whoever opened it has it still
  return answers;
}

void markForkedChildren() {
  onFork([] {
    const Opened *before = opened.load();
    forked = before && before->problem.empty();
    if (forked)
      forgetMemory();
  });
}

bool isForked() { return forked.load(std::memory_order_relaxed); }

const DriverLibrary *openedDriverLibrary() {
  const Opened *known = opened.load(std::memory_order_acquire);
  return known && known->problem.empty() && !isForked() ? &known->entries : nullptr;
}

const DriverLibrary *driverLibrary(std::string *why) {
  if (isForked()) {
    if (why)
      *why = forkProblem;
    return nullptr;
  }
  const Opened *known = opened.load(std::memory_order_acquire);
  if (!known) {
    static ProcessLock lock;
    std::lock_guard<ProcessLock> guard(lock);
    known = opened.load(std::memory_order_acquire);
    if (!known) {
      known = open();
      opened.store(known, std::memory_order_release);
    }
  }
  if (why)
    *why = known->problem;
  return known->problem.empty() ? &known->entries : nullptr;
}

} // namespace nacre::cuda
