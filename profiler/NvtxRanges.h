// Ranges for the tool that this process was started under (Nsight Systems): scopes, compiles and tunings.
//
// NVTX is the protocol between a library of such a tool's and a program. It is found as NVTX's own header finds it: by
// the path in NVTX_INJECTION64_PATH, which a tool sets before the process starts or when it gets into it (Nsight
// Compute does when CUDA starts), or as a function that is there already, where the tool preloads or links its library.
// Without one there is nothing to tell, and a scope pays for one load.
#pragma once

#include <atomic>
#include <string_view>

namespace nacre::profiler {

class NvtxRanges {
public:
  static bool isOn() { return wanted.load(std::memory_order_relaxed); }
  // Whether there is a tool by now.
  static bool look();
  // Of this thread; they nest.
  static void push(std::string_view name);
  static void pop();

private:
  static std::atomic<bool> wanted;
};

} // namespace nacre::profiler
