// Ranges for the tool that this process was started under (Nsight Systems): scopes, compiles and tunings.
//
// Such a tool names its library in NVTX_INJECTION64_PATH before the process starts; NVTX is the protocol between that
// library and a program. Without one there is nothing to tell, and a scope pays for one load.
#pragma once

#include <string_view>

namespace nacre::profiler {

class NvtxRanges {
public:
  static bool isOn() { return wanted; }
  // Of this thread; they nest.
  static void push(std::string_view name);
  static void pop();

private:
  static const bool wanted; // as the environment was when the process began: the profiler may set the variable itself
};

} // namespace nacre::profiler
