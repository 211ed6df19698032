#include "runtime/devices/cpu/LastWords.h"
#include "compiler/support/ForkSafety.h"
#include "runtime/threads/FencedMemory.h"
#include <atomic>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace nacre {

namespace {

// Away from the heap, which may be damaged. Handlers read it without a lock: a name may be half written, and ends.
struct RecentKernels {
  static constexpr unsigned count = 8, length = 64;
  std::atomic<const char *> last = nullptr; // compared, never read through
  std::atomic<unsigned> noted = 0;
  char names[count][length] = {};
};

std::atomic<RecentKernels *> recent = nullptr;

__attribute__((noinline)) RecentKernels *firstLaunch() {
  static RecentKernels *made = [] {
    auto *kernels = newFenced<RecentKernels>();
    onFork([] { recent.store(nullptr); });
    recent.store(kernels);
    return kernels;
  }();
  return made;
}

} // namespace

void noteLaunch(const char *kernel) {
  static RecentKernels *kernels = firstLaunch();
  if (kernels->last.load(std::memory_order_relaxed) == kernel)
    return;
  kernels->last.store(kernel, std::memory_order_relaxed);
  char *name = kernels->names[kernels->noted.fetch_add(1, std::memory_order_relaxed) % RecentKernels::count];
  std::strncpy(name, kernel, RecentKernels::length - 1);
}

namespace {
// What glibc leaves for debuggers before it aborts: the size of the mapping, and the text that it printed.
struct AbortMessage {
  unsigned size;
  char text[1];
};
AbortMessage *const *abortMessage = nullptr;
} // namespace

void prepareLastWords() { abortMessage = reinterpret_cast<AbortMessage *const *>(dlsym(RTLD_DEFAULT, "__abort_msg")); }

bool isAbortForDamage() {
  const AbortMessage *message = abortMessage ? *abortMessage : nullptr;
  return message && !std::strstr(message->text, ": Assertion `");
}

void sayLastWords(const char *signal) {
  const RecentKernels *kernels = recent.load();
  unsigned noted = kernels ? kernels->noted.load() : 0;
  if (noted == 0)
    return;
  char text[1200];
  int at =
      std::snprintf(text, sizeof text,
                    "nacre: the process ends by %s, outside of kernels. A kernel that stored beyond its arrays may "
                    "be the cause: one of",
                    signal);
  for (unsigned i = 0; i < noted && i < RecentKernels::count; ++i) {
    const char *name = kernels->names[(noted - 1 - i) % RecentKernels::count];
    bool isNamed = false; // by a later launch
    for (unsigned j = 0; j < i && !isNamed; ++j)
      isNamed = std::strcmp(name, kernels->names[(noted - 1 - j) % RecentKernels::count]) == 0;
    if (!isNamed)
      at += std::snprintf(text + at, sizeof text - static_cast<size_t>(at), "%s `%s`", i ? "," : "", name);
  }
  at += std::snprintf(text + at, sizeof text - static_cast<size_t>(at),
                      "%s (the last launched first). `triton-san asan COMMAND` finds such a store, and so does "
                      "TRITON_DEBUG=1.\n",
                      noted > RecentKernels::count ? ", or an earlier one" : "");
  ssize_t ignored = write(STDERR_FILENO, text, static_cast<size_t>(at));
  (void)ignored;
}

} // namespace nacre
