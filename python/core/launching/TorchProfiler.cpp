#include "python/core/launching/TorchProfiler.h"

namespace nacre::python {

namespace {
PyObject *profilerNames = nullptr; // of torch.autograd.profiler
PyObject *isEnabledName = nullptr;
} // namespace

void lookForTorch() {
  if (profilerNames)
    return;
  PyObject *modules = PyImport_GetModuleDict(); // borrowed
  PyObject *module = PyDict_GetItemString(modules, "torch.autograd.profiler");
  if (!module || !PyModule_Check(module))
    return;
  isEnabledName = PyUnicode_InternFromString("_is_profiler_enabled");
  profilerNames = PyModule_GetDict(module);
  Py_INCREF(profilerNames);
}

ProfiledLaunch::ProfiledLaunch(PyObject *kernel) {
  if (!profilerNames || PyDict_GetItemWithError(profilerNames, isEnabledName) != Py_True)
    return;
  PyObject *recordFunction = PyDict_GetItemString(profilerNames, "record_function");
  if (!recordFunction)
    return;
  range = call(recordFunction, attribute(kernel, "__name__").get());
  call(attribute(range.get(), "__enter__").get());
}

ProfiledLaunch::~ProfiledLaunch() {
  if (!range)
    return;
  PyObject *type, *value, *trace; // the launch's own error, kept
  PyErr_Fetch(&type, &value, &trace);
  try {
    call(attribute(range.get(), "__exit__").get(), Py_None, Py_None, Py_None);
  } catch (const PythonError &) {
    PyErr_WriteUnraisable(range.get());
  }
  PyErr_Restore(type, value, trace);
}

} // namespace nacre::python
