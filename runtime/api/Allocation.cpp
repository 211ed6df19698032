// Memory that the library takes and gives back with the operators of the process that it is in.
//
// Strings go from a program to the library and back: what one of them makes, the other one frees. A program may have
// operators of its own, or AddressSanitizer's. The library has its C++ standard library within it, and would use that
// one's. Where the process has none that are visible, as Python does not, they are malloc and free.
#include <cstdlib>
#include <dlfcn.h>
#include <new>

namespace {

void *fromMalloc(size_t size, size_t alignment) {
  for (;;) {
    // aligned_alloc wants whole multiples of the alignment.
    void *made = alignment == 0 ? std::malloc(size == 0 ? 1 : size)
                                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (made)
      return made;
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      throw std::bad_alloc();
    handler();
  }
}

struct Operators {
  void *(*make)(size_t) = [](size_t size) { return fromMalloc(size, 0); };
  void *(*makeAligned)(size_t, std::align_val_t) = [](size_t size, std::align_val_t alignment) {
    return fromMalloc(size, static_cast<size_t>(alignment));
  };
  void (*free)(void *) = [](void *memory) { std::free(memory); };
  void (*freeAligned)(void *, std::align_val_t) = [](void *memory, std::align_val_t) { std::free(memory); };

  // All of them or none: what is made is freed by the same ones, whatever is loaded later.
  Operators() {
    void *names[] = {dlsym(RTLD_DEFAULT, "_Znwm"), dlsym(RTLD_DEFAULT, "_ZnwmSt11align_val_t"),
                     dlsym(RTLD_DEFAULT, "_ZdlPv"), dlsym(RTLD_DEFAULT, "_ZdlPvSt11align_val_t")};
    for (void *name : names)
      if (!name)
        return;
    make = reinterpret_cast<decltype(make)>(names[0]);
    makeAligned = reinterpret_cast<decltype(makeAligned)>(names[1]);
    free = reinterpret_cast<decltype(free)>(names[2]);
    freeAligned = reinterpret_cast<decltype(freeAligned)>(names[3]);
  }
};

const Operators &operators() {
  static const Operators found;
  return found;
}

} // namespace

void *operator new(size_t size) { return operators().make(size); }
void *operator new(size_t size, std::align_val_t alignment) { return operators().makeAligned(size, alignment); }
void operator delete(void *memory) noexcept { operators().free(memory); }
void operator delete(void *memory, std::align_val_t alignment) noexcept { operators().freeAligned(memory, alignment); }
