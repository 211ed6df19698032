#include "python/core/launching/KnownMemory.h"

namespace nacre::python {

// The elements of a view: its item size and ((stride, extent), ...).
static ViewElements readElements(unsigned bytes, PyObject *axes) {
  ViewElements elements;
  elements.bytes = bytes;
  for (Py_ssize_t i = 0; i < PyTuple_Size(axes); ++i) {
    unsigned long long stride, extent;
    if (!PyArg_ParseTuple(PyTuple_GetItem(axes, i), "KK", &stride, &extent))
      throw PythonError();
    elements.axes.emplace_back(stride, extent);
  }
  return elements;
}

static KnownArrays readMemory(PyObject *kernel, llvm::ArrayRef<PyObject *> values) {
  Handle tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    checkedStatus(PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), Handle::borrow(values[i]).release()));
  Handle module = importModule("nacre.runtime.interpreter");
  Handle found = call(attribute(module.get(), "_memory").get(), kernel, tuple.get());
  PyObject *ranges = PyTuple_GetItem(found.get(), 0);
  KnownArrays arrays;
  for (Py_ssize_t i = 0; i < PyList_Size(ranges); ++i) {
    unsigned long long begin, end, origin;
    int isReadOnly;
    const char *name;
    unsigned bytes = 0;
    PyObject *axes = nullptr; // there where the array is held to its own elements
    if (!PyArg_ParseTuple(PyList_GetItem(ranges, i), "KKKps|IO!", &begin, &end, &origin, &isReadOnly, &name, &bytes,
                          &PyTuple_Type, &axes))
      throw PythonError();
    uint32_t number = arrays.memory.add(begin, end, name, origin, isReadOnly != 0);
    if (axes && PyTuple_Size(axes) > 0)
      arrays.views.emplace(number, readElements(bytes, axes));
  }
  arrays.memory.isComplete = PyTuple_GetItem(found.get(), 1) == Py_True;
  return arrays;
}

MemoryMap knownMemory(PyObject *kernel, llvm::ArrayRef<PyObject *> values) { return readMemory(kernel, values).memory; }

uint32_t ArrayNumbers::arrayAt(uint64_t address) {
  for (uint32_t number = last + 1; const MemoryMap::Range *range = memory.numbered(number); ++number)
    if (range->origin == address)
      return last = number;
  return 0;
}

KnownArrays knownArrays(PyObject *kernel, llvm::ArrayRef<PyObject *> values, const BoundArguments &bound) {
  KnownArrays arrays = readMemory(kernel, values);
  ArrayNumbers numbers(arrays.memory);
  for (const BoundArgument &argument : bound.arguments)
    if (argument.kind == BoundArgument::Kind::Pointer)
      arrays.ofArgument.push_back(numbers.arrayAt(argument.slot));
    else if (argument.kind == BoundArgument::Kind::Number)
      arrays.ofArgument.push_back(0);
  return arrays;
}

} // namespace nacre::python
