// What the rewritten text of a kernel calls, where CPython alone would mean something else than the language. Each
// leaves constexprs (plain Python objects) to Python and takes care of tiles.
#include "compiler/language/builtins/Builtins.h"
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"

namespace nacre::python {

namespace {

bool isConstexprObject(PyObject *object) {
  return reinterpret_cast<PyObject *>(Py_TYPE(object)) == languageTypes().constexprType.get();
}

bool isNumber(PyObject *object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object);
}

bool holdsTensor(PyObject *object) {
  if (isTensor(object) || isRecord(object))
    return true;
  if (isNumber(object))
    return false;
  if (Handle fields = aggregateFields(object)) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(fields.get()); ++i)
      if (holdsTensor(checked(PyObject_GetAttr(object, PyTuple_GetItem(fields.get(), i))).get()))
        return true;
    return false;
  }
  if (!PyTuple_Check(object) && !PyList_Check(object))
    return false;
  for (Py_ssize_t i = 0, size = PySequence_Size(object); i < size; ++i)
    if (holdsTensor(checked(PySequence_GetItem(object, i)).get()))
      return true;
  return false;
}

Handle asVariable(PyObject *object);

// The same sequence with its numbers as run-time values; itself when it holds none.
Handle sequenceAsVariable(PyObject *object) {
  Py_ssize_t size = PySequence_Size(object);
  Handle items = checked(PyTuple_New(size));
  bool isChanged = false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    Handle item = checked(PySequence_GetItem(object, i)), made = asVariable(item.get());
    isChanged |= made.get() != item.get();
    checkedStatus(PyTuple_SetItem(items.get(), i, made.release()));
  }
  if (!isChanged)
    return Handle::borrow(object);
  if (PyTuple_CheckExact(object))
    return items;
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  if (PyTuple_Check(object)) // a named tuple, or a shape
    return attributeOrNull(type, "_fields") ? checked(PyObject_CallObject(type, items.get())) : call(type, items.get());
  return call(reinterpret_cast<PyObject *>(&PyList_Type), items.get());
}

// What a variable holds that this was assigned to: numbers become run-time values.
Handle asVariable(PyObject *object) {
  if (isTensor(object))
    return Handle::borrow(object);
  if (isNumber(object)) {
    Bridge &bridge = Bridge::any();
    return bridge.toPython(bridge.interpreter.asVariable(bridge.toObject(object)));
  }
  if (PyTuple_Check(object) || PyList_CheckExact(object))
    return sequenceAsVariable(object);
  if (isConstexprObject(object))
    return asVariable(attribute(object, "value").get());
  return Handle::borrow(object);
}

PyObject *variable(PyObject *, PyObject *object) {
  return evaluated([&] { return asVariable(object).release(); });
}

// x: tl.constexpr = value. A run-time value stays one, whatever the annotation says.
PyObject *annotatedConstexpr(PyObject *, PyObject *object) {
  return evaluated([&]() -> PyObject * {
    if (isConstexprObject(object))
      return attribute(object, "value").release();
    return (holdsTensor(object) ? asVariable(object) : Handle::borrow(object)).release();
  });
}

// x = value, where `x: tl.constexpr` stands above
PyObject *constexprValue(PyObject *, PyObject *object) {
  return evaluated([&]() -> PyObject * {
    if (isConstexprObject(object))
      return attribute(object, "value").release();
    if (holdsTensor(object)) {
      Bridge &bridge = Bridge::any();
      bridge.interpreter.fail(Diagnostic::Kind::Type,
                              "a name annotated tl.constexpr cannot hold a run-time value: " +
                                  bridge.toObject(object).typeName(),
                              "drop the annotation, or compute it from constexprs alone");
    }
    return Handle::borrow(object).release();
  });
}

// variable_if(test, value): the value of a conditional expression or of a return behind a run-time test.
PyObject *variableIf(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return evaluated([&]() -> PyObject * {
    if (count != 2)
      raise(PyExc_TypeError, "two arguments are needed");
    return (isTensor(args[0]) ? asVariable(args[1]) : Handle::borrow(args[1])).release();
  });
}

PyObject *isRunning(PyObject *, PyObject *) { return PyBool_FromLong(Bridge::running() != nullptr); }

PyObject *isRunTime(PyObject *, PyObject *object) { return PyBool_FromLong(isTensor(object)); }

// Of two operands the second; constexprs drop out. The caller has short-circuited a constexpr on the left.
PyObject *logical(bool isAnd, PyObject *const *args, Py_ssize_t count) {
  return evaluated([&]() -> PyObject * {
    if (count != 2)
      raise(PyExc_TypeError, "two operands are needed");
    if (!isTensor(args[0]))
      return Handle::borrow(args[1]).release();
    if (!isTensor(args[1])) {
      int truth = PyObject_IsTrue(args[1]);
      checkedStatus(truth);
      return Handle::borrow((truth == 1) == isAnd ? args[0] : args[1]).release();
    }
    Bridge &bridge = Bridge::any();
    return bridge
        .toPython(applyLogical(bridge.interpreter, isAnd, Object(tensorValue(args[0])), Object(tensorValue(args[1]))))
        .release();
  });
}
PyObject *logicalAnd(PyObject *, PyObject *const *args, Py_ssize_t count) { return logical(true, args, count); }
PyObject *logicalOr(PyObject *, PyObject *const *args, Py_ssize_t count) { return logical(false, args, count); }

PyObject *logicalNot(PyObject *, PyObject *object) {
  return evaluated([&]() -> PyObject * {
    if (isTensor(object)) {
      Bridge &bridge = Bridge::any();
      return bridge.toPython(applyUnary(bridge.interpreter, UnaryOperator::Not, Object(tensorValue(object)))).release();
    }
    int truth = PyObject_IsTrue(object);
    checkedStatus(truth);
    return PyBool_FromLong(!truth);
  });
}

PyObject *isNone(PyObject *, PyObject *object) {
  return guarded([&] {
    return PyBool_FromLong((isConstexprObject(object) ? attribute(object, "value") : Handle::borrow(object)).get() ==
                           Py_None);
  });
}

// attribute(x, "dtype"): a number stands for the scalar it would become.
PyObject *attributeOf(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return evaluated([&]() -> PyObject * {
    if (count != 2)
      raise(PyExc_TypeError, "two arguments are needed");
    llvm::StringRef name(textView(args[1]));
    Bridge &bridge = Bridge::any();
    // Types are Python's classes, which have all that the language's have but the value of a constexpr.
    bool isPlain = isNumber(args[0]) || args[0] == Py_None || PyUnicode_Check(args[0]);
    isPlain |= name == "type" && PyTuple_CheckExact(args[0]);
    if (!isTensor(args[0]) && (isPlain || (name == "value" && bridge.toObject(args[0]).isType())))
      if (std::optional<Object> found = nacre::attribute(bridge.interpreter, bridge.toObject(args[0]), name))
        return bridge.toPython(*found).release();
    return PyObject_GetAttr(args[0], args[1]);
  });
}

// assert test, message
PyObject *check(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return evaluated([&]() -> PyObject * {
    Bridge &bridge = Bridge::any();
    std::vector<Object> objects;
    for (Py_ssize_t i = 0; i < count; ++i)
      objects.push_back(bridge.toObject(args[i]));
    callBuiltin(bridge.interpreter, *findBuiltin("triton.language", "device_assert"), objects, {});
    Py_RETURN_NONE;
  });
}

// print(...): Python's own, written in one piece, since other programs may print too.
PyObject *print(PyObject *, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  return evaluated([&]() -> PyObject * {
    Handle own = attribute(importModule("builtins").get(), "print");
    Bridge *bridge = Bridge::running();
    bool namesFile = false;
    for (Py_ssize_t i = 0, count = names ? PyTuple_Size(names) : 0; i < count; ++i)
      namesFile |= textView(PyTuple_GetItem(names, i)) == "file";
    if (!bridge || !bridge->isParallel || namesFile)
      return callWith(own.get(), args, positional, names).release();
    Handle text = call(attribute(importModule("io").get(), "StringIO").get());
    Handle keywords = checked(PyDict_New()), given = checked(PyTuple_New(positional));
    for (Py_ssize_t i = 0; i < positional; ++i)
      checkedStatus(PyTuple_SetItem(given.get(), i, Handle::borrow(args[i]).release()));
    for (Py_ssize_t i = 0, count = names ? PyTuple_Size(names) : 0; i < count; ++i)
      checkedStatus(PyDict_SetItem(keywords.get(), PyTuple_GetItem(names, i), args[positional + i]));
    checkedStatus(PyDict_SetItemString(keywords.get(), "file", text.get()));
    checked(PyObject_Call(own.get(), given.get(), keywords.get()));
    bridge->staticPrint(python::text(call(attribute(text.get(), "getvalue").get()).get()));
    Py_RETURN_NONE;
  });
}

// Whether an object is of one class. Constexprs are of no class of their own in Python; classes of the user's are
// Python's.
bool isOfClass(PyObject *object, PyObject *type) {
  if (PyTuple_Check(type)) {
    for (Py_ssize_t i = 0, size = PyTuple_Size(type); i < size; ++i)
      if (isOfClass(object, PyTuple_GetItem(type, i)))
        return true;
    return false;
  }
  if (type == languageTypes().constexprType.get())
    return !holdsTensor(object);
  Bridge &bridge = Bridge::any();
  if (Object known = bridge.toObject(type); known.isType() || known.is<const Builtin *>())
    return callBuiltin(bridge.interpreter, *findBuiltin("builtins", "isinstance"), {bridge.toObject(object), known}, {})
        .as<bool>();
  int answer = PyObject_IsInstance(object, type);
  checkedStatus(answer);
  return answer == 1;
}

PyObject *isInstance(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return evaluated([&]() -> PyObject * {
    if (count != 2)
      raise(PyExc_TypeError, "isinstance takes two arguments");
    return PyBool_FromLong(isOfClass(args[0], args[1]));
  });
}

// python_function("min"): Python's own on constexprs, the language's on tiles.
PyObject *callPythonFunction(PyObject *pair, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  return evaluated([&]() -> PyObject * {
    bool onTiles = false;
    for (Py_ssize_t i = 0; i < positional; ++i)
      onTiles |= holdsTensor(args[i]);
    if (!onTiles)
      return callWith(PyTuple_GetItem(pair, 0), args, positional, names).release();
    Bridge &bridge = Bridge::any();
    std::vector<Object> objects;
    for (Py_ssize_t i = 0; i < positional; ++i)
      objects.push_back(bridge.toObject(args[i]));
    const Builtin *builtin = findBuiltin("builtins", llvm::StringRef(textView(PyTuple_GetItem(pair, 1))));
    return bridge.toPython(callBuiltin(bridge.interpreter, *builtin, objects, {})).release();
  });
}

PyObject *interpretMode(PyObject *, PyObject *value) {
  return guarded([&]() -> PyObject * {
    int truth = PyObject_IsTrue(value);
    checkedStatus(truth);
    setInterpretMode(truth == 1);
    Py_RETURN_NONE;
  });
}

PyObject *isRunByPython(PyObject *, PyObject *kernel) {
  return PyBool_FromLong(isKernel(kernel) && isInterpreted(kernelState(kernel)));
}

template <typename Function> PyCFunction fast(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef pythonFunctionMethod = {"python_function", fast(callPythonFunction), METH_FASTCALL | METH_KEYWORDS,
                                    nullptr};

PyObject *pythonFunction(PyObject *, PyObject *name) {
  return guarded([&] {
    Handle own = checked(PyObject_GetAttr(importModule("builtins").get(), name));
    Handle pair = checked(PyTuple_Pack(2, own.get(), name));
    return checked(PyCFunction_NewEx(&pythonFunctionMethod, pair.get(), nullptr)).release();
  });
}

} // namespace

PyMethodDef *interpreterFunctions() {
  static PyMethodDef functions[] = {
      {"set_interpret_mode", interpretMode, METH_O,
       "Makes Python run every kernel launched from now on, or no longer."},
      {"is_interpreted", isRunByPython, METH_O, "Whether Python runs a kernel that is launched now."},
      {"interpreted_is_running", isRunning, METH_NOARGS, "Whether Python is running a kernel on this thread."},
      {"interpreted_variable", variable, METH_O, "What a variable holds: numbers become run-time values."},
      {"interpreted_constexpr", constexprValue, METH_O, "What a name annotated tl.constexpr holds."},
      {"interpreted_annotated", annotatedConstexpr, METH_O, "What a name annotated tl.constexpr holds."},
      {"interpreted_variable_if", fast(variableIf), METH_FASTCALL, "A value chosen by a test."},
      {"interpreted_is_run_time", isRunTime, METH_O, "Whether an object is a run-time value."},
      {"interpreted_and", fast(logicalAnd), METH_FASTCALL, "`and`, a constexpr on the left being true."},
      {"interpreted_or", fast(logicalOr), METH_FASTCALL, "`or`, a constexpr on the left being false."},
      {"interpreted_not", logicalNot, METH_O, "`not`"},
      {"interpreted_is_none", isNone, METH_O, "`is None`"},
      {"interpreted_attribute", fast(attributeOf), METH_FASTCALL, "x.name, also of numbers."},
      {"interpreted_assert", fast(check), METH_FASTCALL, "`assert`"},
      {"interpreted_print", fast(print), METH_FASTCALL | METH_KEYWORDS, "print, in one piece."},
      {"interpreted_isinstance", fast(isInstance), METH_FASTCALL, "isinstance"},
      {"interpreted_iterate", fast(iterate), METH_FASTCALL | METH_KEYWORDS, "What a `for` runs over."},
      {"interpreted_python_function", pythonFunction, METH_O, "One of Python's functions, also for tiles."},
      {nullptr, nullptr, 0, nullptr},
  };
  return functions;
}

} // namespace nacre::python
