// See NvtxRanges.h. The tables of the protocol hold places for the tool's functions, by number; it fills in those that
// it wants to hear of.
#include "profiler/NvtxRanges.h"
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace nacre::profiler {

namespace {

using Function = void (*)();

constexpr uint32_t callbackTable = 1;
constexpr int core = 1, domains = 5;                       // groups of functions
constexpr size_t rangePush = 9, rangePop = 11, count = 16; // of the first; both groups have as many

Function coreFunctions[count], domainFunctions[count];
// Each entry names the place of a function; the first has none.
Function *corePlaces[count + 1], *domainPlaces[count + 1];

int tableOf(int group, Function ***table, unsigned *size) {
  if (group != core && group != domains)
    return 0;
  *table = group == core ? corePlaces : domainPlaces;
  if (size)
    *size = count;
  return 1;
}

struct Callbacks {
  size_t size;
  int (*tableOf)(int, Function ***, unsigned *);
};

const void *exportedTable(uint32_t kind) {
  static const Callbacks callbacks = {sizeof(Callbacks), tableOf};
  return kind == callbackTable ? &callbacks : nullptr;
}

using Initialize = int (*)(const void *(*)(uint32_t));

// The path of a tool's library; null: none, or CUPTI's, which our own profiler names to read the program's ranges.
const char *toolPath() {
  const char *path = std::getenv("NVTX_INJECTION64_PATH");
  return path && *path && !std::strstr(path, "libcupti") ? path : nullptr;
}

// Of a library that is in the process already.
Initialize presentTool() {
  if (void *preloaded = dlsym(RTLD_DEFAULT, "InitializeInjectionNvtx2Preinject"))
    return reinterpret_cast<Initialize>(preloaded);
  void *linked = dlsym(RTLD_DEFAULT, "InitializeInjectionNvtx2_fnptr"); // a variable
  return linked ? *static_cast<Initialize *>(linked) : nullptr;
}

// The tool's library has been told where its functions go; once, at the first range.
bool attach() {
  for (size_t i = 1; i < count; ++i) {
    corePlaces[i] = &coreFunctions[i];
    domainPlaces[i] = &domainFunctions[i];
  }
  const char *path = toolPath();
  void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : nullptr;
  auto initialize = library ? reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2")) : nullptr;
  if (!initialize)
    initialize = presentTool();
  return initialize && initialize(exportedTable) == 1;
}

bool isAttached() {
  static const bool isDone = attach();
  return isDone;
}

} // namespace

std::atomic<bool> NvtxRanges::wanted{toolPath() != nullptr};

bool NvtxRanges::look() {
  if (!isOn() && (toolPath() || presentTool()))
    wanted = true;
  return isOn();
}

void NvtxRanges::push(std::string_view name) {
  if (isAttached() && coreFunctions[rangePush])
    reinterpret_cast<int (*)(const char *)>(coreFunctions[rangePush])(std::string(name).c_str());
}

void NvtxRanges::pop() {
  if (isAttached() && coreFunctions[rangePop])
    reinterpret_cast<int (*)()>(coreFunctions[rangePop])();
}

} // namespace nacre::profiler
