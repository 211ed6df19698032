#include "python/core/launching/TunedKernel.h"
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"
#include "python/core/launching/JitKernel.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <unordered_map>

namespace nacre::python {

namespace {

PyTypeObject *tunedType = nullptr;
PyTypeObject *heuristicType = nullptr;

// What a vectorcall gets: positional arguments, then the keywords' values.
struct CallArguments {
  PyObject *const *values;
  Py_ssize_t positional;
  PyObject *names; // a tuple, or null

  Py_ssize_t keywords() const { return names ? PyTuple_Size(names) : 0; }
  PyObject *keyword(Py_ssize_t i) const { return PyTuple_GetItem(names, i); }
  PyObject *keywordValue(Py_ssize_t i) const { return values[positional + i]; }
};

bool sameText(PyObject *a, PyObject *b) { return a == b || PyUnicode_Compare(a, b) == 0; }

Handle interned(PyObject *name) {
  PyObject *held = Handle::borrow(name).release();
  PyUnicode_InternInPlace(&held);
  return Handle::steal(held);
}

llvm::SmallVector<Handle, 16> internedNames(PyObject *sequence) {
  llvm::SmallVector<Handle, 16> names;
  for (Py_ssize_t i = 0, size = PySequence_Size(sequence); i < size; ++i)
    names.push_back(interned(checked(PySequence_GetItem(sequence, i)).get()));
  return names;
}

// self.run(*args, grid=grid, warmup=False, **keywords), by Python.
PyObject *runInPython(PyObject *self, PyObject *grid, const CallArguments &given) {
  Handle positional = checked(PyTuple_New(given.positional));
  for (Py_ssize_t i = 0; i < given.positional; ++i)
    checkedStatus(PyTuple_SetItem(positional.get(), i, Handle::borrow(given.values[i]).release()));
  Handle keywords = checked(PyDict_New());
  for (Py_ssize_t i = 0; i < given.keywords(); ++i)
    checkedStatus(PyDict_SetItem(keywords.get(), given.keyword(i), given.keywordValue(i)));
  checkedStatus(PyDict_SetItemString(keywords.get(), "grid", grid));
  checkedStatus(PyDict_SetItemString(keywords.get(), "warmup", Py_False));
  return checked(PyObject_Call(attribute(self, "run").get(), positional.get(), keywords.get())).release();
}

PyObject *launchTuned(PyObject *self, PyObject *grid, const CallArguments &given);
PyObject *launchHeuristic(PyObject *self, PyObject *grid, const CallArguments &given);

// Whatever stands below an autotuner or heuristics.
PyObject *launchNext(PyObject *kernel, PyObject *grid, const CallArguments &given) {
  if (isKernel(kernel)) {
    PyObject *result = launchOverGrid(kernel, grid, given.values, given.positional, given.names);
    if (!result)
      throw PythonError();
    return result;
  }
  if (PyObject_TypeCheck(kernel, tunedType))
    return launchTuned(kernel, grid, given);
  if (PyObject_TypeCheck(kernel, heuristicType))
    return launchHeuristic(kernel, grid, given);
  return runInPython(kernel, grid, given);
}

// The text of a dtype, as it stands in the keys of tunings; made once for each of the first few hundred.
Handle dtypeText(PyObject *dtype) {
  static auto *known = new std::unordered_map<PyObject *, std::pair<Handle, Handle>>;
  if (auto found = known->find(dtype); found != known->end())
    return found->second.second;
  Handle text = checked(PyObject_Str(dtype));
  if (known->size() < 512)
    known->emplace(dtype, std::pair(Handle::borrow(dtype), text));
  return text;
}

// The dtype of an array; null for what has none.
Handle dtypeOf(PyObject *value) {
  if (PyLong_CheckExact(value) || PyFloat_CheckExact(value) || value == Py_None || PyBool_Check(value) ||
      PyUnicode_CheckExact(value) || PyTuple_CheckExact(value))
    return Handle();
  static PyObject *name = PyUnicode_InternFromString("dtype");
  PyObject *found = PyObject_GetAttr(value, name);
  if (!found) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      throw PythonError();
    PyErr_Clear();
  }
  return Handle::steal(found);
}

// A configuration as the keywords that it adds to a launch.
struct PreparedConfig {
  Handle config;
  bool isPlain = false; // no hook is called for it
  llvm::SmallVector<Handle, 8> names, values;
  llvm::SmallVector<Py_ssize_t, 8>
      parameters;                // where each name stands among the kernel's parameters; -1: it is an option
  Handle callNames, mergedNames; // those of the last launch, and with ours behind them
};

struct TunedState {
  Handle kernel; // what is launched
  Handle cache;  // key -> Config: a dictionary, or what a subclass keeps its results in, which Python asks
  Handle best;   // the Config used last, or None
  Handle single; // the only Config, or null
  llvm::SmallVector<Handle, 16> parameters;
  struct KeyPart {
    Py_ssize_t parameter;
    Handle bucket;   // what the value goes through; null: it counts as it is
    Handle fallback; // the parameter's default; null: it has none
  };
  llvm::SmallVector<KeyPart, 4> keys;
  std::unordered_map<PyObject *, std::shared_ptr<PreparedConfig>> prepared;
};
struct TunedObject {
  PyObject_HEAD TunedState *state;
};
TunedState &tunedState(PyObject *self) { return *reinterpret_cast<TunedObject *>(self)->state; }

PyObject *argumentOf(const TunedState &state, const CallArguments &given, Py_ssize_t parameter) {
  if (parameter < given.positional)
    return given.values[parameter];
  PyObject *name = state.parameters[static_cast<size_t>(parameter)].get();
  for (Py_ssize_t i = 0; i < given.keywords(); ++i)
    if (sameText(given.keyword(i), name))
      return given.keywordValue(i);
  return nullptr;
}

// Where a name stands among the parameters; -1: it is none.
Py_ssize_t parameterOf(const TunedState &state, PyObject *name) {
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (sameText(state.parameters[i].get(), name))
      return static_cast<Py_ssize_t>(i);
  return -1;
}

// What a value counts as in a key. An array counts by its type, for it is another one in every launch; a NaN is equal
// to the others.
Handle keyPart(PyObject *value) {
  if (PyFloat_CheckExact(value)) {
    static PyObject *nan = PyUnicode_InternFromString("nan");
    double number = PyFloat_AsDouble(value);
    return Handle::borrow(number == number ? value : nan);
  }
  Handle dtype = dtypeOf(value);
  static PyObject *address = PyUnicode_InternFromString("data_ptr");
  bool isArray =
      dtype && (PyType_GetSlot(Py_TYPE(value), Py_tp_hash) == reinterpret_cast<void *>(PyObject_HashNotImplemented) ||
                PyObject_HasAttr(value, address));
  return isArray ? dtypeText(dtype.get()) : Handle::borrow(value);
}

// The key of a launch: the values that the tuning depends on, then the dtypes of all arrays in the order of the
// parameters, however they were passed.
Handle keyOf(const TunedState &state, const CallArguments &given) {
  llvm::SmallVector<Handle, 16> parts;
  for (const TunedState::KeyPart &part : state.keys) {
    PyObject *value = argumentOf(state, given, part.parameter);
    if (!value)
      value = part.fallback.get();
    if (value)
      parts.push_back(part.bucket ? call(part.bucket.get(), value) : keyPart(value));
  }
  Py_ssize_t named = std::min(given.positional, static_cast<Py_ssize_t>(state.parameters.size()));
  for (Py_ssize_t i = 0; i < named; ++i)
    if (Handle dtype = dtypeOf(given.values[i]))
      parts.push_back(dtypeText(dtype.get()));
  llvm::SmallVector<std::pair<Py_ssize_t, Handle>, 4> byName;
  for (Py_ssize_t i = 0; i < given.keywords(); ++i)
    if (Handle dtype = dtypeOf(given.keywordValue(i)))
      if (Py_ssize_t parameter = parameterOf(state, given.keyword(i)); parameter >= 0)
        byName.emplace_back(parameter, dtypeText(dtype.get()));
  llvm::sort(byName, [](const auto &left, const auto &right) { return left.first < right.first; });
  for (auto &[parameter, text] : byName)
    parts.push_back(std::move(text));
  Handle key = checked(PyTuple_New(static_cast<Py_ssize_t>(parts.size())));
  for (size_t i = 0; i < parts.size(); ++i)
    checkedStatus(PyTuple_SetItem(key.get(), static_cast<Py_ssize_t>(i), parts[i].release()));
  return key;
}

std::shared_ptr<PreparedConfig> prepare(TunedState &state, PyObject *config) {
  if (auto found = state.prepared.find(config); found != state.prepared.end())
    return found->second;
  auto prepared = std::make_shared<PreparedConfig>();
  PreparedConfig &made = *prepared;
  made.config = Handle::borrow(config);
  made.isPlain = attribute(config, "pre_hook").get() == Py_None;
  Handle keywords = call(attribute(config, "all_kwargs").get());
  Handle items = checked(PyMapping_Items(keywords.get()));
  for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
    PyObject *pair = PyList_GetItem(items.get(), i);
    made.names.push_back(interned(PyTuple_GetItem(pair, 0)));
    made.values.push_back(Handle::borrow(PyTuple_GetItem(pair, 1)));
    Py_ssize_t parameter = -1;
    for (size_t j = 0; j < state.parameters.size(); ++j)
      if (sameText(state.parameters[j].get(), made.names.back().get()))
        parameter = static_cast<Py_ssize_t>(j);
    made.parameters.push_back(parameter);
  }
  state.prepared.emplace(config, prepared);
  return prepared;
}

// A launch may not set what the configuration sets.
bool clashes(const PreparedConfig &config, const CallArguments &given) {
  for (size_t i = 0; i < config.names.size(); ++i) {
    if (config.parameters[i] >= 0 && config.parameters[i] < given.positional)
      return true;
    for (Py_ssize_t j = 0; j < given.keywords(); ++j)
      if (sameText(given.keyword(j), config.names[i].get()))
        return true;
  }
  return false;
}

PyObject *namesWith(PreparedConfig &config, PyObject *names) {
  if (config.mergedNames && config.callNames.get() == names)
    return config.mergedNames.get();
  Py_ssize_t given = names ? PyTuple_Size(names) : 0;
  Handle merged = checked(PyTuple_New(given + static_cast<Py_ssize_t>(config.names.size())));
  for (Py_ssize_t i = 0; i < given; ++i)
    checkedStatus(PyTuple_SetItem(merged.get(), i, Handle::borrow(PyTuple_GetItem(names, i)).release()));
  for (size_t i = 0; i < config.names.size(); ++i)
    checkedStatus(PyTuple_SetItem(merged.get(), given + static_cast<Py_ssize_t>(i), Handle(config.names[i]).release()));
  config.callNames = Handle::borrow(names);
  config.mergedNames = merged;
  return config.mergedNames.get();
}

PyObject *launchTuned(PyObject *self, PyObject *grid, const CallArguments &given) {
  TunedState &state = tunedState(self);
  Handle config = state.single;
  if (!config && state.kernel && PyDict_CheckExact(state.cache.get())) {
    Handle key = keyOf(state, given);
    config = Handle::borrow(PyDict_GetItemWithError(state.cache.get(), key.get()));
    if (PyErr_Occurred()) // a value that cannot be part of a key: Python says which
      PyErr_Clear();
  }
  if (!config)
    return runInPython(self, grid, given);
  // Held: the launch may run Python, which may tune again.
  std::shared_ptr<PreparedConfig> prepared = prepare(state, config.get());
  if (!prepared->isPlain || clashes(*prepared, given))
    return runInPython(self, grid, given);
  llvm::SmallVector<PyObject *, 32> values(given.values, given.values + given.positional + given.keywords());
  for (const Handle &value : prepared->values)
    values.push_back(value.get());
  Handle names = Handle::borrow(namesWith(*prepared, given.names));
  Handle kernel = state.kernel;
  state.best = config;
  return launchNext(kernel.get(), grid, {values.data(), given.positional, names.get()});
}

struct HeuristicState {
  Handle kernel;
  llvm::SmallVector<Handle, 16> parameters;
  llvm::SmallVector<std::pair<Handle, Handle>, 4> values; // name, function
};
struct HeuristicObject {
  PyObject_HEAD HeuristicState *state;
};
HeuristicState &heuristicState(PyObject *self) { return *reinterpret_cast<HeuristicObject *>(self)->state; }

// What a heuristic says: the value, or a dictionary that holds it.
Handle evaluate(PyObject *self, PyObject *name, PyObject *function, PyObject *arguments) {
  Handle value = Handle::steal(PyObject_CallFunctionObjArgs(function, arguments, nullptr));
  if (!value) {
    PyObject *kind, *error, *traceback;
    PyErr_Fetch(&kind, &error, &traceback);
    PyErr_NormalizeException(&kind, &error, &traceback);
    Handle told = Handle::steal(PyObject_CallMethod(self, "_note", "OO", error, name));
    PyErr_Clear();
    PyErr_Restore(kind, error, traceback);
    throw PythonError();
  }
  if (!PyDict_Check(value.get()))
    return value;
  if (PyObject *inside = PyDict_GetItemWithError(value.get(), name))
    return Handle::borrow(inside);
  if (!PyErr_Occurred())
    checked(PyObject_CallMethod(self, "_refuse_dictionary", "OO", name, value.get()));
  throw PythonError();
}

PyObject *launchHeuristic(PyObject *self, PyObject *grid, const CallArguments &given) {
  HeuristicState &state = heuristicState(self);
  if (!state.kernel)
    return runInPython(self, grid, given);
  Handle arguments = checked(PyDict_New());
  Py_ssize_t named = std::min(given.positional, static_cast<Py_ssize_t>(state.parameters.size()));
  for (Py_ssize_t i = 0; i < named; ++i)
    checkedStatus(PyDict_SetItem(arguments.get(), state.parameters[static_cast<size_t>(i)].get(), given.values[i]));
  llvm::SmallVector<PyObject *, 32> values(given.values, given.values + given.positional);
  llvm::SmallVector<PyObject *, 16> names;
  for (Py_ssize_t i = 0; i < given.keywords(); ++i) {
    checkedStatus(PyDict_SetItem(arguments.get(), given.keyword(i), given.keywordValue(i)));
    names.push_back(given.keyword(i));
    values.push_back(given.keywordValue(i));
  }
  llvm::SmallVector<Handle, 4> computed;
  for (const auto &[name, function] : state.values) {
    computed.push_back(evaluate(self, name.get(), function.get(), arguments.get()));
    PyObject *value = computed.back().get();
    checkedStatus(PyDict_SetItem(arguments.get(), name.get(), value));
    size_t place = 0;
    while (place < names.size() && !sameText(names[place], name.get()))
      ++place;
    if (place == names.size()) {
      names.push_back(name.get());
      values.push_back(value);
    } else {
      values[static_cast<size_t>(given.positional) + place] = value;
    }
  }
  Handle tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(names.size())));
  for (size_t i = 0; i < names.size(); ++i)
    checkedStatus(PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), Handle::borrow(names[i]).release()));
  Handle kernel = state.kernel;
  return launchNext(kernel.get(), grid, {values.data(), given.positional, tuple.get()});
}

// What kernel[grid] returns: a function bound to the pair (kernel, grid).
PyObject *callWithGrid(PyObject *pair, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  return guarded(
      [&] { return launchNext(PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1), {args, positional, names}); });
}
PyMethodDef callWithGridMethod = {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(callWithGrid)),
                                  METH_FASTCALL | METH_KEYWORDS,
                                  "Chooses what is not given, compiles if need be, and runs the kernel over the grid."};

PyObject *subscript(PyObject *self, PyObject *grid) {
  return guarded([&] {
    Handle pair = checked(PyTuple_Pack(2, self, grid));
    return checked(PyCFunction_NewEx(&callWithGridMethod, pair.get(), nullptr)).release();
  });
}

// _configure(kernel or None, parameters, [(parameter's index, bucket or None, () or a tuple with its default)], the
// only Config or None). Without a kernel every launch goes through run().
PyObject *configureTuned(PyObject *self, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *kernel, *parameters, *keys, *single;
    if (!PyArg_ParseTuple(args, "OOO!O", &kernel, &parameters, &PyList_Type, &keys, &single))
      throw PythonError();
    TunedState &state = tunedState(self);
    state.kernel = kernel == Py_None ? Handle() : Handle::borrow(kernel);
    state.single = single == Py_None || !state.kernel ? Handle() : Handle::borrow(single);
    state.parameters = internedNames(parameters);
    state.prepared.clear();
    state.keys.clear();
    for (Py_ssize_t i = 0; i < PyList_Size(keys); ++i) {
      Py_ssize_t parameter;
      PyObject *bucket, *fallback;
      if (!PyArg_ParseTuple(PyList_GetItem(keys, i), "nOO!", &parameter, &bucket, &PyTuple_Type, &fallback))
        throw PythonError();
      state.keys.push_back({parameter, bucket == Py_None ? Handle() : Handle::borrow(bucket),
                            PyTuple_Size(fallback) ? Handle::borrow(PyTuple_GetItem(fallback, 0)) : Handle()});
    }
    Py_RETURN_NONE;
  });
}

// _configure(kernel or None, parameters, {name: function})
PyObject *configureHeuristic(PyObject *self, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *kernel, *parameters, *values;
    if (!PyArg_ParseTuple(args, "OOO", &kernel, &parameters, &values))
      throw PythonError();
    HeuristicState &state = heuristicState(self);
    state.kernel = kernel == Py_None ? Handle() : Handle::borrow(kernel);
    state.parameters = internedNames(parameters);
    state.values.clear();
    Handle items = checked(PyMapping_Items(values));
    for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
      PyObject *pair = PyList_GetItem(items.get(), i);
      state.values.emplace_back(interned(PyTuple_GetItem(pair, 0)), Handle::borrow(PyTuple_GetItem(pair, 1)));
    }
    Py_RETURN_NONE;
  });
}

// _key(*args, **keywords): the key of a launch with these.
PyObject *tunedKey(PyObject *self, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  return guarded([&] { return keyOf(tunedState(self), {args, positional, names}).release(); });
}

PyObject *getCache(PyObject *self, void *) { return Handle(tunedState(self).cache).release(); }
int setCache(PyObject *self, PyObject *value, void *) {
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "cache cannot be deleted: clear() empties it");
    return -1;
  }
  tunedState(self).cache = Handle::borrow(value);
  tunedState(self).prepared.clear();
  return 0;
}
PyObject *getBest(PyObject *self, void *) { return Handle(tunedState(self).best).release(); }
int setBest(PyObject *self, PyObject *value, void *) {
  tunedState(self).best = Handle::borrow(value ? value : Py_None);
  return 0;
}

template <typename Object, typename State> PyObject *allocate(PyTypeObject *type, PyObject *, PyObject *) {
  return guarded([&] {
    auto allocator = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    Handle self = checked(allocator(type, 0));
    auto *state = reinterpret_cast<Object *>(self.get())->state = new State;
    if constexpr (std::is_same_v<State, TunedState>) {
      state->cache = checked(PyDict_New());
      state->best = Handle::borrow(Py_None);
    }
    return self.release();
  });
}

template <typename Object> void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete std::exchange(reinterpret_cast<Object *>(self)->state, nullptr);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

int visitTuned(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (TunedState *state = reinterpret_cast<TunedObject *>(self)->state) {
    Py_VISIT(state->kernel.get());
    Py_VISIT(state->cache.get());
    for (const TunedState::KeyPart &part : state->keys)
      Py_VISIT(part.bucket.get());
  }
  return 0;
}
int clearTuned(PyObject *self) {
  if (TunedState *state = reinterpret_cast<TunedObject *>(self)->state) {
    state->kernel = Handle();
    state->keys.clear();
  }
  return 0;
}
int visitHeuristic(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (HeuristicState *state = reinterpret_cast<HeuristicObject *>(self)->state) {
    Py_VISIT(state->kernel.get());
    for (const auto &[name, function] : state->values)
      Py_VISIT(function.get());
  }
  return 0;
}
int clearHeuristic(PyObject *self) {
  if (HeuristicState *state = reinterpret_cast<HeuristicObject *>(self)->state) {
    state->kernel = Handle();
    state->values.clear();
  }
  return 0;
}

PyMethodDef tunedMethods[] = {
    {"_configure", configureTuned, METH_VARARGS, nullptr},
    {"_key", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(tunedKey)), METH_FASTCALL | METH_KEYWORDS,
     nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef tunedAttributes[] = {
    {"cache", getCache, setCache, "The configurations chosen so far, by key: a dictionary, or an object that is asked as one.", nullptr},
    {"best_config", getBest, setBest, "The configuration of the last launch, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot tunedSlots[] = {
    {Py_tp_new, reinterpret_cast<void *>(allocate<TunedObject, TunedState>)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate<TunedObject>)},
    {Py_tp_traverse, reinterpret_cast<void *>(visitTuned)},
    {Py_tp_clear, reinterpret_cast<void *>(clearTuned)},
    {Py_mp_subscript, reinterpret_cast<void *>(subscript)},
    {Py_tp_methods, tunedMethods},
    {Py_tp_getset, tunedAttributes},
    {Py_tp_doc, const_cast<char *>("The native half of Autotuner.")},
    {0, nullptr},
};
PyType_Spec tunedSpec = {"nacre._core.TunedKernel", sizeof(TunedObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, tunedSlots};

PyMethodDef heuristicMethods[] = {
    {"_configure", configureHeuristic, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot heuristicSlots[] = {
    {Py_tp_new, reinterpret_cast<void *>(allocate<HeuristicObject, HeuristicState>)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate<HeuristicObject>)},
    {Py_tp_traverse, reinterpret_cast<void *>(visitHeuristic)},
    {Py_tp_clear, reinterpret_cast<void *>(clearHeuristic)},
    {Py_mp_subscript, reinterpret_cast<void *>(subscript)},
    {Py_tp_methods, heuristicMethods},
    {Py_tp_doc, const_cast<char *>("The native half of Heuristics.")},
    {0, nullptr},
};
PyType_Spec heuristicSpec = {"nacre._core.HeuristicKernel", sizeof(HeuristicObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, heuristicSlots};

} // namespace

Handle makeTunedKernelType() {
  Handle type = checked(PyType_FromSpec(&tunedSpec));
  tunedType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}

Handle makeHeuristicKernelType() {
  Handle type = checked(PyType_FromSpec(&heuristicSpec));
  heuristicType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}

} // namespace nacre::python
