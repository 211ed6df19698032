// A GPU of AMD's that is not there: the HIP target's code objects are executed by the simulator on arrays in host memory,
// and checked on the way. What the simulator finds becomes an error that names the kernel and its line.
#pragma once

#include "runtime/Device.h"

namespace nacre::hip {

// NACRE_DEVICE=simulate-hip makes its device the one of arrays in host memory; TRITON_OVERRIDE_ARCH says which GPU it is.
Driver &simulatedDriver();

} // namespace nacre::hip
