// See DeepStack.h. A context of its own (ucontext.h) on pages that are taken only when they are touched, with one below
// them that nobody may touch.
#include "runtime/compile/DeepStack.h"
#include <exception>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <dlfcn.h>
#include <sanitizer/common_interface_defs.h>
#define NACRE_TELLS_OF_STACKS
#endif
#endif

namespace nacre {

namespace {

// Calls a function and keeps what it throws: nothing is unwound from one stack to the other.
struct Call {
  llvm::function_ref<void()> work;
  std::exception_ptr thrown = nullptr;

  void run() {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  void finish() const {
    if (thrown)
      std::rethrow_exception(thrown);
  }
};

class Stack {
public:
  // Sizes to try: address space may be limited.
  static constexpr size_t sizes[] = {size_t(1) << 30, size_t(256) << 20, size_t(64) << 20, size_t(16) << 20};

  Stack() {
    for (size_t wanted : sizes) {
      constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
      void *pages = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, flags, -1, 0);
      if (pages == MAP_FAILED)
        continue;
      begin = pages, size = wanted;
      mprotect(begin, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE);
      return;
    }
  }
  ~Stack() {
    if (begin)
      munmap(begin, size);
  }
  Stack(const Stack &) = delete;
  Stack &operator=(const Stack &) = delete;

  void *begin = nullptr;
  size_t size = 0;
};

// A stack, and where it was left.
struct Side {
  ucontext_t context{};
  const void *begin = nullptr;
  size_t size = 0;
};

// AddressSanitizer is told of every switch. Its own swapcontext warns, on standard error, that it is not; so the C
// library's is called. `isLast`: nobody comes back to the stack that is left.
void switchStack(Side &from, Side &to, bool isLast = false) {
#ifdef NACRE_TELLS_OF_STACKS
  static const auto swap =
      reinterpret_cast<decltype(&swapcontext)>(dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "swapcontext"));
  void *kept = nullptr;
  __sanitizer_start_switch_fiber(isLast ? nullptr : &kept, to.begin, to.size);
  swap(&from.context, &to.context);
  __sanitizer_finish_switch_fiber(kept, nullptr, nullptr);
#else
  swapcontext(&from.context, &to.context);
#endif
}

// Work on its way: two contexts that take turns.
struct Switch {
  Call *work;
  Call *asked = nullptr; // what the work wants run on the outer stack
  bool isDone = false;
  Side outer{}, inner{};
};

thread_local Switch *current = nullptr; // of the deep stack that this thread runs on

void begin() {
  Switch &here = *current;
#ifdef NACRE_TELLS_OF_STACKS
  __sanitizer_finish_switch_fiber(nullptr, &here.outer.begin, &here.outer.size);
#endif
  here.work->run();
  here.isDone = true;
  switchStack(here.inner, here.outer, /*isLast=*/true);
}

} // namespace

void runOnDeepStack(llvm::function_ref<void()> work) {
  Stack stack;
  if (!stack.begin)
    return work();
  Call call{work};
  Switch here{&call};
  here.inner.begin = stack.begin, here.inner.size = stack.size;
  getcontext(&here.inner.context);
  here.inner.context.uc_stack.ss_sp = stack.begin;
  here.inner.context.uc_stack.ss_size = stack.size;
  makecontext(&here.inner.context, begin, 0);
  Switch *around = current;
  while (!here.isDone) {
    current = &here;
    switchStack(here.outer, here.inner);
    current = around;
    if (!here.isDone)
      here.asked->run();
  }
  call.finish();
}

void runOnOuterStack(llvm::function_ref<void()> work) {
  Switch *here = current;
  if (!here)
    return work();
  Call call{work};
  here->asked = &call;
  switchStack(here->inner, here->outer);
  call.finish();
}

} // namespace nacre
