// See Cupti.h.
#include "runtime/devices/cuda/Cupti.h"
#include "runtime/Knobs.h"
#include <dlfcn.h>

namespace nacre::cuda {

std::atomic<int> cuptiCapability{0};

static constexpr CuptiResult notPermitted = 35, otherSubscriber = 39;

static CuptiLibrary open() {
  CuptiLibrary made;
  void *library = nullptr;
  const std::string blackwell = knobString(KnobId::CuptiBlackwellFolder), toolkit = knobString(KnobId::CudaHome);
  const bool isBlackwell = cuptiCapability >= 100 && !blackwell.empty();
  const std::string folder = isBlackwell ? blackwell : knobString(KnobId::CuptiFolder);
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
  made.name = reinterpret_cast<CuptiResult(*) parameters>(dlsym(library, #name));                                      \
  if (!made.name)                                                                                                      \
    made.problem = "CUPTI has no " #name ": it is older than CUDA 11.6";
  NACRE_CUPTI_ENTRY_POINTS(NACRE_CUPTI_ENTRY)
#undef NACRE_CUPTI_ENTRY
  Dl_info where;
  if (made.cuptiSubscribe && dladdr(reinterpret_cast<void *>(made.cuptiSubscribe), &where) && where.dli_fname)
    made.path = where.dli_fname;
  return made;
}

const CuptiLibrary &cupti() {
  static const auto *library = new CuptiLibrary(open());
  return *library;
}

std::string describeCupti(CuptiResult result) {
  const char *text = nullptr;
  cupti().cuptiGetResultString(result, &text);
  std::string said = "CUPTI says " + std::string(text ? text : "error " + std::to_string(result));
  if (result == notPermitted)
    return said + ": the driver lets administrators alone profile; run as root, or load its module with "
                  "NVreg_RestrictProfilingToAdminUsers=0";
  if (result == otherSubscriber)
    return said + ": another profiler (Nsight, torch's, compute-sanitizer) uses it in this process; end that one first";
  return said;
}

} // namespace nacre::cuda
