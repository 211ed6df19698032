// The PTX simulator in Python: nacre.simulator is written over these.
#pragma once

#include "python/core/Handle.h"

namespace nacre::python {

// simulator_load(ptx, file name) -> module
PyObject *simulatorLoad(PyObject *module, PyObject *args);
// simulator_kernels(module) -> [(name, [(parameter, type, bytes, alignment)], static shared bytes, threads, cluster,
// why it cannot be run or None)]
PyObject *simulatorKernels(PyObject *module, PyObject *loaded);
// simulator_run(module, kernel, grid, block, cluster, shared, arguments, memory, options) -> (JSON, text, printed)
PyObject *simulatorRun(PyObject *module, PyObject *args);
// simulator_variable(module, name) -> (address, bytes) or None
PyObject *simulatorVariable(PyObject *module, PyObject *args);
// simulator_tensor_map(type, address, sizes, strides, box, element strides, swizzle, fill) -> 128 bytes
PyObject *simulatorTensorMap(PyObject *module, PyObject *args);

} // namespace nacre::python
