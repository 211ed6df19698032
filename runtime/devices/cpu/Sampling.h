// Samples of where the threads of launches are in their code, taken every events::sampleInterval microseconds while
// somebody wants SampleEvents: a thread nudges those that run compiled code (CompiledCall.h), and each notes its place.
#pragma once

#include "runtime/devices/cpu/CpuDevice.h"
#include <memory>

namespace nacre {

// The places that the threads of one launch noted.
class Samples {
public:
  Samples();
  ~Samples();
  Samples(const Samples &) = delete;

  // From a handler. 0: outside of the code, in what it calls. More than `most` are left out.
  void add(uint64_t instruction) {
    if (size_t index = next.fetch_add(1, std::memory_order_relaxed); index < most)
      instructions[index] = instruction;
  }
  // When the launch has ended.
  llvm::ArrayRef<uint64_t> all() const {
    return {instructions, std::min<size_t>(most, next.load(std::memory_order_relaxed))};
  }

private:
  static constexpr size_t most = size_t(1) << 16;
  uint64_t *instructions;
  std::atomic<size_t> next{0};
};

namespace cpu {

// A launch is sampled from the construction to the end of this object.
class SampledLaunch {
public:
  explicit SampledLaunch(Stoppable &launch);
  ~SampledLaunch();
  SampledLaunch(const SampledLaunch &) = delete;

  // Tells the listeners how often each line was seen. All threads have left the code.
  void tell(uint64_t launch, const CompiledCode &code, uint64_t function) const;

private:
  Stoppable &launch;
  Samples samples;
};

} // namespace cpu
} // namespace nacre
