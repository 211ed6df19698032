// The slow half of a launch: the first time a kernel meets arguments of these types.
#pragma once

#include "python/core/launching/JitKernel.h"

namespace nacre::python {

// Compiles (or finds in the cache) the specialization for these arguments. Null when a hook said to skip it. Throws.
std::shared_ptr<Specialization> specialize(PyObject *kernel, const BoundArguments &bound,
                                           const LaunchKeywords &keywords, bool isWarmup);

} // namespace nacre::python
