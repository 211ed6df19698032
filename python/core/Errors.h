// C++ exceptions as Python's.
#pragma once

#include "python/core/Handle.h"

namespace nacre {
class KernelFaultError;
}

namespace nacre::python {

// Sets the Python error for the C++ exception that is being handled. Call from a catch block only.
void setErrorFromException();

// The text of the Python error that is set, which is cleared; with its traceback where compilation.front_end_debugging
// asks for it.
std::string takeErrorText();

// Raises what a fault of a kernel is to Python. `where` tells where the address lies, or is empty.
[[noreturn]] void raiseFault(const KernelFaultError &fault, const std::string &where);

// Runs `body` as the whole of a function called by Python: what it throws becomes Python's error.
template <typename Body> PyObject *guarded(Body body) {
  try {
    return body();
  } catch (...) {
    setErrorFromException();
    return nullptr;
  }
}
template <typename Body> int guardedStatus(Body body) {
  try {
    body();
    return 0;
  } catch (...) {
    setErrorFromException();
    return -1;
  }
}

} // namespace nacre::python
