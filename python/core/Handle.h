// The stable ABI of CPython, and the few classes that make it safe to use from C++: owned references, the GIL, and
// Python's errors as a C++ exception. Every other file of the extension includes this one instead of Python.h.
#pragma once

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
// The binding lies in libnacre.so, which C++ programs without Python load, too: what it asks of Python may be missing.
#define PyAPI_FUNC(TYPE) __attribute__((weak)) TYPE
#define PyAPI_DATA(TYPE) extern __attribute__((weak)) TYPE
#include <Python.h>

#include <string>
#include <string_view>
#include <utility>

namespace nacre::python {

// Thrown when a call to Python failed: the error is set in the interpreter.
struct PythonError {};

// An owned reference; null is allowed.
class Handle {
public:
  Handle() = default;
  static Handle steal(PyObject *object) {
    Handle handle;
    handle.object = object;
    return handle;
  }
  static Handle borrow(PyObject *object) {
    Py_XINCREF(object);
    return steal(object);
  }
  Handle(const Handle &other) : object(other.object) { Py_XINCREF(object); }
  Handle(Handle &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Handle &operator=(Handle other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Handle() { Py_XDECREF(object); }

  PyObject *get() const { return object; }
  PyObject *release() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object != nullptr; }

private:
  PyObject *object = nullptr;
};

// Takes a new reference that a call returned; throws when it returned null.
inline Handle checked(PyObject *object) {
  if (!object)
    throw PythonError();
  return Handle::steal(object);
}
inline void checkedStatus(int status) {
  if (status < 0)
    throw PythonError();
}

// Sets a Python error and throws.
template <typename... Values> [[noreturn]] void raise(PyObject *type, const char *format, Values... values) {
  PyErr_Format(type, format, values...);
  throw PythonError();
}

inline Handle attribute(PyObject *object, const char *name) { return checked(PyObject_GetAttrString(object, name)); }
// Null, with no error set, when there is none of that name.
inline Handle attributeOrNull(PyObject *object, const char *name) {
  PyObject *found = PyObject_GetAttrString(object, name);
  if (!found) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      throw PythonError();
    PyErr_Clear();
  }
  return Handle::steal(found);
}
template <typename... Arguments> Handle call(PyObject *callee, Arguments... arguments) {
  return checked(PyObject_CallFunctionObjArgs(callee, arguments..., nullptr));
}
inline Handle importModule(const char *name) { return checked(PyImport_ImportModule(name)); }

inline std::string_view textView(PyObject *unicode) {
  Py_ssize_t size;
  const char *data = PyUnicode_AsUTF8AndSize(unicode, &size);
  if (!data)
    throw PythonError();
  return {data, static_cast<size_t>(size)};
}
inline std::string text(PyObject *unicode) { return std::string(textView(unicode)); }
inline Handle unicode(std::string_view value) {
  return checked(PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), "replace"));
}
inline std::string typeName(PyObject *object) {
  return text(attribute(reinterpret_cast<PyObject *>(Py_TYPE(object)), "__name__").get());
}

// Holds the GIL, from any thread. ThreadEnds.cpp has what becomes of a thread that asks while the interpreter ends.
class HoldGil {
public:
  HoldGil() : state(PyGILState_Ensure()) {}
  ~HoldGil() { PyGILState_Release(state); }
  HoldGil(const HoldGil &) = delete;

private:
  PyGILState_STATE state;
};
// Lets other threads run while this scope lasts.
class ReleaseGil {
public:
  ReleaseGil() : state(PyEval_SaveThread()) {}
  ~ReleaseGil() { PyEval_RestoreThread(state); }
  ReleaseGil(const ReleaseGil &) = delete;

private:
  PyThreadState *state;
};

} // namespace nacre::python
