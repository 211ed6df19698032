// Builtins, methods of tiles and counting loops as Python objects.
#include "compiler/language/meaning/Iteration.h"
#include "compiler/language/meaning/Scalars.h"
#include "compiler/language/builtins/StandardLibrary.h"
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"
#include <structmember.h>

namespace nacre::python {

namespace {

PyTypeObject *builtinType = nullptr, *methodType = nullptr, *rangeType = nullptr;

// ---- tl.load and its like

struct BuiltinObject {
  PyObject_HEAD const Builtin *builtin;
  PyObject *dictionary;
};
const Builtin &builtinOf(PyObject *self) { return *reinterpret_cast<BuiltinObject *>(self)->builtin; }

// What a call was given, as the language sees it; a method's receiver comes first.
struct GivenArguments {
  llvm::SmallVector<Object, 6> positional;
  llvm::SmallVector<std::pair<std::string, Object>, 4> keywords;

  GivenArguments(Bridge &bridge, PyObject *receiver, PyObject *args, PyObject *named) {
    if (receiver)
      positional.push_back(bridge.toObject(receiver));
    for (Py_ssize_t i = 0, size = PyTuple_Size(args); i < size; ++i)
      positional.push_back(bridge.toObject(PyTuple_GetItem(args, i)));
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (named && PyDict_Next(named, &position, &name, &value))
      keywords.emplace_back(text(name), bridge.toObject(value));
  }
};

std::string shownName(const Builtin &builtin) {
  llvm::StringRef module = builtin.module;
  if (!module.consume_front("triton.language"))
    return builtin.name;
  return "tl" + module.str() + "." + builtin.name;
}

PyObject *makeBuiltin(PyTypeObject *type, PyObject *args, PyObject *) {
  return guarded([&] {
    const char *module, *name;
    if (!PyArg_ParseTuple(args, "ss", &module, &name))
      throw PythonError();
    const Builtin *builtin = findBuiltin(module, name);
    if (!builtin)
      raise(PyExc_ValueError, "%s.%s is not a builtin", module, name);
    Handle self = checked(PyType_GenericAlloc(type, 0));
    reinterpret_cast<BuiltinObject *>(self.get())->builtin = builtin;
    return self.release();
  });
}

void deallocateBuiltin(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_CLEAR(reinterpret_cast<BuiltinObject *>(self)->dictionary);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject *callBuiltinObject(PyObject *self, PyObject *args, PyObject *keywords) {
  return evaluated([&]() -> PyObject * {
    const Builtin &builtin = builtinOf(self);
    if (!Bridge::running()) {
      PyObject *dictionary = reinterpret_cast<BuiltinObject *>(self)->dictionary;
      if (PyObject *outside = dictionary ? PyDict_GetItemString(dictionary, "__outside__") : nullptr)
        return checked(PyObject_Call(outside, args, keywords)).release();
      raise(PyExc_RuntimeError, "%s works inside a kernel only: call it from a function decorated with @triton.jit",
            shownName(builtin).c_str());
    }
    if (builtin.module == "triton.language") {
      if (isRangeBuiltin(builtin)) // outside of a `for`: its numbers
        return checked(PyObject_Call(reinterpret_cast<PyObject *>(&PyRange_Type), args, nullptr)).release();
      if (builtin.name == "condition") {
        Bridge &bridge = Bridge::any();
        GivenArguments given(bridge, nullptr, args, keywords);
        return bridge.toPython(conditionArguments(bridge.interpreter, given.positional, given.keywords).first)
            .release();
      }
    }
    return callBuiltinWith(builtin, nullptr, args, keywords).release();
  });
}

// A class that has __get__ is a routine to help().
PyObject *bindBuiltin(PyObject *self, PyObject *, PyObject *) { return Handle::borrow(self).release(); }

PyObject *reprBuiltin(PyObject *self) {
  return guarded([&] { return unicode("<builtin " + shownName(builtinOf(self)) + ">").release(); });
}

PyMemberDef builtinMembers[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(BuiltinObject, dictionary), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyGetSetDef builtinAttributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <typename Function> void *slot(Function function) { return reinterpret_cast<void *>(function); }

PyType_Slot builtinSlots[] = {
    {Py_tp_new, slot(makeBuiltin)},        {Py_tp_dealloc, slot(deallocateBuiltin)},
    {Py_tp_call, slot(callBuiltinObject)}, {Py_tp_descr_get, slot(bindBuiltin)},
    {Py_tp_repr, slot(reprBuiltin)},       {Py_tp_members, builtinMembers},
    {Py_tp_getset, builtinAttributes},     {0, nullptr},
};
PyType_Spec builtinSpec = {"nacre._core.Builtin", sizeof(BuiltinObject), 0, Py_TPFLAGS_DEFAULT, builtinSlots};

// ---- x.sum and its like

struct MethodObject {
  PyObject_HEAD const Builtin *builtin; // or null, then
  PyObject *function;                   // a function of the standard library
  PyObject *receiver;
};

void deallocateMethod(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  auto *method = reinterpret_cast<MethodObject *>(self);
  Py_CLEAR(method->function);
  Py_CLEAR(method->receiver);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject *callMethod(PyObject *self, PyObject *args, PyObject *keywords) {
  return evaluated([&] {
    auto *method = reinterpret_cast<MethodObject *>(self);
    if (method->builtin)
      return callBuiltinWith(*method->builtin, method->receiver, args, keywords).release();
    Bridge::Scope scope(Bridge::any()); // a tile that outlived its launch, in a debugger after an error
    Py_ssize_t size = PyTuple_Size(args);
    Handle all = checked(PyTuple_New(size + 1));
    checkedStatus(PyTuple_SetItem(all.get(), 0, Handle::borrow(method->receiver).release()));
    for (Py_ssize_t i = 0; i < size; ++i)
      checkedStatus(PyTuple_SetItem(all.get(), i + 1, Handle::borrow(PyTuple_GetItem(args, i)).release()));
    return checked(PyObject_Call(method->function, all.get(), keywords)).release();
  });
}

PyType_Slot methodSlots[] = {{Py_tp_dealloc, slot(deallocateMethod)}, {Py_tp_call, slot(callMethod)}, {0, nullptr}};
PyType_Spec methodSpec = {"nacre._core.Method", sizeof(MethodObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, methodSlots};

// ---- for i in range(n)

struct RangeObject {
  PyObject_HEAD Type type;
  uint64_t next, step; // in two's complement
  uint64_t remaining;
};

void deallocateRange(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject *iterateSelf(PyObject *self) { return Handle::borrow(self).release(); }

PyObject *nextOfRange(PyObject *self) {
  auto *range = reinterpret_cast<RangeObject *>(self);
  if (range->remaining == 0)
    return nullptr;
  return evaluated([&] {
    Handle index = makeTensor(Bridge::any().interpreter.scalar(range->type, range->next));
    range->next += range->step;
    --range->remaining;
    return index.release();
  });
}

PyType_Slot rangeSlots[] = {{Py_tp_dealloc, slot(deallocateRange)},
                            {Py_tp_iter, slot(iterateSelf)},
                            {Py_tp_iternext, slot(nextOfRange)},
                            {0, nullptr}};
PyType_Spec rangeSpec = {"nacre._core.RangeIterator", sizeof(RangeObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, rangeSlots};

Type promoteIntegers(Type a, Type b) {
  if (a.bitWidth() == b.bitWidth())
    return a.isUnsigned() ? a : b;
  return a.bitWidth() > b.bitWidth() ? a : b;
}

bool isPositive(Interpreter &interpreter, const Value &value) {
  llvm::APInt number = interpreter.integer(value);
  return value.type().isSigned() ? number.isStrictlyPositive() : !number.isZero();
}

// The index has the promoted type of the bounds, at least int32.
Handle makeRange(Bridge &bridge, llvm::ArrayRef<Object> bounds) {
  Interpreter &interpreter = bridge.interpreter;
  const char *names[3] = {"start", "end", "step"};
  Type type = int32();
  Value values[3];
  for (int i = 0; i < 3; ++i) {
    bool isInteger =
        bounds[i].isBool() || bounds[i].isInt() ||
        (bounds[i].isValue() && bounds[i].value().type().isScalar() && bounds[i].value().type().isInteger());
    if (!isInteger)
      interpreter.fail(Diagnostic::Kind::Type,
                       std::string("the ") + names[i] + " of a range must be an integer scalar, not " +
                           bounds[i].typeName(),
                       bounds[i].isValue() && bounds[i].value().type().isPointer() ? numberInsteadOfPointer : "");
    values[i] = toValue(interpreter, bounds[i]);
    type = promoteIntegers(type, values[i].type());
  }
  __int128 numbers[3];
  for (int i = 0; i < 3; ++i) {
    llvm::APInt bits = interpreter.integer(castTo(interpreter, values[i], type));
    // A negative constexpr step counts down whatever the index's type.
    bool isSigned = type.isSigned() || (i == 2 && bounds[i].isInt());
    numbers[i] = isSigned ? static_cast<__int128>(bits.getSExtValue()) : static_cast<__int128>(bits.getZExtValue());
  }
  auto [start, stop, step] = numbers;
  bool isConstant = !bounds[2].isValue();
  if (step == 0 && isConstant)
    interpreter.fail(Diagnostic::Kind::Value, "the step of a range must not be zero");
  // A step known only at run time runs over nothing unless it is positive in its own type.
  if (!isConstant && !isPositive(interpreter, values[2]))
    step = 1, stop = start;
  __int128 distance = step > 0 ? stop - start : start - stop, size = step > 0 ? step : -step;
  Handle made = checked(PyType_GenericAlloc(rangeType, 0));
  auto *range = reinterpret_cast<RangeObject *>(made.get());
  range->type = type;
  range->next = static_cast<uint64_t>(start);
  range->step = static_cast<uint64_t>(step);
  range->remaining = distance <= 0 ? 0 : static_cast<uint64_t>((distance + size - 1) / size);
  return made;
}

} // namespace

Handle makeBuiltinType() {
  Handle type = checked(PyType_FromSpec(&builtinSpec));
  builtinType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}
Handle makeMethodType() {
  Handle type = checked(PyType_FromSpec(&methodSpec));
  methodType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}
Handle makeRangeType() {
  Handle type = checked(PyType_FromSpec(&rangeSpec));
  rangeType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}

Handle callBuiltinWith(const Builtin &builtin, PyObject *receiver, PyObject *args, PyObject *keywords) {
  Bridge &bridge = Bridge::any();
  GivenArguments given(bridge, receiver, args, keywords);
  return bridge.toPython(
      bridge.compute([&] { return callBuiltin(bridge.interpreter, builtin, given.positional, given.keywords); }));
}

Handle callWith(PyObject *callee, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  Handle tuple = checked(PyTuple_New(positional));
  for (Py_ssize_t i = 0; i < positional; ++i)
    checkedStatus(PyTuple_SetItem(tuple.get(), i, Handle::borrow(args[i]).release()));
  Py_ssize_t count = names ? PyTuple_Size(names) : 0;
  Handle keywords = count ? checked(PyDict_New()) : Handle();
  for (Py_ssize_t i = 0; i < count; ++i)
    checkedStatus(PyDict_SetItem(keywords.get(), PyTuple_GetItem(names, i), args[positional + i]));
  return checked(PyObject_Call(callee, tuple.get(), keywords.get()));
}

Handle makeMethod(const BoundMethod &method) {
  Handle made = checked(PyType_GenericAlloc(methodType, 0));
  auto *object = reinterpret_cast<MethodObject *>(made.get());
  object->builtin = method.builtin;
  if (!method.builtin) {
    std::string file = standardFunctionFile("triton.language", method.name).drop_back(3).str();
    Handle module = importModule(("nacre.language." + file).c_str());
    object->function = attribute(module.get(), method.name.c_str()).release();
  }
  object->receiver = Bridge::any().toPython(*method.receiver).release();
  return made;
}

PyObject *iterate(PyObject *, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  return evaluated([&]() -> PyObject * {
    PyObject *callee = args[0];
    bool isPython = callee == reinterpret_cast<PyObject *>(&PyRange_Type);
    bool isBuiltin = Py_TYPE(callee) == builtinType && isRangeBuiltin(builtinOf(callee));
    if (!isPython && !isBuiltin)
      return callWith(callee, args + 1, positional - 1, names).release();
    Bridge &bridge = Bridge::any();
    llvm::SmallVector<Object, 3> given;
    for (Py_ssize_t i = 1; i < positional; ++i)
      given.push_back(bridge.toObject(args[i]));
    llvm::SmallVector<std::pair<std::string, Object>, 4> keywords;
    for (Py_ssize_t i = 0, count = names ? PyTuple_Size(names) : 0; i < count; ++i)
      keywords.emplace_back(text(PyTuple_GetItem(names, i)), bridge.toObject(args[positional + i]));
    const Builtin &builtin = isPython ? *findBuiltin("builtins", "range") : builtinOf(callee);
    RangeArguments range = rangeArguments(bridge.interpreter, builtin, given, keywords);
    Object bounds[3] = {range.start, range.stop, range.step};
    if (builtin.name == "range")
      return makeRange(bridge, bounds).release();
    for (const Object &bound : bounds)
      if (!bound.isInt() && !bound.isBool())
        bridge.interpreter.fail(Diagnostic::Kind::Type,
                                "tl.static_range needs constexpr integers, not " + bound.typeName(),
                                "a bound that is known only at run time needs a plain `for ... in range(...)`");
    return call(reinterpret_cast<PyObject *>(&PyRange_Type), bridge.toPython(bounds[0]).get(),
                bridge.toPython(bounds[1]).get(), bridge.toPython(bounds[2]).get())
        .release();
  });
}

} // namespace nacre::python
