// Every kernel that NVIDIA's GPUs run for this process, ours and those of libraries, with the GPU's own times: told as
// KernelEvents (runtime/Events.h). By CUPTI, which is opened when somebody asks and not before: it and other tools
// that use it (Nsight, torch's profiler) may exclude each other.
#pragma once

#include <string>

namespace nacre::cuda {

class KernelTrace {
public:
  // Why there can be none, and what to do; empty: it is on.
  static std::string start();
  static void stop();
  static bool isOn();
  // Tells of the kernels that have ended; of all, after a wait for the device.
  static void tellEnded();
};

} // namespace nacre::cuda
