// The type under nacre.profiler.scope: a scope is entered and left around every step of a program, so all of it is
// here.
#include "profiler/NvtxRanges.h"
#include "profiler/Profiler.h"
#include "python/core/Errors.h"
#include "python/core/ProfilerBinding.h"
#include <structmember.h>

namespace nacre::python {

using profiler::Profiler;

namespace {

struct ScopeObject {
  PyObject_HEAD PyObject *name, *metrics;
  uint64_t number; // of the scope while it is open; else 0
};
ScopeObject &scopeOf(PyObject *self) { return *reinterpret_cast<ScopeObject *>(self); }

int initialize(PyObject *self, PyObject *args, PyObject *keywords) {
  return guardedStatus([&] {
    PyObject *name, *metrics = Py_None;
    static const char *names[] = {"name", "metrics", nullptr};
    if (!keywords && PyTuple_Size(args) == 1)
      name = PyTuple_GetItem(args, 0);
    else if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O", const_cast<char **>(names), &name, &metrics))
      throw PythonError();
    if (!PyUnicode_Check(name))
      raise(PyExc_TypeError, "the name of a scope is a str, not %s", typeName(name).c_str());
    ScopeObject &scope = scopeOf(self);
    Handle formerName = Handle::steal(std::exchange(scope.name, Handle::borrow(name).release()));
    Handle formerMetrics = Handle::steal(std::exchange(scope.metrics, Handle::borrow(metrics).release()));
  });
}

void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_CLEAR(scopeOf(self).name);
  Py_CLEAR(scopeOf(self).metrics);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject *enter(PyObject *self, PyObject *) {
  return guarded([&] {
    ScopeObject &scope = scopeOf(self);
    scope.number = 0;
    if (Profiler::hasSessions() || profiler::NvtxRanges::isOn()) {
      if (scope.metrics == Py_None || PyObject_IsTrue(scope.metrics) == 0) {
        scope.number = Profiler::shared().enterScope(textView(scope.name));
      } else {
        Handle open = attribute(importModule("nacre.profiler.scope").get(), "_open");
        scope.number = PyLong_AsUnsignedLongLong(call(open.get(), scope.name, scope.metrics).get());
      }
    }
    return Handle::borrow(self).release();
  });
}

// (type, error, traceback), which do not matter.
PyObject *leave(PyObject *self, PyObject *const *, Py_ssize_t) {
  return guarded([&]() -> PyObject * {
    ScopeObject &scope = scopeOf(self);
    if (std::exchange(scope.number, 0) != 0) {
      try {
        Profiler::shared().exitScope(textView(scope.name));
      } catch (const std::invalid_argument &) {
        if (Profiler::shared().depth() != 0) // none is open any more after finalize()
          throw;
      }
    }
    Py_RETURN_NONE;
  });
}

PyObject *numberOf(PyObject *self, void *) {
  if (uint64_t number = scopeOf(self).number)
    return PyLong_FromUnsignedLongLong(number);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(leave)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyMemberDef members[] = {
    {"name", T_OBJECT_EX, offsetof(ScopeObject, name), READONLY, nullptr},
    {"metrics", T_OBJECT_EX, offsetof(ScopeObject, metrics), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyGetSetDef attributes[] = {
    {"id", numberOf, nullptr, "its number while it is open, else None", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <typename Function> void *slot(Function function) { return reinterpret_cast<void *>(function); }

PyType_Slot slots[] = {
    {Py_tp_init, slot(initialize)},
    {Py_tp_dealloc, slot(deallocate)},
    {Py_tp_methods, slot(methods)},
    {Py_tp_members, slot(members)},
    {Py_tp_getset, slot(attributes)},
    {Py_tp_new, slot(PyType_GenericNew)},
    {0, nullptr},
};
PyType_Spec specification = {"nacre._core.ProfilerScope", sizeof(ScopeObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

} // namespace

Handle makeProfilerScopeType() { return checked(PyType_FromSpec(&specification)); }

} // namespace nacre::python
