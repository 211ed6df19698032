// Memory of the runtime's own, away from the heap and from users' arrays: mapped pages between pages that nobody may
// touch, so that a kernel that runs past the end of an array faults before it gets there.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace nacre {

struct FencedRange {
  void *memory = nullptr; // zeros; page-aligned, from one huge page on aligned to that
  size_t size = 0;        // at least what was asked for
  void *mapping = nullptr;
  size_t mappingSize = 0; // the fences with it
};

// Throws std::bad_alloc.
FencedRange mapFenced(size_t bytes);
void unmapFenced(const FencedRange &range);

// An object between fences that lives as long as the process.
template <typename T, typename... Arguments> T *newFenced(Arguments &&...arguments) {
  return new (mapFenced(sizeof(T)).memory) T(std::forward<Arguments>(arguments)...);
}

} // namespace nacre
