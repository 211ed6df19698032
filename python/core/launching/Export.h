// Kernels out of Python: as C functions compiled ahead of time, and their machine code as text.
#pragma once

#include "python/core/Handle.h"

namespace nacre::python {

// export_kernel(kernel, signature, name, file, grid, meta, architecture) -> (function, [(file name, content)])
PyObject *exportKernelToC(PyObject *module, PyObject *args);

// disassemble(object, symbol or None) -> [(symbol, [(address, file or None, line, text)])]
PyObject *disassembleObject(PyObject *module, PyObject *args);

} // namespace nacre::python
