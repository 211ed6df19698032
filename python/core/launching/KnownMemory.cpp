#include "python/core/launching/KnownMemory.h"

namespace nacre::python {

MemoryMap knownMemory(PyObject *kernel, llvm::ArrayRef<PyObject *> values) {
  Handle tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    checkedStatus(PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), Handle::borrow(values[i]).release()));
  Handle module = importModule("nacre.runtime.interpreter");
  Handle found = call(attribute(module.get(), "_memory").get(), kernel, tuple.get());
  PyObject *ranges = PyTuple_GetItem(found.get(), 0);
  MemoryMap memory;
  for (Py_ssize_t i = 0; i < PyList_Size(ranges); ++i) {
    unsigned long long begin, end, origin;
    int isReadOnly;
    const char *name;
    if (!PyArg_ParseTuple(PyList_GetItem(ranges, i), "KKKps", &begin, &end, &origin, &isReadOnly, &name))
      throw PythonError();
    memory.add(begin, end, name, origin, isReadOnly != 0);
  }
  memory.isComplete = PyTuple_GetItem(found.get(), 1) == Py_True;
  return memory;
}

uint32_t ArrayNumbers::arrayAt(uint64_t address) {
  for (uint32_t number = last + 1; const MemoryMap::Range *range = memory.numbered(number); ++number)
    if (range->origin == address)
      return last = number;
  return 0;
}

KnownArrays knownArrays(PyObject *kernel, llvm::ArrayRef<PyObject *> values, const BoundArguments &bound) {
  KnownArrays arrays{knownMemory(kernel, values), {}};
  ArrayNumbers numbers(arrays.memory);
  for (const BoundArgument &argument : bound.arguments)
    if (argument.kind == BoundArgument::Kind::Pointer)
      arrays.ofArgument.push_back(numbers.arrayAt(argument.slot));
    else if (argument.kind == BoundArgument::Kind::Number)
      arrays.ofArgument.push_back(0);
  return arrays;
}

} // namespace nacre::python
