// _core.Kernel: the native half of JITFunction. It holds the parameters and every specialization compiled so far, and
// is the whole way from `kernel[grid](*args, **kwargs)` to the launch.
#pragma once

#include "python/core/launching/Arguments.h"
#include "python/core/launching/LaunchKeywords.h"
#include "python/core/launching/PythonEmbedder.h"
#include "runtime/launch/KernelCache.h"
#include <array>
#include <optional>
#include <unordered_map>

namespace nacre::python {

// One compiled specialization.
struct Specialization {
  std::string key;
  std::vector<Handle> objects; // constants that Python compares
  std::shared_ptr<Kernel> kernel;
  Device *device = nullptr;
  Handle compiled; // nacre.compiler.CompiledKernel
  EmbedderAnswers answers;
  std::vector<FileStamp> libraries;
  bool cooperative = false;
  bool tellsArrays = false; // a launch says which arrays it has
  bool isLoaded = false;    // compiled._init_handles() was called
  std::string obstacle;     // why it cannot run here; empty when it can

  bool isCurrent() const; // what it was compiled from is still the same
};

struct KernelState {
  std::vector<ParameterRecord> parameters;
  bool debug = false;         // @jit(debug=True)
  bool hasRunHooks = false;   // add_pre_run_hook was used
  bool isInterpreted = false; // Python runs it
  Handle interpreted;         // the function that Python runs; null until it does
  bool isLibrary = false;     // of the standard library; known once Python runs it
  std::shared_ptr<FunctionSource> source;
  std::unordered_multimap<uint64_t, std::shared_ptr<Specialization>> specializations;
  std::shared_ptr<Specialization> last;               // the one used last, tried first
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
