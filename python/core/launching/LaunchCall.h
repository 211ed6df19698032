// One call of a kernel: Python's arguments bound to its parameters, its options, and the device that they choose.
#pragma once

#include "python/core/launching/JitKernel.h"

namespace nacre::python {

class LaunchCall {
public:
  explicit LaunchCall(PyObject *kernel)
      : kernel(kernel), state(kernelState(kernel)), values(state.parameters.size(), nullptr) {}

  // Arguments and keywords as METH_FASTCALL | METH_KEYWORDS passes them. `takesGrid`: grid and warmup are among them.
  void bind(PyObject *const *args, Py_ssize_t positional, PyObject *names, bool takesGrid);
  // Binds types alone, for a target by its name, or null: that of the active device.
  void bindSignature(PyObject *signature, PyObject *constants, PyObject *attributes, const LaunchOptionValues &options,
                     const char *target, const char *architecture);
  void callRunHooks(PyObject *const *args, Py_ssize_t positional, PyObject *names) const;

  SpecializationKey key() const;
  // Of a grid in any form: numbers, or a function that says them.
  void extentsOf(PyObject *grid, uint32_t (&extents)[3]) const;
  // What a grid function and tools are given: arguments by name, and the options that belong to a grid.
  Handle argumentDictionary() const;
  // An array that has elements and no memory is refused; so is one that may not be written, where the kernel does.
  void refuseNull() const;
  void refuseReadOnly(uint64_t writtenSlots) const;
  Handle name() const { return attribute(kernel, "__name__"); }

  PyObject *const kernel;
  KernelState &state;
  llvm::SmallVector<PyObject *, 32> values; // borrowed, by parameter
  BoundArguments bound;
  LaunchKeywords keywords;
  PyObject *grid = nullptr; // borrowed; from the keyword of run()
  bool isWarmup = false;

private:
  // visit(argument, its slot, the name of its parameter)
  template <typename Visit> void forEachArgument(Visit visit) const {
    size_t slot = 0, parameter = 0, elements = 0; // `elements`: still to come of the tuple that `parameter` is
    for (const BoundArgument &argument : bound.arguments) {
      visit(argument, slot, state.parameters[parameter].name.get());
      slot += argument.kind == BoundArgument::Kind::Pointer || argument.kind == BoundArgument::Kind::Number;
      elements = elements - (elements > 0) + argument.elements;
      if (elements == 0)
        ++parameter;
    }
  }

  void bindKeyword(PyObject *keyword, PyObject *value, size_t positional, bool takesGrid);
  std::optional<size_t> parameterNamed(PyObject *keyword) const;
  std::string suggestion(llvm::StringRef keyword) const;
  Device &commonDevice() const;
  Handle callGrid(PyObject *grid) const;
  void noteMissingArgument(PyObject *error, PyObject *arguments) const;

  const ForeignOption *refusedOnCuda = nullptr; // which of those given would have to be heeded there
};

} // namespace nacre::python
