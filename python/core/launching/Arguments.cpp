#include "python/core/launching/Arguments.h"
#include "python/core/Errors.h"
#include "python/core/launching/PythonEmbedder.h"
#include <cstring>

namespace nacre::python {

namespace {

uint64_t floatBits(double value, Type type) {
  if (type.scalarKind() == ScalarKind::Float64) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  auto narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof(bits));
  return bits;
}

// An integer and whether it is above the range of int64 (then its bits are those of a uint64).
int64_t readInteger(PyObject *value, PyObject *name, bool &isUnsigned) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  isUnsigned = false;
  if (overflow == 0) {
    if (number == -1 && PyErr_Occurred())
      throw PythonError();
    return number;
  }
  unsigned long long wide = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    raise(PyExc_OverflowError, "argument %R: %R does not fit in 64 bits", name, value);
  }
  isUnsigned = true;
  return static_cast<int64_t>(wide);
}

// NumPy's scalars and 0-dimensional things that say what number they are; null when `value` is not one.
Handle asPlainNumber(PyObject *value) {
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
  Handle module = attributeOrNull(type, "__module__");
  if (!module || !PyUnicode_Check(module.get()) || textView(module.get()) != "numpy")
    return Handle();
  Handle item = attributeOrNull(value, "item");
  return item ? call(item.get()) : Handle();
}

} // namespace

uint64_t numberSlot(PyObject *value, Type type, PyObject *name) {
  if (type.isFloating()) {
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();
      raise(PyExc_TypeError, "argument %R: expected a number, found %R", name, value);
    }
    return floatBits(number, type);
  }
  if (type.isBool())
    return PyObject_IsTrue(value) == 1;
  Handle plain = Handle::steal(PyNumber_Index(value));
  if (!plain) {
    PyErr_Clear();
    raise(PyExc_TypeError, "argument %R: expected an integer, found %R", name, value);
  }
  bool isUnsigned;
  return static_cast<uint64_t>(readInteger(plain.get(), name, isUnsigned));
}

ArrayView addressOf(PyObject *value, PyObject *name, llvm::SmallVectorImpl<Handle> &keepAlive) {
  ArrayView view;
  if (PyLong_Check(value)) {
    view.address = numberSlot(value, uint64(), name);
    view.isPlaced = false;
  } else if (!readArray(value, name, view, keepAlive)) {
    raise(PyExc_TypeError, "argument %R: expected an array, found %R", name, value);
  }
  return view;
}

void BoundArguments::bindConstant(PyObject *value) {
  BoundArgument &argument = arguments.emplace_back();
  argument.kind = BoundArgument::Kind::Constant;
  argument.constant = value;
}

void BoundArguments::bindInteger(const ParameterRecord &parameter, PyObject *value) {
  bool isUnsigned;
  int64_t number = readInteger(value, parameter.name.get(), isUnsigned);
  SpecializedInteger known = specializeInteger(parameter.rule(), number, isUnsigned);
  if (known.isConstant)
    return bindConstant(value);
  BoundArgument &argument = arguments.emplace_back();
  argument.kind = BoundArgument::Kind::Number;
  argument.type = known.type;
  argument.slot = static_cast<uint64_t>(number);
  argument.divisibleBy16 = known.isDivisible;
}

void BoundArguments::bindNumber(const ParameterRecord &parameter, PyObject *value) {
  BoundArgument &argument = arguments.emplace_back();
  argument.kind = BoundArgument::Kind::Number;
  argument.type = parameter.annotation;
  argument.slot = numberSlot(value, parameter.annotation, parameter.name.get());
  argument.divisibleBy16 = forcedIsDivisible(parameter.rule(), argument.slot);
}

void BoundArguments::bindPointer(const ParameterRecord &parameter, uint64_t address, ScalarKind kind) {
  SpecializedPointer known = specializePointer(parameter.rule(), Type::scalar(kind), address);
  BoundArgument &argument = arguments.emplace_back();
  argument.kind = BoundArgument::Kind::Pointer;
  argument.type = known.element;
  argument.slot = address;
  argument.isConst = known.isConst;
  argument.divisibleBy16 = known.isDivisible;
}

bool BoundArguments::bindArray(const ParameterRecord &parameter, PyObject *value) {
  ArrayView view;
  if (!readArray(value, parameter.name.get(), view, keepAlive))
    return false;
  bindPointer(parameter, view.address, view.element);
  arguments.back().readOnly = view.readOnly;
  arguments.back().isArray = view.isPlaced;
  arguments.back().device = view.device;
  anyReadOnly |= view.readOnly;
  if (view.device) {
    severalDevices |= anyOnDevice && view.device != lastDevice;
    anyOnDevice = true;
    lastDevice = view.device;
  }
  anyInHostMemory |= view.isPlaced && !view.device;
  if (view.address == 0) {
    arguments.back().isNull = anyNull = true;
    arguments.back().constant = value;
  }
  return true;
}

void BoundArguments::bindTuple(const ParameterRecord &parameter, PyObject *value) {
  size_t head = arguments.size();
  arguments.emplace_back();
  arguments[head].kind = BoundArgument::Kind::Tuple;
  arguments[head].constant = value;
  arguments[head].elements = static_cast<uint32_t>(PyTuple_Size(value));
  for (Py_ssize_t i = 0, size = PyTuple_Size(value); i < size; ++i)
    bind(parameter, PyTuple_GetItem(value, i));
}

// A descriptor arrives as its base, its shape and its strides; the shape of its blocks and the padding are constants.
void BoundArguments::bindDescriptor(const ParameterRecord &parameter, PyObject *value) {
  size_t head = arguments.size();
  arguments.emplace_back();
  arguments[head].kind = BoundArgument::Kind::Tuple;
  arguments[head].constant = value;
  arguments[head].elements = std::size(descriptorFields);
  arguments[head].isDescriptor = true;
  auto field = [&](int index) {
    Handle found = attribute(value, descriptorFields[index]);
    keepAlive.push_back(PyList_Check(found.get()) ? checked(PySequence_Tuple(found.get())) : found);
    return keepAlive.back().get();
  };
  ParameterRecord part; // an annotation is the descriptor's, not its parts'
  part.name = parameter.name;
  part.isConst = parameter.isConst;
  part.noAlignment = parameter.noAlignment;
  size_t base = arguments.size();
  bind(part, field(0));
  if (arguments[base].kind != BoundArgument::Kind::Pointer)
    raise(PyExc_TypeError, "argument %R: the base of a tensor descriptor must be a tensor or an array",
          parameter.name.get());
  PyObject *shape = field(1), *strides = field(2), *block = field(3);
  Py_ssize_t rank = PySequence_Size(shape), steps = PySequence_Size(strides), extents = PySequence_Size(block);
  if (rank < 1 || rank > 5 || steps != rank || extents != rank) {
    PyErr_Clear();
    raise(
        PyExc_ValueError,
        "argument %R: a tensor descriptor has 1 to 5 axes, and a shape, strides and a block shape of as many entries: "
        "found %zd, %zd and %zd",
        parameter.name.get(), rank, steps, extents);
  }
  bind(part, shape);
  bind(part, strides);
  bindConstant(block);
  bindConstant(field(4));
}

// An aggregate arrives field by field. An integer field that is 1 is known to the compiler, but no constexpr in the
// kernel unless its class says so: the kernel may make another instance of it, with another value.
bool BoundArguments::bindAggregate(const ParameterRecord &parameter, PyObject *value) {
  Handle fields = aggregateFields(value);
  if (!fields)
    return false;
  Handle description = attribute(reinterpret_cast<PyObject *>(Py_TYPE(value)), "__aggregate__");
  Handle constexprs = attribute(description.get(), "__constexprs__");
  size_t head = arguments.size();
  arguments.emplace_back();
  arguments[head].kind = BoundArgument::Kind::Tuple;
  arguments[head].constant = value;
  arguments[head].elements = static_cast<uint32_t>(PyTuple_Size(fields.get()));
  arguments[head].isAggregate = true;
  ParameterRecord part; // an annotation is the aggregate's, not its fields'
  part.name = parameter.name;
  part.isConst = parameter.isConst;
  part.noSpecialization = parameter.noSpecialization;
  part.noAlignment = parameter.noAlignment;
  for (Py_ssize_t i = 0, size = PyTuple_Size(fields.get()); i < size; ++i) {
    PyObject *name = PyTuple_GetItem(fields.get(), i);
    Handle field = checked(PyObject_GetAttr(value, name));
    if (reinterpret_cast<PyObject *>(Py_TYPE(field.get())) == languageTypes().constexprType.get())
      field = attribute(field.get(), "value");
    keepAlive.push_back(field);
    int isConstexpr = PySequence_Contains(constexprs.get(), name);
    checkedStatus(isConstexpr);
    size_t place = arguments.size();
    if (isConstexpr)
      bindConstant(field.get());
    else
      bind(part, field.get());
    arguments[place].isRunTimeField = !isConstexpr;
  }
  return true;
}

void BoundArguments::bind(const ParameterRecord &parameter, PyObject *value) {
  if (parameter.isConstexpr) {
    bool isPlain = PyLong_CheckExact(value) || value == Py_None || PyBool_Check(value) || PyUnicode_CheckExact(value);
    if (!isPlain && isArray(value))
      raise(PyExc_TypeError,
            "argument %R: an array (%s) cannot be a tl.constexpr, whose value is known while compiling; pass a number, "
            "such "
            "as x.item(), or take the annotation away to pass the array",
            parameter.name.get(), typeName(value).c_str());
    return bindConstant(value);
  }
  if (value == Py_None)
    return bindConstant(value);
  if (parameter.annotation && parameter.annotation.isScalar()) {
    if (reinterpret_cast<PyObject *>(Py_TYPE(value)) == languageTypes().constexprType.get())
      return bindConstant(value); // it says more than the annotation does
    return bindNumber(parameter, value);
  }
  if (PyLong_CheckExact(value)) {
    if (parameter.annotation) // an address
      return bindPointer(parameter, numberSlot(value, uint64(), parameter.name.get()), ScalarKind::Void);
    return bindInteger(parameter, value);
  }
  if (PyFloat_CheckExact(value)) {
    BoundArgument &argument = arguments.emplace_back();
    argument.kind = BoundArgument::Kind::Number;
    argument.type = float32();
    argument.slot = floatBits(PyFloat_AsDouble(value), argument.type);
    return;
  }
  if (PyBool_Check(value)) {
    BoundArgument &argument = arguments.emplace_back();
    argument.kind = BoundArgument::Kind::Number;
    argument.type = int1();
    argument.slot = value == Py_True;
    return;
  }
  if (bindArray(parameter, value))
    return;
  if (PyTuple_Check(value))
    return bindTuple(parameter, value);
  if (Handle plain = asPlainNumber(value)) {
    keepAlive.push_back(plain);
    return bind(parameter, plain.get());
  }
  if (PyLong_Check(value))
    return bindInteger(parameter, value);
  if (PyFloat_Check(value)) {
    keepAlive.push_back(checked(PyFloat_FromDouble(PyFloat_AsDouble(value))));
    return bind(parameter, keepAlive.back().get());
  }
  const LanguageTypes &types = languageTypes();
  int isDescriptor = PyObject_IsInstance(value, types.descriptorType.get());
  if (isDescriptor < 0)
    throw PythonError();
  if (isDescriptor)
    return bindDescriptor(parameter, value);
  if (bindAggregate(parameter, value))
    return;
  int isConstexpr = PyObject_IsInstance(value, types.constexprType.get());
  int isDtype = PyObject_IsInstance(value, types.dtypeType.get());
  int isFunction = PyObject_IsInstance(value, types.constexprFunctionType.get());
  if (isConstexpr < 0 || isDtype < 0 || isFunction < 0)
    throw PythonError();
  if (isConstexpr || isDtype || isFunction || isKernel(value))
    return bindConstant(value);
  if (PyComplex_Check(value))
    raise(PyExc_TypeError,
          "argument %R: a complex number cannot be passed to a kernel; its numbers are bool, int and float: pass "
          "x.real and "
          "x.imag",
          parameter.name.get());
  if (PyList_Check(value))
    raise(PyExc_TypeError,
          "argument %R: a list cannot be passed to a kernel; make it an array, with numpy.array(x) or torch.tensor(x), "
          "or a "
          "tuple of arguments, tuple(x)",
          parameter.name.get());
  raise(
      PyExc_TypeError,
      "argument %R: a value of type %s cannot be passed to a kernel; annotate the parameter with tl.constexpr to pass "
      "it as a constant",
      parameter.name.get(), typeName(value).c_str());
}

namespace {

// The bytes of a value that is all bytes. Its size is known to the compiler: a launch makes some twenty of these.
template <typename T> void append(llvm::SmallVectorImpl<char> &key, const T &value) {
  size_t end = key.size();
  key.resize_for_overwrite(end + sizeof(T));
  std::memcpy(key.data() + end, &value, sizeof(T));
}

// The type's address tells 1, 1.0 and True apart; it lives as long as the entry, which holds an instance.
void appendConstant(llvm::SmallVectorImpl<char> &key, llvm::SmallVectorImpl<PyObject *> &objects, PyObject *value) {
  PyTypeObject *type = Py_TYPE(value);
  append(key, type);
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0)
      return append(key, number);
  }
  if (value == Py_None || PyBool_Check(value))
    return append(key, value);
  if (PyFloat_CheckExact(value)) {
    double number = PyFloat_AsDouble(value);
    return append(key, number);
  }
  if (Handle fields = aggregateFields(value)) {
    for (Py_ssize_t i = 0, size = PyTuple_Size(fields.get()); i < size; ++i) {
      Handle field = checked(PyObject_GetAttr(value, PyTuple_GetItem(fields.get(), i)));
      appendConstant(key, objects, field.get());
    }
    objects.push_back(reinterpret_cast<PyObject *>(type)); // held, so that its address stays its own
    return;
  }
  if (PyTuple_Check(value) || PyList_CheckExact(value)) {
    Py_ssize_t size = PySequence_Size(value);
    append(key, size);
    for (Py_ssize_t i = 0; i < size; ++i)
      appendConstant(key, objects, checked(PySequence_GetItem(value, i)).get());
    objects.push_back(value); // holds the type of a named tuple
    return;
  }
  Py_hash_t hash = PyObject_Hash(value);
  if (hash == -1)
    throw PythonError();
  append(key, hash);
  objects.push_back(value);
}

} // namespace

void BoundArguments::appendKey(llvm::SmallVectorImpl<char> &key, llvm::SmallVectorImpl<PyObject *> &objects) const {
  for (const BoundArgument &argument : arguments) {
    char head[2] = {static_cast<char>(argument.kind),
                    static_cast<char>(argument.divisibleBy16 | argument.isConst << 1)};
    append(key, head);
    if (argument.kind == BoundArgument::Kind::Constant) {
      appendConstant(key, objects, argument.constant);
    } else if (argument.kind == BoundArgument::Kind::Tuple) {
      PyTypeObject *type = Py_TYPE(argument.constant); // named tuples of different classes are different
      append(key, type);
      append(key, argument.elements);
      if (argument.isAggregate)
        objects.push_back(reinterpret_cast<PyObject *>(type)); // held, so that its address stays its own
    } else {
      append(key, argument.type.opaque()); // there is one of each type, for good
    }
  }
}

PyObject *specializeArgument(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *value;
    int isConst, specializes, aligns;
    if (!PyArg_ParseTuple(args, "Oppp", &value, &isConst, &specializes, &aligns))
      throw PythonError();
    ParameterRecord parameter;
    parameter.name = unicode("value");
    parameter.isConst = isConst;
    parameter.noSpecialization = !specializes;
    parameter.noAlignment = !aligns;
    BoundArguments bound;
    bound.bind(parameter, value);
    const BoundArgument &argument = bound.arguments.front();
    switch (argument.kind) {
    case BoundArgument::Kind::Constant:
      return checked(Py_BuildValue("(sO)", "constexpr", argument.constant)).release();
    case BoundArgument::Kind::Tuple:
      raise(PyExc_TypeError, "%R is several arguments of a kernel: ask for each", value);
    case BoundArgument::Kind::Pointer:
    case BoundArgument::Kind::Number:
      break;
    }
    Type type =
        argument.kind == BoundArgument::Kind::Pointer ? Type::pointer(argument.type, argument.isConst) : argument.type;
    return checked(Py_BuildValue("(sz)", type.shortName().c_str(), argument.divisibleBy16 ? "D" : nullptr)).release();
  });
}

PyObject *annotatedTypeName(PyObject *, PyObject *annotation) {
  return guarded([&] {
    Type type = annotatedType(llvm::StringRef(textView(annotation)));
    Type scalar = type && type.isPointer() ? type.element() : type;
    bool isNamed = scalar && scalar.isScalar() && !scalar.isPointer() && scalar.scalarKind() != ScalarKind::Void;
    return unicode(isNamed ? type.shortName() : "").release();
  });
}

} // namespace nacre::python
