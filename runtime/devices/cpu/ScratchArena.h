// Scratch memory of a kernel: one arena for each thread, kept from launch to launch and grown when a kernel asks for
// more.
#pragma once

#include "runtime/threads/FencedMemory.h"

namespace nacre {

// Lends this thread's arena, at least `bytes` of it, aligned to 64 bytes, contents undefined. While one loan is out, a
// second on the same thread (a launch from inside a launch) gets memory of its own. Throws std::bad_alloc.
class ScratchLoan {
public:
  explicit ScratchLoan(size_t bytes);
  ~ScratchLoan();
  ScratchLoan(const ScratchLoan &) = delete;
  ScratchLoan &operator=(const ScratchLoan &) = delete;
  void *data() const { return memory; }

private:
  void *memory = nullptr;
  FencedRange own; // memory that is not the arena's
  bool fromArena = false;
};

} // namespace nacre
