// A GPU that is not there: the CUDA target's PTX is executed by the simulator on arrays in host memory, and checked on
// the way. What the simulator finds becomes an error that names the kernel and its line.
#pragma once

#include "runtime/Device.h"

namespace nacre::cuda {

// NACRE_DEVICE=simulate makes its device the one of arrays in host memory; TRITON_OVERRIDE_ARCH says which GPU it is.
Driver &simulatedDriver();

} // namespace nacre::cuda
