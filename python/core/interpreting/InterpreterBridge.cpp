#include "compiler/language/builtins/Builtins.h"
#include "compiler/language/meaning/BlockView.h"
#include "python/core/interpreting/Interpreter.h"
#include "runtime/launch/HostCode.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre::python {

namespace {

thread_local Bridge *runningBridge = nullptr;

// Functions of the language are told apart by address: they outlive the launch that uses them.
JitReference functionReference(PyObject *kernel) {
  return JitReference{"python:" + llvm::utohexstr(reinterpret_cast<uintptr_t>(kernel)),
                      std::shared_ptr<void>(std::shared_ptr<void>(), kernel)};
}

} // namespace

Untraced::Untraced() {
  PyObject *getTrace = PySys_GetObject("gettrace"), *setTrace = PySys_GetObject("settrace");
  Handle current = getTrace ? python::call(getTrace) : Handle();
  if (!current || current.get() == Py_None || !setTrace)
    return;
  python::call(setTrace, Py_None);
  tracer = std::move(current);
}

Untraced::~Untraced() {
  if (!tracer)
    return;
  PyObject *type, *value, *trace; // an error on its way out stays
  PyErr_Fetch(&type, &value, &trace);
  if (PyObject *setTrace = PySys_GetObject("settrace"))
    Py_XDECREF(PyObject_CallFunctionObjArgs(setTrace, tracer.get(), nullptr));
  PyErr_Restore(type, value, trace);
}

Bridge::Bridge(Interpreter::Options options) : interpreter(*this, options) {
  interpreter.program().native = &hostCode();
}

Bridge *Bridge::running() { return runningBridge; }

Bridge &Bridge::any() {
  if (runningBridge)
    return *runningBridge;
  thread_local auto *spare = new Bridge({});
  return *spare;
}

Bridge::Scope::Scope(Bridge &bridge) : previous(runningBridge) { runningBridge = &bridge; }
Bridge::Scope::~Scope() { runningBridge = previous; }

Object Bridge::tupleObject(PyObject *sequence) {
  auto tuple = std::make_shared<TupleValue>();
  tuple->isList = PyList_Check(sequence);
  Py_ssize_t size = PySequence_Size(sequence);
  tuple->items.reserve(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i)
    tuple->items.push_back(toObject(checked(PySequence_GetItem(sequence, i)).get()));
  if (PyTuple_Check(sequence) && !PyTuple_CheckExact(sequence))
    if (Handle fields = attributeOrNull(sequence, "_fields"); fields && PyTuple_Check(fields.get())) {
      tuple->typeName = typeName(sequence);
      for (Py_ssize_t i = 0; i < PyTuple_Size(fields.get()); ++i)
        tuple->names.push_back(text(PyTuple_GetItem(fields.get(), i)));
    }
  return Object(std::shared_ptr<const TupleValue>(tuple));
}

Object Bridge::toObject(PyObject *object) {
  if (isTensor(object))
    return Object(tensorValue(object));
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0)
      return Object(static_cast<int64_t>(value));
  }
  if (object == Py_None)
    return Object();
  if (PyTuple_Check(object) || PyList_Check(object) || PyRange_Check(object))
    return tupleObject(object);
  if (isRecord(object))
    return recordObject(object);
  if (PySlice_Check(object)) {
    Handle start = attribute(object, "start"), stop = attribute(object, "stop"), step = attribute(object, "step");
    return Object::makeSlice(toObject(start.get()), toObject(stop.get()), toObject(step.get()));
  }
  if (PyDict_CheckExact(object)) {
    std::vector<std::pair<Object, Object>> entries;
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(object, &position, &key, &value))
      entries.emplace_back(toObject(key), toObject(value));
    return Object::makeDictionary(std::move(entries));
  }
  if (isKernel(object))
    return Object(functionReference(object));
  if (reinterpret_cast<PyObject *>(Py_TYPE(object)) == languageTypes().constexprType.get())
    return toObject(attribute(object, "value").get());
  return embedder.toObject(object);
}

std::vector<Object> Bridge::toObjects(PyObject *tuple) {
  std::vector<Object> objects;
  Py_ssize_t size = PyTuple_Size(tuple);
  objects.reserve(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i)
    objects.push_back(toObject(PyTuple_GetItem(tuple, i)));
  return objects;
}

Handle Bridge::toPython(const Object &object) {
  if (object.isValue())
    return makeTensor(object.value());
  if (object.isRecord(constexprTypeName))
    return embedder.toPython(object);
  if (object.isRecord())
    return makeRecordObject(object);
  if (object.isTuple()) {
    const TupleValue &tuple = object.tuple();
    auto size = static_cast<Py_ssize_t>(tuple.items.size());
    Handle result = checked(tuple.isList ? PyList_New(size) : PyTuple_New(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject *item = toPython(tuple.items[static_cast<size_t>(i)]).release();
      checkedStatus(tuple.isList ? PyList_SetItem(result.get(), i, item) : PyTuple_SetItem(result.get(), i, item));
    }
    return result;
  }
  if (object.isType())
    return typeObject(object.as<Type>());
  if (object.is<BoundMethod>())
    return makeMethod(object.as<BoundMethod>());
  if (object.is<JitReference>() && llvm::StringRef(object.as<JitReference>().key).starts_with("python:"))
    return Handle::borrow(static_cast<PyObject *>(object.as<JitReference>().function.get()));
  return embedder.toPython(object);
}

Object Bridge::call(const Object &function, llvm::ArrayRef<Object> arguments) {
  HoldGil gil;
  Handle callee = toPython(function);
  Handle tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
  for (size_t i = 0; i < arguments.size(); ++i)
    checkedStatus(PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), toPython(arguments[i]).release()));
  return toObject(checked(PyObject_Call(callee.get(), tuple.get(), nullptr)).get());
}

void Bridge::forgetError() {
  HoldGil gil;
  PyErr_Clear();
}

void Bridge::staticPrint(llvm::StringRef text) {
  HoldGil gil;
  if (PyObject *out = PySys_GetObject("stdout"); out && out != Py_None)
    python::call(attribute(out, "write").get(), unicode(std::string_view(text)).get());
}

} // namespace nacre::python
