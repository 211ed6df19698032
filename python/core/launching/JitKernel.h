// _core.Kernel: the native half of JITFunction. It holds the parameters and every specialization compiled so far, and
// is the whole way from `kernel[grid](*args, **kwargs)` to the launch.
#pragma once

#include "python/core/launching/Arguments.h"
#include "python/core/launching/LaunchKeywords.h"
#include "python/core/launching/SpecializationTable.h"
#include <array>
#include <optional>

namespace nacre::python {

struct KernelState {
  std::vector<ParameterRecord> parameters;
  bool debug = false;         // @jit(debug=True)
  bool hasRunHooks = false;   // add_pre_run_hook was used
  bool isInterpreted = false; // Python runs it
  Handle interpreted;         // the function that Python runs; null until it does
  bool isLibrary = false;     // of the standard library; known once Python runs it
  std::shared_ptr<FunctionSource> source;
  SpecializationTable specializations;
  Handle lastGrid, lastLauncher;                      // kernel[lastGrid], of a grid that is plain numbers
  std::optional<std::array<uint32_t, 3>> lastExtents; // what lastGrid says, once it was launched over
};

Handle makeKernelType();
KernelState &kernelState(PyObject *kernel);
// kernel[grid](*args, **keywords), as METH_FASTCALL | METH_KEYWORDS passes them. Null with Python's error set.
PyObject *launchOverGrid(PyObject *kernel, PyObject *grid, PyObject *const *args, Py_ssize_t positional,
                         PyObject *names);

// What happened to knobs: counted here since it is part of every key.
extern uint32_t knobChanges;

} // namespace nacre::python
