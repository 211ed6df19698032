// _core.TunedKernel and _core.HeuristicKernel: the native halves of Autotuner and Heuristics. A launch whose
// configuration is known goes from `kernel[grid]` to the kernel in C++; tuning, hooks and everything rare is left to
// the Python method run().
#pragma once

#include "python/core/Handle.h"

namespace nacre::python {

Handle makeTunedKernelType();
Handle makeHeuristicKernelType();

} // namespace nacre::python
