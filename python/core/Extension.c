// The extension nacre._core: it has libnacre.so loaded and asks it for the module. The library is the one that C++ programs
// link, so that a package, and a process, has the compiler once.
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

// python/core/Module.cpp
int nacre_sees_python(void);
PyObject *nacre_make_python_module(const char *version);

PyMODINIT_FUNC PyInit__core(void) {
  if (nacre_sees_python())
    return nacre_make_python_module(NACRE_VERSION);
  PyErr_SetString(PyExc_ImportError, "libnacre.so was loaded before Python was; link the program with Python, or load "
                                     "libpython with RTLD_GLOBAL before libnacre.so");
  return NULL;
}
