// Arenas are mapped memory between fences: large ones on huge-page boundaries with a hint for the kernel to use them.
#include "runtime/devices/cpu/ScratchArena.h"
#include <algorithm>

namespace nacre {

namespace {

constexpr size_t smallest = size_t(64) << 10;

struct Arena {
  FencedRange range;
  bool lent = false;
  ~Arena() { unmapFenced(range); }
};

thread_local Arena arena;

} // namespace

ScratchLoan::ScratchLoan(size_t bytes) {
  if (bytes == 0)
    return;
  if (arena.lent) {
    own = mapFenced(std::max(bytes, smallest));
    memory = own.memory;
    return;
  }
  if (arena.range.size < bytes) {
    FencedRange grown = mapFenced(std::max({bytes, arena.range.size + arena.range.size / 2, smallest}));
    unmapFenced(arena.range);
    arena.range = grown;
  }
  arena.lent = fromArena = true;
  memory = arena.range.memory;
}

ScratchLoan::~ScratchLoan() {
  if (fromArena)
    arena.lent = false;
  else
    unmapFenced(own);
}

} // namespace nacre
