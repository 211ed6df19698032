#include "python/core/KnownMemory.h"

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

} // namespace nacre::python
