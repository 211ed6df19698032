#include "python/core/launching/LaunchCall.h"
#include "python/core/Errors.h"
#include "python/core/launching/ArrayDevices.h"
#include "python/core/launching/CompileSettings.h"
#include "python/core/launching/NativeKernel.h"
#include "python/core/launching/PythonHooks.h"
#include "python/core/launching/SignatureArguments.h"

namespace nacre::python {

void LaunchCall::bind(PyObject *const *args, Py_ssize_t positional, PyObject *names, bool takesGrid) {
  size_t count = static_cast<size_t>(positional);
  if (count > values.size())
    raise(PyExc_TypeError, "%U() takes %zu arguments, but %zd were given", name().get(), values.size(), positional);
  std::copy(args, args + count, values.begin());
  Py_ssize_t keywordCount = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < keywordCount; ++i)
    bindKeyword(PyTuple_GetItem(names, i), args[positional + i], count, takesGrid);
  for (size_t i = 0; i < values.size(); ++i) {
    const ParameterRecord &parameter = state.parameters[i];
    if (!values[i])
      values[i] = parameter.defaultValue.get();
    if (!values[i])
      raise(PyExc_TypeError, "%U() is missing the argument %R", name().get(), parameter.name.get());
    bound.bind(parameter, values[i]);
  }
  keywords.knobs = knobChanges;
  keywords.device = bound.onlyDevice()      ? bound.onlyDevice()
                    : bound.anyOnDevice     ? &commonDevice()
                    : bound.anyInHostMemory ? &hostMemoryDevice()
                                            : &activeDevice();
  if (refusedOnCuda && keywords.device->driver.target().name() == "cuda")
    raise(PyExc_ValueError, "%U(): the option %s is not heeded on CUDA; %s instead", name().get(), refusedOnCuda->name,
          refusedOnCuda->insteadOnCuda);
}

void LaunchCall::bindSignature(PyObject *signature, PyObject *constants, PyObject *attributes,
                               const LaunchOptionValues &options, const char *target, const char *architecture) {
  SignatureArguments arguments(bound, constants, attributes);
  Handle constexprText = unicode("constexpr");
  for (size_t i = 0; i < state.parameters.size(); ++i) {
    PyObject *type = PyDict_GetItemWithError(signature, state.parameters[i].name.get());
    arguments.bind(state.parameters[i], static_cast<Py_ssize_t>(i), type ? type : constexprText.get());
  }
  keywords.options = options;
  if (keywords.options[LaunchOptionId::Debug] > 0)
    keywords.options[LaunchOptionId::Debug] = debugAsserts;
  keywords.knobs = knobChanges;
  keywords.device = &activeDevice();
  isWarmup = true;
  // What is compiled for the active device is what its launches find.
  bool isActiveTarget = !target || keywords.device->driver.target().name() == target;
  if (isActiveTarget && (!*architecture || keywords.device->properties().architecture == architecture))
    return;
  for (Driver *driver : drivers())
    if (driver->target().name() == target) {
      keywords.driver = driver;
      keywords.device = driver->count() > 0 ? driver->device(driver->currentIndex()) : nullptr;
      keywords.architecture = architectureNumber(architecture);
      return;
    }
  raise(PyExc_ValueError, "there is no target '%s'", target);
}

// ---- Names of arguments and options

// Some array is on a device: all must be, and on the same.
Device &LaunchCall::commonDevice() const {
  LaunchDevice device;
  forEachArgument([&](const BoundArgument &argument, size_t, PyObject *parameter) {
    if (argument.isArray)
      device.add(parameter, argument.slot, argument.device);
  });
  return device.choose();
}

// Names are found by their addresses: those of parameters and options are interned, and so are a call's as a rule.
std::optional<size_t> LaunchCall::parameterNamed(PyObject *keyword) const {
  for (size_t i = 0; i < values.size(); ++i)
    if (state.parameters[i].name.get() == keyword)
      return i;
  if (optionWithName(keyword))
    return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i)
    if (PyUnicode_Compare(state.parameters[i].name.get(), keyword) == 0)
      return i;
  return std::nullopt;
}

void LaunchCall::bindKeyword(PyObject *keyword, PyObject *value, size_t positional, bool takesGrid) {
  if (std::optional<size_t> place = parameterNamed(keyword)) {
    if (values[*place])
      raise(PyExc_TypeError, "%U() got the argument %R twice", name().get(), keyword);
    values[*place] = value;
    return;
  }
  if (const LaunchOption *option = optionNamed(keyword))
    keywords.options[option->id] = optionValue(*option, value);
  else if (takesGrid && textView(keyword) == "grid")
    grid = value;
  else if (takesGrid && textView(keyword) == "warmup")
    isWarmup = switchValue(value) == 1;
  else if (const ForeignOption *foreign = findForeignOption(llvm::StringRef(textView(keyword))))
    refusedOnCuda = foreign->insteadOnCuda && switchValue(value) == 1 ? foreign : refusedOnCuda;
  else
    raise(PyExc_KeyError, "%U() has no parameter and there is no launch option named %R%s", name().get(), keyword,
          suggestion(textView(keyword)).c_str());
}

// "; did you mean 'num_warps'?", of the parameters and options, where one is spelled much the same.
std::string LaunchCall::suggestion(llvm::StringRef keyword) const {
  std::string best;
  unsigned least = static_cast<unsigned>(keyword.size()) / 3 + 1;
  auto consider = [&](llvm::StringRef known) {
    if (unsigned distance = keyword.edit_distance_insensitive(known); distance < least) {
      least = distance;
      best = known.str();
    }
  };
  for (const ParameterRecord &parameter : state.parameters)
    consider(textView(parameter.name.get()));
  for (const LaunchOption &option : launchOptions)
    consider(option.name);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

// ---- What a launch asks

void LaunchCall::callRunHooks(PyObject *const *args, Py_ssize_t positional, PyObject *names) const {
  if (!state.hasRunHooks)
    return;
  Handle tuple = checked(PyTuple_New(positional));
  for (Py_ssize_t i = 0; i < positional; ++i)
    checkedStatus(PyTuple_SetItem(tuple.get(), i, Handle::borrow(args[i]).release()));
  Handle named = checked(PyDict_New());
  for (Py_ssize_t i = 0, count = names ? PyTuple_Size(names) : 0; i < count; ++i)
    checkedStatus(PyDict_SetItem(named.get(), PyTuple_GetItem(names, i), args[positional + i]));
  call(attribute(kernel, "_run_pre_hooks").get(), tuple.get(), named.get());
}

SpecializationKey LaunchCall::key() const {
  SpecializationKey key;
  key.bytes.append(reinterpret_cast<const char *>(&keywords), reinterpret_cast<const char *>(&keywords + 1));
  bound.appendKey(key.bytes, key.objects);
  if (stageHook) { // what it will do to the stages has a name
    Handle hook = *stageHook;
    Handle name = checked(PyObject_Repr(call(hook.get()).get()));
    std::string_view shown = textView(name.get());
    key.bytes.append(shown.begin(), shown.end());
  }
  return key;
}

void LaunchCall::extentsOf(PyObject *grid, uint32_t (&extents)[3]) const {
  bool isLast = grid == state.lastGrid.get();
  if (isLast && state.lastExtents) {
    std::copy(state.lastExtents->begin(), state.lastExtents->end(), extents);
    return;
  }
  Handle computed;
  if (PyCallable_Check(grid)) {
    computed = callGrid(grid);
    grid = computed.get();
  }
  readGrid(grid, extents);
  if (isLast)
    state.lastExtents = {extents[0], extents[1], extents[2]};
}

// A grid function that asks for a name that is no argument raises KeyError; a note says whose the name should be.
Handle LaunchCall::callGrid(PyObject *grid) const {
  Handle arguments = argumentDictionary();
  try {
    return call(grid, arguments.get());
  } catch (PythonError &) {
    if (!PyErr_ExceptionMatches(PyExc_KeyError))
      throw;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    noteMissingArgument(value, arguments.get());
    PyErr_Restore(type, value, traceback);
    throw;
  }
}

// Leaves the error as it is where the key is no text, or where it is an argument: then another dictionary lacks it.
void LaunchCall::noteMissingArgument(PyObject *error, PyObject *arguments) const {
  Handle keys = attribute(error, "args");
  PyObject *key = PyTuple_Size(keys.get()) == 1 ? PyTuple_GetItem(keys.get(), 0) : nullptr;
  if (!key || !PyUnicode_Check(key) || PyDict_GetItemWithError(arguments, key))
    return;
  Handle names = checked(PyDict_Keys(arguments));
  Handle shown = checked(PyUnicode_Join(unicode(", ").get(), names.get()));
  Handle note = checked(PyUnicode_FromFormat("the grid function of %U() is called with its arguments, which are %U%s",
                                             name().get(), shown.get(), suggestion(textView(key)).c_str()));
  call(attribute(error, "add_note").get(), note.get());
}

Handle LaunchCall::argumentDictionary() const {
  Handle dictionary = checked(PyDict_New());
  const LanguageTypes &types = languageTypes();
  for (size_t i = 0; i < values.size(); ++i) {
    Handle value = Handle::borrow(values[i]);
    if (reinterpret_cast<PyObject *>(Py_TYPE(values[i])) == types.constexprType.get())
      value = attribute(values[i], "value");
    checkedStatus(PyDict_SetItem(dictionary.get(), state.parameters[i].name.get(), value.get()));
  }
  for (const LaunchOption &option : launchOptions)
    if (option.inGrid)
      checkedStatus(PyDict_SetItem(dictionary.get(), optionName(option),
                                   checked(PyLong_FromLongLong(keywords.options[option.id])).get()));
  return dictionary;
}

void LaunchCall::refuseReadOnly(uint64_t written) const {
  forEachArgument([&](const BoundArgument &argument, size_t slot, PyObject *parameter) {
    if (argument.kind == BoundArgument::Kind::Pointer && argument.readOnly && slot < 64 && (written >> slot & 1))
      raise(PyExc_ValueError, "%U() writes through the argument %R, which is a read-only array", name().get(),
            parameter);
  });
}

void LaunchCall::refuseNull() const {
  forEachArgument([&](const BoundArgument &argument, size_t, PyObject *parameter) {
    if (argument.kind != BoundArgument::Kind::Pointer || !argument.isNull || isEmptyArray(argument.constant))
      return;
    raise(PyExc_ValueError,
          "%U(): the argument %R is a %s without memory (its address is null), so the kernel cannot run on it; pass a "
          "tensor that holds data, or use warmup() to compile only",
          name().get(), parameter, typeName(argument.constant).c_str());
  });
}

} // namespace nacre::python
