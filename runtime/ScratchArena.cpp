// Arenas are mapped memory: large ones on huge-page boundaries with a hint for the kernel to use them.
#include "runtime/ScratchArena.h"
#include <algorithm>
#include <cstdint>
#include <new>
#include <sys/mman.h>

namespace nacre {

namespace {

constexpr size_t hugePage = size_t(2) << 20;
constexpr size_t smallest = size_t(64) << 10;

size_t roundUp(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Maps `size` bytes (a multiple of the page size); from one huge page on, aligned to it.
void *map(size_t size) {
  bool huge = size >= hugePage;
  size_t reserved = huge ? size + hugePage : size;
  void *base = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    throw std::bad_alloc();
  if (!huge)
    return base;
  auto address = reinterpret_cast<uintptr_t>(base);
  uintptr_t aligned = roundUp(address, hugePage);
  if (aligned != address)
    munmap(base, aligned - address);
  if (uintptr_t end = address + reserved; end != aligned + size)
    munmap(reinterpret_cast<void *>(aligned + size), end - (aligned + size));
  auto *memory = reinterpret_cast<void *>(aligned);
  madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

size_t mappedSize(size_t bytes) {
  bytes = std::max(bytes, smallest);
  return bytes >= hugePage ? roundUp(bytes, hugePage) : roundUp(bytes, 4096);
}

struct Arena {
  void *memory = nullptr;
  size_t size = 0;
  bool lent = false;
  ~Arena() {
    if (memory)
      munmap(memory, size);
  }
};

thread_local Arena arena;

} // namespace

ScratchLoan::ScratchLoan(size_t bytes) {
  if (bytes == 0)
    return;
  if (arena.lent) {
    ownSize = mappedSize(bytes);
    memory = map(ownSize);
    return;
  }
  if (arena.size < bytes) {
    size_t size = mappedSize(std::max(bytes, arena.size + arena.size / 2));
    void *grown = map(size);
    if (arena.memory)
      munmap(arena.memory, arena.size);
    arena.memory = grown;
    arena.size = size;
  }
  arena.lent = fromArena = true;
  memory = arena.memory;
}

ScratchLoan::~ScratchLoan() {
  if (fromArena)
    arena.lent = false;
  else if (memory)
    munmap(memory, ownSize);
}

} // namespace nacre
