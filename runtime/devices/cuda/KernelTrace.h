// Every kernel that NVIDIA's GPUs run for this process, ours and those of libraries, with the GPU's own times, where
// kernels of graphs were captured, and the program's own ranges (NVTX): told as KernelEvents (runtime/Events.h), by
// CUPTI.
#pragma once

#include <cstdint>
#include <string>

namespace nacre::cuda {

class KernelTrace {
public:
  // Why there can be none, and what to do; empty: it is on. With `sampleCycles` lines are sampled, too (PcSampling.h).
  static std::string start(uint32_t sampleCycles);
  static void stop();
  static bool isOn();
  // Tells of the kernels that have ended; of all, after a wait for the device.
  static void tellEnded();
};

} // namespace nacre::cuda
