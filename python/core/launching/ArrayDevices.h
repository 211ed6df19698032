// Which device an array of Python's is on, and which one a launch is for: that of its arrays.
#pragma once

#include "python/core/Handle.h"
#include "runtime/Device.h"

namespace nacre::python {

// Of an array that names its device as torch does: "cuda:1". Null: host memory. Throws PythonError, naming the
// argument, where there is no such device.
Device *deviceNamed(std::string_view name, PyObject *argumentName);
// The device of this number, whose `shown` name an array has given. Throws likewise.
Device *deviceNumbered(Driver &driver, int index, std::string_view shown, PyObject *argumentName);
// Of a tensor of torch's that is not in host memory.
Device *deviceOfTensor(PyObject *tensor, PyCFunction getDevice, PyObject *argumentName);
// Of what DLPack says. Throws likewise.
Device *deviceOfDLPack(int type, int index, PyObject *argumentName);

// Finds the one device that all arrays of a launch are on.
class LaunchDevice {
public:
  // Null: an array in host memory.
  void add(PyObject *argumentName, uint64_t address, Device *device);
  // Throws PythonError, naming two arguments, where arrays are on different devices.
  Device &choose();

private:
  struct Array {
    PyObject *name;
    uint64_t address;
    Device *device;
  };
  llvm::SmallVector<Array, 16> arrays;
};

} // namespace nacre::python
