// The last step of a call: its programs run, as compiled code on a device or by Python itself.
#pragma once

#include "python/core/launching/LaunchCall.h"

namespace nacre::python {

// Throws what a launch does, as Python's error.
void runKernel(const LaunchCall &launch, Specialization &chosen, PyObject *grid);
// Python runs the kernel.
void interpretKernel(const LaunchCall &launch, PyObject *grid);

} // namespace nacre::python
