// _core.NativeKernel: a compiled kernel as Python holds it. CompiledKernel of the package wraps one.
#pragma once

#include "python/core/Handle.h"
#include "runtime/launch/Launch.h"

namespace nacre::python {

// Makes the type; called once by the module.
Handle makeNativeKernelType();
// A new _core.NativeKernel.
Handle wrapKernel(std::shared_ptr<Kernel> kernel);

// Launches with the GIL held on entry and on return, released in between. What the kernel prints goes to sys.stdout.
// `arrays`, or null: what kernels that check their accesses may touch.
void launchReleased(const Kernel &kernel, const uint32_t grid[3], const uint64_t *args, bool cooperative,
                    const KnownArrays *arrays = nullptr);

// One to three numbers, or a single one. Throws PythonError.
void readGrid(PyObject *grid, uint32_t (&result)[3]);

} // namespace nacre::python
