#include "python/core/launching/PythonEmbedder.h"
#include "compiler/language/builtins/Builtins.h"
#include "compiler/language/builtins/StandardLibrary.h"
#include "compiler/language/meaning/BlockView.h"
#include "python/core/Errors.h"
#include "runtime/Knobs.h"
#include "runtime/cache/EmbedderRecord.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

namespace nacre::python {

const LanguageTypes &languageTypes() {
  static const LanguageTypes *types = [] {
    Handle core = importModule("nacre.language.core");
    Handle jit = importModule("nacre.runtime.jit");
    Handle descriptors = importModule("nacre.tools.tensor_descriptor");
    return new LanguageTypes{python::attribute(core.get(), "constexpr"),
                             python::attribute(core.get(), "constexpr_type"),
                             python::attribute(core.get(), "dtype"),
                             python::attribute(jit.get(), "ConstexprFunction"),
                             python::attribute(descriptors.get(), "TensorDescriptor"),
                             python::attribute(core.get(), "_dtype_by_short_name")};
  }();
  return *types;
}

Handle aggregateFields(PyObject *object) {
  return attributeOrNull(reinterpret_cast<PyObject *>(Py_TYPE(object)), "__aggregate_fields__");
}

namespace {

bool isInstance(PyObject *object, const Handle &type) {
  int answer = PyObject_IsInstance(object, type.get());
  checkedStatus(answer);
  return answer == 1;
}

llvm::DynamicAPInt toInteger(PyObject *number) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow == 0) {
    if (value == -1 && PyErr_Occurred())
      throw PythonError();
    return llvm::DynamicAPInt(static_cast<int64_t>(value));
  }
  Handle digits = checked(PyNumber_ToBase(number, 16)); // "-0x1f"
  llvm::StringRef text = textView(digits.get());
  bool negative = text.consume_front("-");
  text.consume_front("0x");
  llvm::APInt magnitude(static_cast<unsigned>(text.size()) * 4 + 1, text, 16);
  return llvm::DynamicAPInt(negative ? -magnitude : magnitude);
}

Handle fromInteger(const llvm::DynamicAPInt &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return checked(PyLong_FromString(text.c_str(), nullptr, 10));
}

// "nacre.language.math" and its like become the names the compiler uses; null when `object` is not of the language's
// modules.
std::optional<Object> memberOfLanguage(PyObject *object) {
  Handle module = attributeOrNull(object, "__module__");
  Handle name = attributeOrNull(object, "__name__");
  if (!module || !name || !PyUnicode_Check(module.get()) || !PyUnicode_Check(name.get()))
    return std::nullopt;
  llvm::StringRef moduleName = textView(module.get());
  std::string canonical = moduleName == "builtins" ? "builtins" : canonicalModule(moduleName);
  return canonical.empty() ? std::nullopt : moduleMember(canonical, textView(name.get()));
}

bool isClassOrFunction(PyObject *object) {
  return PyType_Check(object) || (attributeOrNull(object, "__qualname__") && attributeOrNull(object, "__module__"));
}

// Equal for objects of equal meaning. What an object without a telling repr means is known in this process only.
std::string opaqueKey(PyObject *object) {
  if (isClassOrFunction(object)) {
    Handle module = python::attribute(object, "__module__"), name = python::attribute(object, "__qualname__");
    if (PyUnicode_Check(module.get()) && PyUnicode_Check(name.get()))
      return text(module.get()) + "." + text(name.get());
  }
  Handle type = checked(PyObject_Repr(reinterpret_cast<PyObject *>(Py_TYPE(object))));
  Handle shown = checked(PyObject_Repr(object));
  llvm::StringRef repr = textView(shown.get());
  if (repr.contains(" at 0x"))
    return (transientPrefix + llvm::Twine(getpid()) + ":" + llvm::utohexstr(reinterpret_cast<uintptr_t>(object))).str();
  return text(type.get()) + repr.str();
}

} // namespace

Handle kernelBehind(PyObject *object) {
  if (isKernel(object) || PyType_Check(object))
    return Handle::borrow(object);
  Handle wrapped = attributeOrNull(object, "__nacre_kernel__");
  return wrapped && isKernel(wrapped.get()) ? wrapped : Handle::borrow(object);
}

PythonEmbedder::~PythonEmbedder() {
  HoldGil gil;
  opaqueObjects.clear();
  foreignModules.clear();
  answers.clear();
}

// Runs with the GIL; an error that Python raises is the answer's problem.
template <typename Body> Embedder::Answer PythonEmbedder::answering(Body body) {
  HoldGil gil;
  try {
    return body();
  } catch (const PythonError &) {
    return {std::nullopt, "the exception " + takeErrorText()};
  }
}

Embedder::Answer PythonEmbedder::global(const FunctionSource &function, llvm::StringRef name) {
  return answering([&] { return answerGlobal(function, name); });
}

Embedder::Answer PythonEmbedder::library(llvm::StringRef path) {
  usedLibraries.push_back(FileStamp::of(path)); // before it is read: a later change is seen
  return Embedder::library(path);
}

Embedder::Answer PythonEmbedder::answerGlobal(const FunctionSource &function, llvm::StringRef name) {
  auto *kernel = reinterpret_cast<PyObject *>(function.embedderHandle);
  Handle key = unicode(std::string_view(name));
  Handle closure = python::attribute(kernel, "_closure"); // a dictionary, by name
  if (PyObject *value = PyDict_GetItemWithError(closure.get(), key.get())) {
    Handle cell = python::call(python::attribute(kernel, "_cell").get(), key.get());
    answers.addAttribute(cell, unicode("cell_contents"), Handle::borrow(value));
    return allowed(function, value, nullptr, key.get());
  }
  Handle globals = python::attribute(kernel, "__globals__");
  PyObject *value = PyDict_GetItemWithError(globals.get(), key.get());
  if (!value && PyErr_Occurred())
    throw PythonError();
  answers.addGlobal(globals, key, Handle::borrow(value));
  return value ? allowed(function, value, globals.get(), key.get()) : Answer{};
}

Embedder::Answer PythonEmbedder::allowed(const FunctionSource &function, PyObject *value, PyObject *globals,
                                         PyObject *name) {
  std::string problem = function.isExternal ? "" : refusal(value, globals, name);
  if (!problem.empty())
    return {std::nullopt, problem};
  if (!function.isExternal || !PyDict_CheckExact(value))
    return {toObject(value), ""};
  std::vector<std::pair<Object, Object>> entries;
  PyObject *key, *item;
  Py_ssize_t position = 0;
  while (PyDict_Next(value, &position, &key, &item))
    entries.emplace_back(toObject(key), toObject(item));
  return {Object::makeDictionary(std::move(entries)), ""};
}

// Why a kernel may not read this global; empty when it may.
std::string PythonEmbedder::refusal(PyObject *value, PyObject *globals, PyObject *name) {
  const LanguageTypes &types = languageTypes();
  if (value == Py_None || PyType_Check(value) || isKernel(kernelBehind(value).get()) ||
      isInstance(value, types.constexprType) || isInstance(value, types.dtypeType) ||
      isInstance(value, types.constexprFunctionType) || memberOfLanguage(value))
    return "";
  Handle moduleType = python::attribute(importModule("types").get(), "ModuleType");
  if (isInstance(value, moduleType))
    return "";
  if (globals) {
    // `SIZE: tl.constexpr = 4` at module level.
    PyObject *annotations = PyDict_GetItemString(globals, "__annotations__");
    PyObject *annotation =
        annotations && PyDict_Check(annotations) ? PyDict_GetItemWithError(annotations, name) : nullptr;
    if (annotation == types.constexprType.get())
      return "";
    if (annotation && PyUnicode_Check(annotation) && llvm::StringRef(textView(annotation)).contains("constexpr"))
      return "";
  }
  if (knobBoolean(KnobId::AllowNonConstexprGlobals))
    return "";
  if (Handle module = attributeOrNull(value, "__module__"); module && PyUnicode_Check(module.get()))
    if (llvm::StringRef(textView(module.get())).ends_with(".tools.debug"))
      return "a helper for kernels that Python runs: set TRITON_INTERPRET=1, or decorate the kernel with "
             "@triton.jit(interpret=True)";
  if (PyCallable_Check(value) && attributeOrNull(value, "__code__"))
    return "a plain Python function; decorate it with @triton.jit, or with @triton.constexpr_function if it computes "
           "constants";
  return "a " + std::string(globals ? "global" : "variable of the enclosing function") + " of type " + typeName(value) +
         "; make it tl.constexpr(...), or pass it as an argument";
}

Embedder::Answer PythonEmbedder::attribute(const Object &object, llvm::StringRef name) {
  return answering([&]() -> Answer {
    Handle owner = toPython(object), found = attributeOrNull(owner.get(), name.str().c_str());
    answers.addAttribute(owner, unicode(std::string_view(name)), found);
    return found ? Answer{toObject(found.get()), ""} : Answer{};
  });
}

Embedder::Answer PythonEmbedder::call(const Object &callee, llvm::ArrayRef<Object> positional,
                                      llvm::ArrayRef<std::pair<std::string, Object>> keywords) {
  return answering([&]() -> Answer {
    Handle function = toPython(callee);
    Handle arguments = checked(PyTuple_New(static_cast<Py_ssize_t>(positional.size())));
    for (size_t i = 0; i < positional.size(); ++i)
      checkedStatus(PyTuple_SetItem(arguments.get(), static_cast<Py_ssize_t>(i), toPython(positional[i]).release()));
    Handle named = checked(PyDict_New());
    for (const auto &[name, value] : keywords)
      checkedStatus(PyDict_SetItemString(named.get(), name.c_str(), toPython(value).get()));
    Handle result = checked(PyObject_Call(function.get(), arguments.get(), named.get()));
    answers.addCall(function, arguments, named, result);
    return {toObject(result.get()), ""};
  });
}

Object PythonEmbedder::toObject(PyObject *object) {
  if (object == Py_None)
    return Object();
  if (PyBool_Check(object))
    return Object(object == Py_True);
  const LanguageTypes &types = languageTypes();
  if (PyLong_CheckExact(object))
    return Object(toInteger(object));
  if (PyFloat_Check(object))
    return Object(PyFloat_AsDouble(object));
  if (PyUnicode_Check(object))
    return Object(text(object));
  if (object == Py_Ellipsis)
    return Object(EllipsisValue{});
  if (isInstance(object, types.constexprType))
    return toObject(python::attribute(object, "value").get());
  if (isInstance(object, types.constexprTypeType))
    return makeRecord(constexprTypeName, {"value"}, {toObject(python::attribute(object, "value").get())});
  if (isInstance(object, types.dtypeType)) {
    Type type = Type::parseShortName(textView(python::attribute(object, "_short_name").get()));
    return type ? Object(type) : opaque(object);
  }
  if (Handle kernel = kernelBehind(object); isKernel(kernel.get())) {
    object = kernel.get();
    Handle module = python::attribute(object, "__module__");
    std::string canonical = PyUnicode_Check(module.get()) ? canonicalModule(textView(module.get())) : "";
    if (!canonical.empty()) {
      // The standard library is the compiler's own: its functions are named, and never asked about.
      std::string name = text(python::attribute(object, "__name__").get());
      if (llvm::StringRef file = standardFunctionFile(canonical, name); !file.empty())
        return Object(JitReference{("triton.language." + file.drop_back(3) + "." + name).str(), nullptr});
    }
    std::shared_ptr<FunctionSource> source = functionSource(object);
    opaqueObjects.push_back(Handle::borrow(object)); // its handle is an address: keep it alive
    return Object(JitReference{source->key, source});
  }
  if (PyTuple_Check(object) || PyList_CheckExact(object)) {
    auto tuple = std::make_shared<TupleValue>();
    tuple->isList = PyList_CheckExact(object);
    if (Handle fields = attributeOrNull(object, "_fields"); fields && PyTuple_Check(fields.get())) {
      tuple->typeName = typeName(object);
      tuple->recordClass = std::make_shared<const Object>(toObject(reinterpret_cast<PyObject *>(Py_TYPE(object))));
      for (Py_ssize_t i = 0; i < PyTuple_Size(fields.get()); ++i)
        tuple->names.push_back(text(PyTuple_GetItem(fields.get(), i)));
    }
    for (Py_ssize_t i = 0, size = PySequence_Size(object); i < size; ++i)
      tuple->items.push_back(toObject(checked(PySequence_GetItem(object, i)).get()));
    return Object(std::shared_ptr<const TupleValue>(tuple));
  }
  if (Handle fields = aggregateFields(object)) {
    auto record = std::make_shared<TupleValue>();
    record->typeName = typeName(object);
    record->isRecord = true;
    record->recordClass = std::make_shared<const Object>(toObject(reinterpret_cast<PyObject *>(Py_TYPE(object))));
    for (Py_ssize_t i = 0; i < PyTuple_Size(fields.get()); ++i) {
      PyObject *name = PyTuple_GetItem(fields.get(), i);
      record->names.push_back(text(name));
      record->items.push_back(toObject(checked(PyObject_GetAttr(object, name)).get()));
    }
    return Object(std::shared_ptr<const TupleValue>(std::move(record)));
  }
  if (PyLong_Check(object)) // a member of an IntEnum and its like
    return Object(toInteger(object));
  if (llvm::StringRef(textView(python::attribute(reinterpret_cast<PyObject *>(Py_TYPE(object)), "__module__").get())) ==
      "numpy")
    if (Handle item = attributeOrNull(object, "item"); item && !attributeOrNull(object, "__len__"))
      return toObject(python::call(item.get()).get()); // a NumPy scalar
  if (std::optional<Object> member = memberOfLanguage(object))
    return *member;
  if (Handle moduleType = python::attribute(importModule("types").get(), "ModuleType");
      isInstance(object, moduleType)) {
    std::string name = text(python::attribute(object, "__name__").get());
    std::string canonical = canonicalModule(name);
    if (canonical.empty())
      foreignModules.insert_or_assign(name, Handle::borrow(object));
    return Object(ModuleReference{canonical.empty() ? name : canonical});
  }
  return opaque(object);
}

Object PythonEmbedder::opaque(PyObject *object) {
  Handle isRunTime = python::attribute(importModule("nacre.language.run_time_values").get(), "is_run_time");
  if (python::call(isRunTime.get(), object).get() == Py_True)
    raise(PyExc_TypeError, "a constexpr function cannot give a run-time value back");
  opaqueObjects.push_back(Handle::borrow(object));
  return Object(OpaqueReference{opaqueKey(object), static_cast<int64_t>(opaqueObjects.size())});
}

Handle PythonEmbedder::toPython(const Object &object) {
  if (object.isNone())
    return Handle::borrow(Py_None);
  if (object.isBool())
    return Handle::borrow(object.as<bool>() ? Py_True : Py_False);
  if (object.isInt())
    return fromInteger(object.as<llvm::DynamicAPInt>());
  if (object.isFloat())
    return checked(PyFloat_FromDouble(object.as<double>()));
  if (object.isString())
    return unicode(object.as<std::string>());
  if (object.is<EllipsisValue>())
    return Handle::borrow(Py_Ellipsis);
  if (object.isType())
    return python::call(languageTypes().dtypeByShortName.get(), unicode(object.as<Type>().shortName()).get());
  if (object.isTuple()) {
    const TupleValue &tuple = object.tuple();
    auto size = static_cast<Py_ssize_t>(tuple.items.size());
    Handle result = checked(tuple.isList ? PyList_New(size) : PyTuple_New(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject *item = toPython(tuple.items[i]).release();
      checkedStatus(tuple.isList ? PyList_SetItem(result.get(), i, item) : PyTuple_SetItem(result.get(), i, item));
    }
    if (tuple.recordClass && !tuple.isRecord) // a named tuple
      return checked(PyObject_CallObject(toPython(*tuple.recordClass).get(), result.get()));
    return result;
  }
  if (object.isRecord(constexprTypeName))
    return python::call(languageTypes().constexprTypeType.get(), toPython(BlockView::field(object, "value")).get());
  if (object.isRecord(descriptorName)) {
    Handle make = python::attribute(importModule("nacre.language.run_time_values").get(), "RunTimeDescriptor");
    Handle fields = checked(PyTuple_New(4));
    Py_ssize_t index = 0;
    for (const char *name : {"base", "shape", "strides", "block_shape"})
      checkedStatus(PyTuple_SetItem(fields.get(), index++, toPython(BlockView::field(object, name)).release()));
    return checked(PyObject_CallObject(make.get(), fields.get()));
  }
  if (object.isValue()) {
    Handle make = python::attribute(importModule("nacre.language.run_time_values").get(), "RunTimeValue");
    return python::call(make.get(), toPython(Object(object.value().type())).get());
  }
  if (object.is<std::shared_ptr<const SliceValue>>()) {
    const SliceValue &slice = *object.as<std::shared_ptr<const SliceValue>>();
    return checked(PySlice_New(toPython(slice.start).get(), toPython(slice.stop).get(), toPython(slice.step).get()));
  }
  if (object.is<OpaqueReference>()) {
    int64_t handle = object.as<OpaqueReference>().handle;
    if (handle >= 1 && handle <= static_cast<int64_t>(opaqueObjects.size()))
      return opaqueObjects[handle - 1];
  }
  if (object.is<JitReference>()) {
    auto *source = static_cast<const FunctionSource *>(object.as<JitReference>().function.get());
    if (source && source->embedderHandle)
      return Handle::borrow(reinterpret_cast<PyObject *>(source->embedderHandle));
    llvm::StringRef key = object.as<JitReference>().key; // the standard library's
    if (auto [module, name] = key.rsplit('.'); !source && module.consume_front("triton."))
      return python::attribute(importModule(("nacre." + module).str().c_str()).get(), name.str().c_str());
  }
  if (object.is<ModuleReference>()) {
    const std::string &name = object.as<ModuleReference>().name;
    if (auto found = foreignModules.find(name); found != foreignModules.end())
      return found->second;
    llvm::StringRef rest = name;
    return importModule(rest.consume_front("triton") ? ("nacre" + rest).str().c_str() : name.c_str());
  }
  if (object.is<const Builtin *>()) {
    const Builtin *builtin = object.as<const Builtin *>();
    return python::attribute(toPython(Object(ModuleReference{builtin->module})).get(), builtin->name.c_str());
  }
  raise(PyExc_TypeError, "%s cannot be passed to a Python function at compile time", object.typeName().c_str());
}

} // namespace nacre::python
