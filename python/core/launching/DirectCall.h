// A compiled kernel as a function of C: what code that torch's Inductor has written calls, once all is known but the
// values. The arguments are read where they stand, the grid is computed from them, and the kernel is launched.
//
// Whatever is not as it was when the function was made goes the long way, a Python function that is called with the same
// arguments: other keywords than `stream`, arrays on devices, a listener to the runtime's events, a switch that is on.
#pragma once

#include "python/core/Handle.h"

namespace nacre::python {

// Makes the type of what such a function holds; called once by the module.
Handle makeDirectCallType();

// direct_call(kernel, types, names, places, parameters, grid, cooperative, switches, long way) -> a function. `kernel`: a
// NativeKernel. `types`: one short type name for each argument of the kernel ("" for a constant), `names` theirs,
// `places` where each stands in a call with `parameters` of them. `grid`: three programs, each a tuple of steps (operation, number), run on a stack
// of integers: "number" and "argument" push one, the others take theirs from it. `switches`: pairs of a dictionary and a
// name in it; on while its value is true.
PyObject *directCall(PyObject *module, PyObject *args);

} // namespace nacre::python
