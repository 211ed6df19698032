// The host's own processors as a device: a grid's programs run on the thread pool, and a launch returns when the last
// of them has ended. There is one stream, and nothing arrives later.
#pragma once

#include "runtime/Device.h"
#include "runtime/devices/cpu/CompiledCall.h"

namespace nacre::cpu {

class LoadedCode;

Driver &driver();

struct LoadedCpuKernel : LoadedKernel {
  explicit LoadedCpuKernel(std::unique_ptr<LoadedCode> code);
  ~LoadedCpuKernel() override;

  std::unique_ptr<LoadedCode> code;
  CodeRange range; // where it lies
  // How long one program of it took lately, in nanoseconds; 0: not known. Decides whether a small grid is worth waking
  // others for.
  std::atomic<float> programNanoseconds = 0;
  std::atomic<uint64_t> atomicsNanoseconds = 0; // of the last launch, where it has atomics (AtomicsTurn.h)
};

// Runs the grid (Launch.cpp).
void run(LoadedCpuKernel &kernel, const EnqueuedLaunch &launch);

} // namespace nacre::cpu
