// _core.NativeKernel: a compiled kernel as Python holds it. CompiledKernel of the package wraps one.
#pragma once

#include "python/core/Handle.h"
#include "runtime/launch/Launch.h"

namespace nacre::python {

// Makes the type; called once by the module.
Handle makeNativeKernelType();
// A new _core.NativeKernel. `device`: the one it was compiled for; null: none is here that could run it. `architecture`:
// the one it was compiled for, which a forked child that may not ask the device knows by this alone; empty: the device's.
Handle wrapKernel(std::shared_ptr<Kernel> kernel, Device *device, const std::string &architecture = {});
// What a _core.NativeKernel wraps, and where it runs. Throws PythonError where it is none, or there is no such device.
std::pair<std::shared_ptr<Kernel>, Device *> nativeKernel(PyObject *object);

// Launches with the GIL held on entry and on return, released in between. What the kernel prints goes to sys.stdout,
// and Ctrl-C interrupts it: what `options` says of these two is not looked at.
void launchReleased(const Kernel &kernel, Device &device, const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments,
                    LaunchOptions options);

// One to three numbers, or a single one. Throws PythonError.
void readGrid(PyObject *grid, uint32_t (&result)[3]);

} // namespace nacre::python
