// What a launch has to do, counted from the kernel's tile IR before it runs: the bytes that its programs load and store
// through each argument, and its floating-point operations by width. For profiles: rooflines without annotations.
//
// Loops and branches are followed with the launch's own grid and numbers, program by program where these differ in
// work (a sample of them, of large grids). Every lane counts, also one that a mask turns off: who knows how large an
// array is knows a limit (nacre.profiler). Nothing is said of a launch whose loops end by what they read.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>

namespace nacre {

struct LaunchWork {
  struct Traffic {
    double loaded = 0, stored = 0; // bytes; an atomic access is both
  };
  std::map<int, Traffic> ofArgument; // of the kernel's; -1: of memory that no one argument is sure to hold
  std::map<unsigned, double> flops;  // by the width of an operand, in bits: 8, 16, 32, 64; a multiply-add is two
};

// `arguments`: the numbers among the kernel's arguments, as slots of 64 bits (runtime/Device.h).
// `text` is tile IR of one kernel. None: nothing can be said. Throws std::runtime_error where it cannot be read.
std::optional<LaunchWork> launchWork(llvm::StringRef text, const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments);

} // namespace nacre
