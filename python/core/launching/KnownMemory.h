// The arrays among a launch's arguments, as ranges of addresses: what accesses are checked against.
#pragma once

#include "python/core/launching/Arguments.h"
#include "runtime/launch/Launch.h"
#include "llvm/ADT/ArrayRef.h"

namespace nacre::python {

// `values` holds one for each parameter of the kernel.
MemoryMap knownMemory(PyObject *kernel, llvm::ArrayRef<PyObject *> values);

// Gives the arguments of a launch, asked in order, the numbers of their arrays.
class ArrayNumbers {
public:
  explicit ArrayNumbers(const MemoryMap &memory) : memory(memory) {}
  // Of the array that begins at an address, or 0. Arrays were numbered in the order of the arguments, and one may have
  // been passed several times.
  uint32_t arrayAt(uint64_t address);

private:
  const MemoryMap &memory;
  uint32_t last = 0;
};

// The same for compiled kernels.
KnownArrays knownArrays(PyObject *kernel, llvm::ArrayRef<PyObject *> values, const BoundArguments &bound);

} // namespace nacre::python
