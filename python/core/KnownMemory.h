// The arrays among a launch's arguments, as ranges of addresses: what accesses are checked against.
#pragma once

#include "compiler/reference/MemoryMap.h"
#include "python/core/Handle.h"
#include "llvm/ADT/ArrayRef.h"

namespace nacre::python {

// `values` holds one for each parameter of the kernel.
MemoryMap knownMemory(PyObject *kernel, llvm::ArrayRef<PyObject *> values);

} // namespace nacre::python
