// Which arguments of a kernel a pointer comes from.
#pragma once

#include "mlir/IR/Value.h"
#include <cstdint>

namespace nacre {

struct PointerRoots {
  uint64_t arguments = 0; // bit i stands for argument i of the first 64
  bool isKnown = true;    // no other memory: not read from memory, nor made of a number, nor of an argument past those
  // One argument, and no other way for the address to come about.
  bool isCertain() const { return isKnown && arguments != 0 && (arguments & (arguments - 1)) == 0; }
};

// Follows a pointer, or a tile of pointers, backwards through loops and branches. What cannot be followed (a pointer
// read from memory or made from a number, inline assembly, a function of a library) may be any of the arguments.
PointerRoots pointerRoots(mlir::Value pointer);

} // namespace nacre
