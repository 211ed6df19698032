// See TorchStream.h.
#include "runtime/devices/cuda/TorchStream.h"
#include <atomic>
#include <dlfcn.h>

namespace nacre::cuda {

namespace {
// Part of the C interface that torch keeps stable (AOTInductor's).
using GetStream = int32_t (*)(int32_t device, void **stream);
std::atomic<GetStream> getStream = nullptr;
} // namespace

void lookForTorch() {
  if (getStream.load(std::memory_order_relaxed))
    return;
  void *library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return;
  getStream = reinterpret_cast<GetStream>(dlsym(library, "aoti_torch_get_current_cuda_stream"));
  dlclose(library); // whoever loaded it keeps it
}

uint64_t torchStream(int device) {
  GetStream get = getStream.load(std::memory_order_acquire);
  void *stream = nullptr;
  if (!get || get(device, &stream) != 0)
    return 0;
  return reinterpret_cast<uint64_t>(stream);
}

} // namespace nacre::cuda
