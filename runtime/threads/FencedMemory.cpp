#include "runtime/threads/FencedMemory.h"
#include <cstdint>
#include <sys/mman.h>

namespace nacre {

namespace {

constexpr size_t page = 4096;
constexpr size_t hugePage = size_t(2) << 20;
// Wider than a page: a tile may step over several rows at once.
constexpr size_t fence = size_t(64) << 10;

size_t roundUp(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

} // namespace

FencedRange mapFenced(size_t bytes) {
  bool isHuge = bytes >= hugePage;
  FencedRange range;
  range.size = roundUp(bytes, isHuge ? hugePage : page);
  range.mappingSize = range.size + 2 * fence + (isHuge ? hugePage : 0);
  range.mapping = mmap(nullptr, range.mappingSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range.mapping == MAP_FAILED)
    throw std::bad_alloc();
  uintptr_t begin = roundUp(reinterpret_cast<uintptr_t>(range.mapping) + fence, isHuge ? hugePage : page);
  range.memory = reinterpret_cast<void *>(begin);
  if (mprotect(range.memory, range.size, PROT_READ | PROT_WRITE) != 0) {
    munmap(range.mapping, range.mappingSize);
    throw std::bad_alloc();
  }
  if (isHuge)
    madvise(range.memory, range.size, MADV_HUGEPAGE);
  return range;
}

void unmapFenced(const FencedRange &range) {
  if (range.mapping)
    munmap(range.mapping, range.mappingSize);
}

} // namespace nacre
