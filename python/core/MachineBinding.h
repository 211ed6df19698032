// Functions of _core about the machine and its caches: what benchmarks and `nacre cache` ask.
#pragma once

#include "python/core/Handle.h"

namespace nacre::python {

PyMethodDef *machineFunctions();

} // namespace nacre::python
