// Arrays and tensors of any library: where their elements lie and what they are.
#pragma once

#include "compiler/language/meaning/Type.h"
#include "python/core/Handle.h"
#include "runtime/Device.h"
#include "llvm/ADT/SmallVector.h"

namespace nacre::python {

struct ArrayView {
  uint64_t address = 0;
  ScalarKind element = ScalarKind::Void;
  bool readOnly = false;
  bool isPlaced = true;     // it is known where its memory is; not of tensors that only stand for others
  Device *device = nullptr; // null: host memory
};

// Whether it is a torch tensor, a NumPy array, anything with data_ptr() and dtype, with a device's array interface, or
// of DLPack.
bool isArray(PyObject *value);

// Reads such an array; false when `value` is none. Throws PythonError, naming the argument, for elements a kernel
// cannot read and for memory of devices that are not there.
bool readArray(PyObject *value, PyObject *argumentName, ArrayView &view, llvm::SmallVectorImpl<Handle> &keepAlive);

// Whether an array is known to have no elements.
bool isEmptyArray(PyObject *array);

// "float32", "torch.float32", "int64", ...: as libraries spell it, to the language's scalar. Void when there is none.
ScalarKind scalarKindFromName(std::string_view name);

} // namespace nacre::python
