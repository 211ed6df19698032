#include "python/core/launching/SignatureArguments.h"
#include "python/core/launching/PythonEmbedder.h"
#include "runtime/launch/Specialization.h"

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

// What the signature says in C++ (runtime/launch/Specialization.h), as the launch of such an argument binds it.
void SignatureArguments::bindSpec(const ArgumentSpec &spec) {
  if (spec.isConstant)
    return bindConstant(PythonEmbedder().toPython(spec.constant));
  if (spec.isTuple) {
    auto size = static_cast<Py_ssize_t>(spec.elements.size());
    Handle object = spec.isRecord ? bareInstance(languageTypes().descriptorType.get()) : checked(PyTuple_New(0));
    addTuple(std::move(object), size).isDescriptor = spec.isRecord;
    for (const ArgumentSpec &element : spec.elements)
      bindSpec(element);
    return;
  }
  BoundArgument &argument = bound.arguments.emplace_back();
  argument.kind = spec.type.isPointer() ? BoundArgument::Kind::Pointer : BoundArgument::Kind::Number;
  argument.type = spec.type.isPointer() ? spec.type.element() : spec.type;
  argument.isConst = spec.type.isPointer() && spec.type.isConst();
  argument.divisibleBy16 = spec.divisibility % specializedDivisor == 0;
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
  if (!parsed || parsed.isBlock())
    raise(PyExc_ValueError, "argument %R: %R is not a type of an argument", name, type);
  // The base of a descriptor is aligned, as TMA asks.
  bool divides = parsed.kind() == Type::Kind::Descriptor || isDivisible(PyDict_GetItemWithError(attributes, path));
  bindSpec(typeArgument(parsed, divides ? specializedDivisor : 1));
}

} // namespace nacre::python
