// Which lines of kernels a GPU executes: it looks at its warps every so many cycles, and CUPTI tells how often each
// instruction was found, and why those warps waited. Between the begin and the end of a launch nothing else is sampled,
// so that samples are its own: kernels run one after another meanwhile. Told as kernelSamples (runtime/Events.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nacre::cuda {

class PcSampling {
public:
  // About every so many cycles, a power of two from 32 on. Why it cannot; empty: it does.
  static std::string start(uint32_t cycles);
  static void stop();

  // What KernelTrace is told: a launch in a context, on this thread; a module, whose lines are known from here on.
  static void launchBegins(void *context);
  static void launchEnds(void *context);
  static void moduleLoaded(const void *cubin, size_t bytes);
};

} // namespace nacre::cuda
