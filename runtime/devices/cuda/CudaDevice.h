// NVIDIA GPUs as devices, by their driver (DriverLibrary.h).
//
// Each device has its primary context, which is shared with all else in the process that uses CUDA; kernels are modules
// in it. Launches return at once. What goes wrong later arrives at a later call: its error names the last launches.
#pragma once

#include "runtime/Device.h"

namespace nacre::cuda {

Driver &driver();

} // namespace nacre::cuda
