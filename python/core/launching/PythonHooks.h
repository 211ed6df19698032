// The hooks of the Python surface (knobs.runtime.launch_enter_hook, jit_cache_hook, ...) as listeners to the runtime's
// events, and what this module has to say in an event.
#pragma once

#include "python/core/launching/WatchedLaunch.h"

namespace nacre::python {

// LaunchEvent::caller of launches from Python. The thread that launches may not hold the GIL.
struct PythonLaunch {
  PyObject *compiled;                     // nacre.compiler.CompiledKernel; None when Python runs the kernel
  PyObject *kernel;                       // JITFunction
  llvm::function_ref<Handle()> arguments; // a dictionary, made with the GIL
  // What it was launched with; null when Python runs the kernel.
  const BoundArguments *bound = nullptr;
  llvm::ArrayRef<PyObject *> values{};
  std::unique_ptr<WatchedLaunch> watched{}; // by a tool
  Handle token{};                           // what the enter hook returned; used and let go with the GIL
};

// CompileEvent::caller of compiles from Python. The thread that compiles may not hold the GIL.
struct PythonCompile {
  PyObject *kernel; // JITFunction
  PyObject *signature, *constants, *attributes, *options, *isWarmup;
};

// set_launch_hooks(enter, exit), or None, None: enter(compiled, kernel, grid, arguments) gives what exit is called
// with.
PyObject *setLaunchHooks(PyObject *module, PyObject *args);
// set_compile_hooks(before, after), or None, None: each is called with (kernel, signature, constants, attributes,
// options, is_warmup); a true result of the first says that nothing is to be compiled.
PyObject *setCompileHooks(PyObject *module, PyObject *args);

} // namespace nacre::python
