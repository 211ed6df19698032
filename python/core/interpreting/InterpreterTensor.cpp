// tl.tensor as a Python type: a tile whose operators, attributes and subscripts are the language's. It prints as NumPy
// prints arrays, and converts to one.
#include "compiler/language/builtins/Builtins.h"
#include "compiler/language/builtins/StandardLibrary.h"
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"
#include <new>
#include <unordered_map>

namespace nacre::python {

namespace {

PyTypeObject *tensorType = nullptr;

struct TensorObject {
  PyObject_HEAD Value value;
};

void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  reinterpret_cast<TensorObject *>(self)->value.~Value();
  static const auto release = reinterpret_cast<freefunc>(PyType_GetSlot(tensorType, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

// ---- Operators

template <Operator op> PyObject *binary(PyObject *left, PyObject *right) {
  return evaluated([&] {
    Bridge &bridge = Bridge::any();
    Object lhs = bridge.toObject(left), rhs = bridge.toObject(right);
    return bridge.toPython(bridge.compute([&] { return applyCheckedOperator(bridge.interpreter, op, lhs, rhs); }))
        .release();
  });
}
PyObject *power(PyObject *base, PyObject *exponent, PyObject *) { return binary<Operator::Pow>(base, exponent); }

template <UnaryOperator op> PyObject *unary(PyObject *operand) {
  return evaluated([&] {
    Bridge &bridge = Bridge::any();
    return bridge.toPython(applyUnary(bridge.interpreter, op, tensorValue(operand))).release();
  });
}

PyObject *absolute(PyObject *operand) {
  return evaluated([&] {
    Bridge &bridge = Bridge::any();
    const Builtin *builtin = findBuiltin("triton.language.math", "abs");
    return bridge.toPython(callBuiltin(bridge.interpreter, *builtin, Object(tensorValue(operand)), {})).release();
  });
}

PyObject *compare(PyObject *left, PyObject *right, int op) {
  return evaluated([&] {
    constexpr Comparison comparisons[] = {Comparison::Lt, Comparison::Le, Comparison::Eq,
                                          Comparison::Ne, Comparison::Gt, Comparison::Ge}; // by Py_LT, Py_LE, ...
    Bridge &bridge = Bridge::any();
    Object lhs = bridge.toObject(left), rhs = bridge.toObject(right);
    return bridge
        .toPython(bridge.compute([&] { return applyComparison(bridge.interpreter, comparisons[op], lhs, rhs); }))
        .release();
  });
}

// Tiles are told apart by identity: == compares elements.
Py_hash_t hash(PyObject *self) { return static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(self) >> 4); }

// ---- As Python's own numbers

// Debuggers ask whether what they watch has changed, and whether a breakpoint's condition holds: of a tile, in any
// lane.
bool isAskedByDebugger() {
  auto *frame = reinterpret_cast<PyObject *>(PyEval_GetFrame());
  Handle names = frame ? attribute(frame, "f_globals") : Handle();
  PyObject *module = names ? PyDict_GetItemString(names.get(), "__name__") : nullptr;
  if (!module || !PyUnicode_Check(module))
    return false;
  llvm::StringRef name = llvm::StringRef(textView(module)).split('.').first;
  return name == "pdb" || name == "bdb" || name == "IPython" || name == "_pydevd_bundle";
}

int truth(PyObject *self) {
  try {
    const Value &value = tensorValue(self);
    if (value.type().elementCount() > 1 && isAskedByDebugger())
      return Bridge::any().interpreter.anyTrue(value);
    return Bridge::any().interpreter.truth(value);
  } catch (...) {
    setEvaluationError();
    return -1;
  }
}

// The one element as a Python number.
Handle number(PyObject *self) {
  Bridge &bridge = Bridge::any();
  const Value &value = tensorValue(self);
  if (value.type().isFloating())
    return checked(PyFloat_FromDouble(bridge.interpreter.number(value)));
  if (value.type().isBool())
    return Handle::borrow(bridge.interpreter.truth(value) ? Py_True : Py_False);
  llvm::APInt bits = bridge.interpreter.integer(value);
  return checked(value.type().isSigned() ? PyLong_FromLongLong(bits.getSExtValue())
                                         : PyLong_FromUnsignedLongLong(bits.getZExtValue()));
}

PyObject *asInteger(PyObject *self) {
  return evaluated([&] { return checked(PyNumber_Long(number(self).get())).release(); });
}
PyObject *asFloat(PyObject *self) {
  return evaluated([&] { return checked(PyNumber_Float(number(self).get())).release(); });
}
PyObject *rounded(PyObject *self, PyObject *args) {
  return evaluated([&] {
    return checked(PyObject_Call(attribute(number(self).get(), "__round__").get(), args, nullptr)).release();
  });
}
PyObject *asIndex(PyObject *self) {
  return evaluated([&]() -> PyObject * {
    if (!tensorValue(self).type().isInteger())
      raise(PyExc_TypeError, "a tile of %s is not an integer", tensorValue(self).type().str().c_str());
    return checked(PyNumber_Index(number(self).get())).release();
  });
}

// ---- Parts

// A tuple that is equal to a list of the same extents, as in a compiled kernel.
Handle asShape(const Handle &extents) {
  static const Handle *shape = new Handle(attribute(importModule("nacre.runtime.interpreter").get(), "Shape"));
  return call(shape->get(), extents.get());
}

PyObject *getAttribute(PyObject *self, PyObject *name) {
  return evaluated([&]() -> PyObject * {
    std::string_view attributeName = textView(name);
    if (!attributeName.starts_with("__")) {
      Bridge &bridge = Bridge::any();
      if (std::optional<Object> found =
              attribute(bridge.interpreter, Object(tensorValue(self)), llvm::StringRef(attributeName)))
        return attributeName == "shape" ? asShape(bridge.toPython(*found)).release()
                                        : bridge.toPython(*found).release();
    }
    return PyObject_GenericGetAttr(self, name);
  });
}

PyObject *subscriptOf(PyObject *self, PyObject *index) {
  return evaluated([&] {
    Bridge &bridge = Bridge::any();
    return bridge.toPython(subscript(bridge.interpreter, Object(tensorValue(self)), bridge.toObject(index))).release();
  });
}

Py_ssize_t length(PyObject *self) {
  const Value &value = tensorValue(self);
  if (value.type().isBlock())
    return value.type().shape().front();
  PyErr_SetString(PyExc_TypeError, "a scalar has no length");
  return -1;
}

// Element by element, or row by row.
PyObject *iterator(PyObject *self) {
  return evaluated([&] {
    const Value &value = tensorValue(self);
    if (!value.type().isBlock())
      raise(PyExc_TypeError, "a scalar cannot be iterated over");
    Bridge &bridge = Bridge::any();
    int64_t extent = value.type().shape().front();
    Handle items = checked(PyList_New(extent));
    for (int64_t i = 0; i < extent; ++i)
      checkedStatus(PyList_SetItem(items.get(), i,
                                   bridge.toPython(subscript(bridge.interpreter, Object(value), Object(i))).release()));
    return checked(PyObject_GetIter(items.get())).release();
  });
}

// ---- As text and as arrays

// Calls a function of the package's Python half that no debugger should step into.
template <typename... Arguments> Handle callPackage(const char *function, Arguments... arguments) {
  Untraced untraced;
  Handle module = importModule("nacre.runtime.interpreter");
  return call(attribute(module.get(), function).get(), arguments...);
}

PyObject *str(PyObject *self) {
  return evaluated([&] { return unicode(Bridge::any().interpreter.text(tensorValue(self))).release(); });
}

// As pdb and the prompt show it: with the type, which the elements do not tell.
PyObject *repr(PyObject *self) {
  return evaluated([&] {
    const Value &value = tensorValue(self);
    std::string text = Bridge::any().interpreter.text(value);
    std::string indented = "tensor(";
    for (char c : text) {
      indented += c;
      if (c == '\n')
        indented += "       ";
    }
    return unicode(indented + ", " + value.type().scalarType().str() + ")").release();
  });
}

// A scalar takes a format as its number does, a tile for each of its elements.
PyObject *format(PyObject *self, PyObject *specification) {
  return evaluated([&]() -> PyObject * {
    if (textView(specification).empty())
      return str(self);
    if (tensorValue(self).type().isBlock())
      return callPackage("_formatted", self, specification).release();
    return checked(PyObject_Format(number(self).get(), specification)).release();
  });
}

// (bytes, shape, short type name); what NumPy has no type for comes as fp32.
PyObject *elements(PyObject *self, PyObject *) {
  return evaluated([&] {
    Bridge &bridge = Bridge::any();
    Value value = tensorValue(self);
    Type scalar = value.type().scalarType();
    if (scalar.isFp8() || scalar == bfloat16())
      value = castTo(bridge.interpreter, value, float32());
    std::shared_ptr<const std::byte> data = bridge.interpreter.elements(value);
    Type type = value.type();
    Handle bytes = checked(
        PyBytes_FromStringAndSize(reinterpret_cast<const char *>(data.get()), type.elementCount() * type.byteSize()));
    Handle shape = checked(PyTuple_New(type.rank()));
    for (int64_t i = 0; i < type.rank(); ++i)
      checkedStatus(PyTuple_SetItem(shape.get(), i, checked(PyLong_FromLongLong(type.shape()[i])).release()));
    std::string name = type.isPointerLike() ? "u64" : type.scalarType().shortName();
    return checked(Py_BuildValue("(OOs)", bytes.get(), shape.get(), name.c_str())).release();
  });
}

PyObject *asArray(PyObject *self, PyObject *args, PyObject *keywords) {
  return guarded([&] {
    static char dtypeName[] = "dtype", copyName[] = "copy";
    static char *names[] = {dtypeName, copyName, nullptr};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO", names, &dtype, &copy))
      throw PythonError();
    return callPackage("_as_array", self, dtype).release();
  });
}

PyObject *asNumPy(PyObject *self, PyObject *) {
  return guarded([&] { return callPackage("_as_array", self, Py_None).release(); });
}
PyObject *asList(PyObject *self, PyObject *) {
  return guarded(
      [&] { return call(attribute(callPackage("_as_array", self, Py_None).get(), "tolist").get()).release(); });
}

// NumPy's functions see tiles as arrays: numpy.sum(x) is not x.sum().
PyObject *callNumPy(PyObject *, PyObject *args) {
  return guarded([&] {
    PyObject *function, *types, *given, *keywords;
    if (!PyArg_ParseTuple(args, "OOOO", &function, &types, &given, &keywords))
      throw PythonError();
    return callPackage("_call_numpy", function, given, keywords).release();
  });
}

// What other array libraries take tiles by.
PyObject *asCapsule(PyObject *self, PyObject *args, PyObject *keywords) {
  return guarded([&] {
    Handle array = callPackage("_as_array", self, Py_None);
    return checked(PyObject_Call(attribute(array.get(), "__dlpack__").get(), args, keywords)).release();
  });
}
PyObject *capsuleDevice(PyObject *, PyObject *) { return Py_BuildValue("(ii)", 1, 0); } // the CPU

PyObject *itself(PyObject *self, PyObject *) { return Handle::borrow(self).release(); }

// What may follow a dot, for debuggers that complete names.
PyObject *directory(PyObject *self, PyObject *) {
  return guarded([&] {
    Handle names = checked(PyObject_CallMethod(reinterpret_cast<PyObject *>(&PyBaseObject_Type), "__dir__", "O", self));
    auto add = [&](std::string_view name) { checkedStatus(PyList_Append(names.get(), unicode(name).get())); };
    for (const char *name : {"shape", "dtype", "type", "numel", "T"})
      add(name);
    for (const Builtin &builtin : allBuiltins())
      if (builtin.isMethod)
        add(builtin.name);
    for (const StandardFunction &function : allStandardFunctions())
      if (function.isMethod)
        add(std::string_view(function.name));
    return names.release();
  });
}

template <typename Function> PyCFunction withKeywords(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"__format__", format, METH_O, nullptr},
    {"__array__", withKeywords(asArray), METH_VARARGS | METH_KEYWORDS,
     "The elements as a NumPy array; bfloat16 and fp8 as float32."},
    {"numpy", asNumPy, METH_NOARGS, "The elements as a NumPy array, while Python runs the kernel."},
    {"tolist", asList, METH_NOARGS, "The elements as Python's numbers, while Python runs the kernel."},
    {"__array_function__", callNumPy, METH_VARARGS, nullptr},
    {"__dlpack__", withKeywords(asCapsule), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__dlpack_device__", capsuleDevice, METH_NOARGS, nullptr},
    {"__round__", rounded, METH_VARARGS, nullptr},
    {"__copy__", itself, METH_NOARGS, nullptr}, // tiles do not change
    {"__deepcopy__", itself, METH_O, nullptr},
    {"__dir__", directory, METH_NOARGS, nullptr},
    {"__elements__", elements, METH_NOARGS, "(bytes, shape, type)"},
    {nullptr, nullptr, 0, nullptr},
};

template <typename Function> void *slot(Function function) { return reinterpret_cast<void *>(function); }

PyType_Slot slots[] = {
    {Py_tp_dealloc, slot(deallocate)},
    {Py_nb_add, slot(binary<Operator::Add>)},
    {Py_nb_subtract, slot(binary<Operator::Sub>)},
    {Py_nb_multiply, slot(binary<Operator::Mul>)},
    {Py_nb_true_divide, slot(binary<Operator::Div>)},
    {Py_nb_floor_divide, slot(binary<Operator::FloorDiv>)},
    {Py_nb_remainder, slot(binary<Operator::Mod>)},
    {Py_nb_power, slot(power)},
    {Py_nb_matrix_multiply, slot(binary<Operator::MatMul>)},
    {Py_nb_and, slot(binary<Operator::And>)},
    {Py_nb_or, slot(binary<Operator::Or>)},
    {Py_nb_xor, slot(binary<Operator::Xor>)},
    {Py_nb_lshift, slot(binary<Operator::Shl>)},
    {Py_nb_rshift, slot(binary<Operator::Shr>)},
    {Py_nb_negative, slot(unary<UnaryOperator::Minus>)},
    {Py_nb_positive, slot(unary<UnaryOperator::Plus>)},
    {Py_nb_invert, slot(unary<UnaryOperator::Invert>)},
    {Py_nb_absolute, slot(absolute)},
    {Py_nb_bool, slot(truth)},
    {Py_nb_int, slot(asInteger)},
    {Py_nb_float, slot(asFloat)},
    {Py_nb_index, slot(asIndex)},
    {Py_mp_subscript, slot(subscriptOf)},
    {Py_mp_length, slot(length)},
    {Py_tp_iter, slot(iterator)},
    {Py_tp_richcompare, slot(compare)},
    {Py_tp_hash, slot(hash)},
    {Py_tp_getattro, slot(getAttribute)},
    {Py_tp_str, slot(str)},
    {Py_tp_repr, slot(repr)},
    {Py_tp_methods, methods},
    {Py_tp_doc,
     const_cast<char *>("A tile of elements, or one element, inside a kernel. Kernels make them; Python cannot.")},
    {0, nullptr},
};
PyType_Spec spec = {"nacre.language.core.tensor", sizeof(TensorObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

} // namespace

Handle makeTensorType() {
  Handle type = checked(PyType_FromSpec(&spec));
  tensorType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}

bool isTensor(PyObject *object) { return Py_TYPE(object) == tensorType; }

Handle makeTensor(Value value) {
  Handle tensor = checked(PyType_GenericAlloc(tensorType, 0));
  new (&reinterpret_cast<TensorObject *>(tensor.get())->value) Value(std::move(value));
  return tensor;
}

const Value &tensorValue(PyObject *tensor) { return reinterpret_cast<TensorObject *>(tensor)->value; }

Handle typeObject(Type type) {
  static auto *known = new std::unordered_map<Type, Handle>; // under the GIL; types are few
  if (auto found = known->find(type); found != known->end())
    return found->second;
  Handle made;
  if (type.isBlock()) {
    Handle shape = checked(PyTuple_New(type.rank()));
    for (int64_t i = 0; i < type.rank(); ++i)
      checkedStatus(PyTuple_SetItem(shape.get(), i, checked(PyLong_FromLongLong(type.shape()[i])).release()));
    made = call(attribute(importModule("nacre.language.types").get(), "block_type").get(),
                typeObject(type.element()).get(), shape.get());
  } else {
    made = call(languageTypes().dtypeByShortName.get(), unicode(type.shortName()).get());
  }
  known->emplace(type, made);
  return made;
}

} // namespace nacre::python
