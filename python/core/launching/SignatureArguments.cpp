#include "python/core/launching/SignatureArguments.h"
#include "python/core/launching/PythonEmbedder.h"

namespace nacre::python {

namespace {

// An object of a class about which only its class is known.
Handle bareInstance(PyObject *type) { return call(attribute(type, "__new__").get(), type); }

bool isDivisible(PyObject *facts) {
  for (Py_ssize_t i = 0, size = facts ? PySequence_Size(facts) : 0; i < size; ++i) {
    Handle fact = checked(PySequence_GetItem(facts, i));
    Handle name = checked(PySequence_GetItem(fact.get(), 0));
    if (PyUnicode_Check(name.get()) && textView(name.get()) == "tt.divisibility")
      return true;
  }
  return false;
}

} // namespace

void SignatureArguments::bind(const ParameterRecord &parameter, Py_ssize_t index, PyObject *type) {
  name = parameter.name.get();
  bindPart(checked(Py_BuildValue("(n)", index)).get(), type);
}

void SignatureArguments::bindConstant(Handle value) {
  BoundArgument &argument = bound.arguments.emplace_back();
  argument.kind = BoundArgument::Kind::Constant;
  argument.constant = value.get();
  bound.keepAlive.push_back(std::move(value));
}

BoundArgument &SignatureArguments::addTuple(Handle object, Py_ssize_t elements) {
  BoundArgument &head = bound.arguments.emplace_back();
  head.kind = BoundArgument::Kind::Tuple;
  head.constant = object.get();
  head.elements = static_cast<uint32_t>(elements);
  bound.keepAlive.push_back(std::move(object));
  return head;
}

void SignatureArguments::bindTyped(Type type, bool divisibleBy16) {
  BoundArgument &argument = bound.arguments.emplace_back();
  argument.kind = type.isPointer() ? BoundArgument::Kind::Pointer : BoundArgument::Kind::Number;
  argument.type = type.isPointer() ? type.element() : type;
  argument.isConst = type.isPointer() && type.isConst();
  argument.divisibleBy16 = divisibleBy16;
}

void SignatureArguments::bindTuple(PyObject *path, PyObject *types) {
  Py_ssize_t size = PyTuple_Size(types);
  Handle aggregate = attributeOrNull(types, "aggregate"), fields, constexprs;
  if (aggregate) {
    Handle instance = bareInstance(aggregate.get());
    fields = aggregateFields(instance.get());
    constexprs = attribute(attribute(aggregate.get(), "__aggregate__").get(), "__constexprs__");
    addTuple(std::move(instance), size).isAggregate = true;
  } else {
    addTuple(Handle::borrow(types), size); // a named tuple of types is of the class that the argument is of
  }
  for (Py_ssize_t i = 0; i < size; ++i) {
    Handle inner = checked(PySequence_Concat(path, checked(Py_BuildValue("(n)", i)).get()));
    size_t place = bound.arguments.size();
    bindPart(inner.get(), PyTuple_GetItem(types, i));
    if (aggregate) {
      int isConstexpr = PySequence_Contains(constexprs.get(), PyTuple_GetItem(fields.get(), i));
      checkedStatus(isConstexpr);
      bound.arguments[place].isRunTimeField = isConstexpr == 0;
    }
  }
}

// Its base is aligned, as TMA asks; of its shape and strides only the types are known, and that the last stride is 1.
void SignatureArguments::bindDescriptor(Type descriptor) {
  Type block = descriptor.element();
  auto rank = static_cast<Py_ssize_t>(block.rank());
  Handle extents = checked(PyTuple_New(rank));
  for (Py_ssize_t axis = 0; axis < rank; ++axis)
    checkedStatus(PyTuple_SetItem(extents.get(), axis, PyLong_FromLongLong(block.shape()[static_cast<size_t>(axis)])));
  BoundArgument &head = addTuple(bareInstance(languageTypes().descriptorType.get()), std::size(descriptorFields));
  head.isDescriptor = true;
  bindTyped(Type::pointer(block.scalarType()), /*divisibleBy16=*/true);
  addTuple(extents, rank);
  for (Py_ssize_t axis = 0; axis < rank; ++axis)
    bindTyped(int32(), false);
  addTuple(extents, rank);
  for (Py_ssize_t axis = 0; axis + 1 < rank; ++axis)
    bindTyped(int64(), false);
  bindConstant(checked(PyLong_FromLong(1)));
  bindConstant(extents);
  bindConstant(unicode("zero"));
}

void SignatureArguments::bindPart(PyObject *path, PyObject *type) {
  if (PyTuple_Check(type))
    return bindTuple(path, type);
  PyObject *constant = PyDict_GetItemWithError(constants, path);
  if (PyErr_Occurred())
    throw PythonError();
  if (constant)
    return bindConstant(Handle::borrow(constant));
  if (!PyUnicode_Check(type))
    raise(PyExc_TypeError, "argument %R: %R is not the name of a type", name, type);
  if (textView(type) == "constexpr")
    return bindConstant(Handle::borrow(Py_None));
  Type parsed = Type::parseShortName(llvm::StringRef(textView(type)));
  if (parsed && parsed.kind() == Type::Kind::Descriptor)
    return bindDescriptor(parsed);
  if (!parsed || parsed.isBlock())
    raise(PyExc_ValueError, "argument %R: %R is not a type of an argument", name, type);
  bindTyped(parsed, isDivisible(PyDict_GetItemWithError(attributes, path)));
}

} // namespace nacre::python
