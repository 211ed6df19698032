#include "python/core/launching/JitKernel.h"
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"
#include "python/core/launching/ArrayDevices.h"
#include "python/core/launching/CompileSettings.h"
#include "python/core/launching/KnownMemory.h"
#include "python/core/launching/NativeKernel.h"
#include "python/core/launching/PythonHooks.h"
#include "python/core/launching/SignatureArguments.h"
#include "python/core/launching/Specialize.h"
#include "python/core/launching/TorchProfiler.h"
#include "python/core/launching/WatchedLaunch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

namespace nacre::python {

uint32_t knobChanges = 0;

namespace {

PyTypeObject *kernelType = nullptr;

struct KernelObject {
  PyObject_HEAD KernelState *state;
};

// One launch, from Python's arguments to the end of the kernel.
class Launch {
public:
  Launch(PyObject *kernel) : kernel(kernel), state(kernelState(kernel)), values(state.parameters.size(), nullptr) {}

  void bind(PyObject *const *args, Py_ssize_t positional, PyObject *names) {
    size_t count = static_cast<size_t>(positional);
    if (count > values.size())
      raise(PyExc_TypeError, "%U() takes %zu arguments, but %zd were given", name().get(), values.size(), positional);
    std::copy(args, args + count, values.begin());
    Py_ssize_t keywordCount = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < keywordCount; ++i)
      bindKeyword(PyTuple_GetItem(names, i), args[positional + i], count);
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
      raise(PyExc_ValueError, "%U(): the option %s is not heeded on CUDA; %s instead", name().get(),
            refusedOnCuda->name, refusedOnCuda->insteadOnCuda);
  }

  // Binds types alone, for a target by its name, or null: that of the active device.
  void bindSignature(PyObject *signature, PyObject *constants, PyObject *attributes, const LaunchOptionValues &options,
                     const char *target, const char *architecture) {
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
    if (!target || keywords.device->driver.target().name() == target)
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

  // The specialization for the bound arguments, compiled if need be; null when a hook said to skip.
  const Specialization *find() {
    llvm::SmallVector<char, 512> key;
    llvm::SmallVector<PyObject *, 8> objects;
    key.append(reinterpret_cast<const char *>(&keywords), reinterpret_cast<const char *>(&keywords + 1));
    bound.appendKey(key, objects);
    if (stageHook) { // what it will do to the stages has a name
      Handle hook = *stageHook;
      Handle name = checked(PyObject_Repr(call(hook.get()).get()));
      std::string_view shown = textView(name.get());
      key.append(shown.begin(), shown.end());
    }
    std::string_view view(key.data(), key.size());
    // Looking at constants may run Python, which may launch this kernel: what is looked at is held.
    chosen = state.last;
    if (chosen && matches(*chosen, view, objects))
      return chosen.get();
    uint64_t hash = llvm::xxh3_64bits(llvm::StringRef(view));
    for (const std::shared_ptr<Specialization> &candidate : withHash(hash))
      if (matches(*candidate, view, objects)) {
        chosen = state.last = candidate;
        return chosen.get();
      }
    chosen = specialize(kernel, bound, keywords, isWarmup);
    if (!chosen)
      return nullptr;
    chosen->key = view;
    for (PyObject *object : objects)
      chosen->objects.push_back(Handle::borrow(object));
    // Compiling let other threads run: whoever came first with the same key has the same code.
    removeStale(hash, view, objects);
    state.specializations.emplace(hash, chosen);
    state.last = chosen;
    return chosen.get();
  }

  // An array that may not be written is refused when the kernel writes it.
  void refuseReadOnly() {
    uint64_t written = chosen->kernel->code.access.surelyWritten;
    forEachArgument([&](const BoundArgument &argument, size_t slot, PyObject *parameter) {
      if (argument.kind == BoundArgument::Kind::Pointer && argument.readOnly && slot < 64 && (written >> slot & 1))
        raise(PyExc_ValueError, "%U() writes through the argument %R, which is a read-only array", name().get(),
              parameter);
    });
  }

  // So is one that has elements and no memory.
  void refuseNull() {
    forEachArgument([&](const BoundArgument &argument, size_t, PyObject *parameter) {
      if (argument.kind != BoundArgument::Kind::Pointer || !argument.isNull || isEmptyArray(argument.constant))
        return;
      raise(
          PyExc_ValueError,
          "%U(): the argument %R is a %s without memory (its address is null), so the kernel cannot run on it; pass a "
          "tensor that holds data, or use warmup() to compile only",
          name().get(), parameter, typeName(argument.constant).c_str());
    });
  }

  // Python runs the kernel.
  void interpret(PyObject *grid) {
    if (bound.anyNull)
      refuseNull();
    InterpretedLaunch launch{kernel, values, bound, keywords, {}};
    extentsOf(grid, launch.grid);
    lookForTorch();
    ProfiledLaunch event(kernel);
    if (!events::isWanted(LaunchEvents | AccessEvents))
      return runInterpreted(launch);
    std::string shown = text(name().get());
    auto arguments = [&] { return argumentDictionary(); };
    PythonLaunch caller{Py_None, kernel, arguments};
    LaunchEvent told{.id = events::nextLaunch(),
                     .name = shown,
                     .kernel = nullptr,
                     .device = &hostDevice(),
                     .stream = 0,
                     .grid = launch.grid,
                     .arguments = {},
                     .caller = &caller};
    events::around(told, [&] {
      if (events::isWanted(AccessEvents)) {
        caller.bound = &bound;
        caller.values = values;
        events::tell(AccessEvents, [&](EventListener &listener) {
          if (LaunchWatcher *watcher = listener.watch(told))
            launch.watchers.push_back(watcher);
        });
        if (caller.watched)
          launch.watcher = caller.watched->watcher();
      }
      runInterpreted(launch);
      if (caller.watched)
        caller.watched->end();
    });
  }

  void run(PyObject *grid) {
    if (!chosen->obstacle.empty())
      raise(PyExc_RuntimeError, "%U() cannot be launched: %s", name().get(), chosen->obstacle.c_str());
    if (bound.anyReadOnly)
      refuseReadOnly();
    if (bound.anyNull)
      refuseNull();
    uint32_t dimensions[3];
    extentsOf(grid, dimensions);
    llvm::SmallVector<uint64_t, 32> slots;
    for (const BoundArgument &argument : bound.arguments)
      if (argument.kind == BoundArgument::Kind::Pointer || argument.kind == BoundArgument::Kind::Number)
        slots.push_back(argument.slot);
    if (!chosen->isLoaded) {
      call(attribute(chosen->compiled.get(), "_init_handles").get());
      chosen->isLoaded = true;
    }
    std::optional<KnownArrays> arrays;
    if (chosen->tellsArrays)
      arrays = knownArrays(kernel, values, bound);
    ProfiledLaunch event(kernel);
    auto arguments = [&] { return argumentDictionary(); };
    PythonLaunch caller{chosen->compiled.get(), kernel, arguments, &bound, values};
    LaunchOptions options;
    options.caller = &caller;
    options.cooperative = chosen->cooperative;
    options.arrays = arrays ? &*arrays : nullptr;
    try {
      launchReleased(*chosen->kernel, *chosen->device, dimensions, slots, options);
      if (caller.watched)
        caller.watched->end();
    } catch (const KernelFaultError &fault) {
      if (caller.watched) // what was found before may tell why
        caller.watched->end();
      raiseFault(fault, fault.address ? knownMemory(kernel, values).describe(*fault.address) : "");
    }
  }

  void callRunHooks(PyObject *const *args, Py_ssize_t positional, PyObject *names) {
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

  PyObject *grid = nullptr; // borrowed; from the keyword of run()
  bool isWarmup = false;
  bool takesGrid = false; // called as run() or warmup()

private:
  Handle name() { return attribute(kernel, "__name__"); }

  // Of a grid in any form: numbers, or a function that says them.
  void extentsOf(PyObject *grid, uint32_t (&extents)[3]) {
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
  Handle callGrid(PyObject *grid) {
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
  void noteMissingArgument(PyObject *error, PyObject *arguments) {
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

  // visit(argument, its slot, the name of its parameter)
  template <typename Visit> void forEachArgument(Visit visit) {
    size_t slot = 0, parameter = 0, elements = 0; // `elements`: still to come of the tuple that `parameter` is
    for (const BoundArgument &argument : bound.arguments) {
      visit(argument, slot, state.parameters[parameter].name.get());
      slot += argument.kind == BoundArgument::Kind::Pointer || argument.kind == BoundArgument::Kind::Number;
      elements = elements - (elements > 0) + argument.elements;
      if (elements == 0)
        ++parameter;
    }
  }

  // Some array is on a device: all must be, and on the same.
  Device &commonDevice() {
    LaunchDevice device;
    forEachArgument([&](const BoundArgument &argument, size_t, PyObject *parameter) {
      if (argument.isArray)
        device.add(parameter, argument.slot, argument.device);
    });
    return device.choose();
  }

  // Names are found by their addresses: those of parameters and options are interned, and so are a call's as a rule.
  std::optional<size_t> parameterNamed(PyObject *keyword) {
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

  void bindKeyword(PyObject *keyword, PyObject *value, size_t positional) {
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
  std::string suggestion(llvm::StringRef keyword) {
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

  static bool matches(const Specialization &candidate, std::string_view key, llvm::ArrayRef<PyObject *> objects) {
    if (candidate.key != key || candidate.objects.size() != objects.size())
      return false;
    for (size_t i = 0; i < objects.size(); ++i) {
      int equal = PyObject_RichCompareBool(candidate.objects[i].get(), objects[i], Py_EQ);
      checkedStatus(equal);
      if (!equal)
        return false;
    }
    return candidate.isCurrent();
  }

  llvm::SmallVector<std::shared_ptr<Specialization>, 2> withHash(uint64_t hash) {
    llvm::SmallVector<std::shared_ptr<Specialization>, 2> found;
    auto [begin, end] = state.specializations.equal_range(hash);
    for (auto candidate = begin; candidate != end; ++candidate)
      found.push_back(candidate->second);
    return found;
  }

  // Entries whose constants or libraries have changed are of no use any more.
  void removeStale(uint64_t hash, std::string_view key, llvm::ArrayRef<PyObject *> objects) {
    llvm::SmallVector<std::shared_ptr<Specialization>, 2> stale = withHash(hash);
    llvm::erase_if(stale, [&](const auto &entry) { return entry->key != key || entry->isCurrent(); });
    auto [begin, end] = state.specializations.equal_range(hash);
    while (begin != end)
      begin = llvm::is_contained(stale, begin->second) ? state.specializations.erase(begin) : std::next(begin);
  }

  Handle argumentDictionary() {
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

  PyObject *kernel;
  KernelState &state;
  llvm::SmallVector<PyObject *, 32> values; // borrowed, by parameter
  BoundArguments bound;
  LaunchKeywords keywords;
  const ForeignOption *refusedOnCuda = nullptr; // which of those given would have to be heeded there
  std::shared_ptr<Specialization> chosen;
};

PyObject *launchKernel(PyObject *kernel, PyObject *grid, bool takesGrid, PyObject *const *args, Py_ssize_t positional,
                       PyObject *names) {
  return guarded([&]() -> PyObject * {
    Launch launch(kernel);
    launch.takesGrid = takesGrid;
    bool byPython = isInterpreted(kernelState(kernel));
    HostCopies copies;
    if (byPython)
      args = copies.replace(args, positional + (names ? PyTuple_Size(names) : 0));
    launch.bind(args, positional, names);
    launch.callRunHooks(args, positional, names);
    if (byPython && !launch.isWarmup) {
      if (takesGrid)
        grid = launch.grid;
      if (!grid)
        raise(PyExc_TypeError, "run() needs grid=");
      launch.interpret(grid);
      copies.finish();
      Py_RETURN_NONE;
    }
    const Specialization *found = launch.find();
    if (!found)
      Py_RETURN_NONE;
    if (takesGrid)
      grid = launch.grid;
    if (!launch.isWarmup) {
      if (!grid)
        raise(PyExc_TypeError, "run() needs grid=");
      launch.run(grid);
    }
    return Handle(found->compiled).release();
  });
}

// _compile_signature(signature, constants, attributes, options, target or None, architecture) -> CompiledKernel or None
PyObject *compileSignature(PyObject *self, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *signature, *constants, *attributes, *options;
    const char *target, *architecture;
    if (!PyArg_ParseTuple(args, "O!O!O!O!zs", &PyDict_Type, &signature, &PyDict_Type, &constants, &PyDict_Type,
                          &attributes, &PyDict_Type, &options, &target, &architecture))
      throw PythonError();
    Launch launch(self);
    launch.bindSignature(signature, constants, attributes, readOptions(options), target, architecture);
    const Specialization *found = launch.find();
    return found ? Handle(found->compiled).release() : Handle::borrow(Py_None).release();
  });
}

// What kernel[grid] returns: a function bound to the pair (kernel, grid).
PyObject *callWithGrid(PyObject *pair, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  return launchKernel(PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1), false, args, positional, names);
}
PyMethodDef callWithGridMethod = {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(callWithGrid)),
                                  METH_FASTCALL | METH_KEYWORDS,
                                  "Compiles the kernel for these arguments if need be, and runs it over the grid."};

// A tuple of numbers holds nothing else alive, and stays as it is.
bool isPlainGrid(PyObject *grid) {
  if (!PyTuple_CheckExact(grid))
    return false;
  for (Py_ssize_t i = 0, size = PyTuple_Size(grid); i < size; ++i)
    if (!PyLong_CheckExact(PyTuple_GetItem(grid, i)))
      return false;
  return true;
}

// A grid that stands in the source as numbers is the same object each time: what it gave is given again.
PyObject *subscript(PyObject *self, PyObject *grid) {
  return guarded([&] {
    KernelState &state = kernelState(self);
    if (state.lastGrid.get() == grid)
      return Handle(state.lastLauncher).release();
    Handle pair = checked(PyTuple_Pack(2, self, grid));
    Handle launcher = checked(PyCFunction_NewEx(&callWithGridMethod, pair.get(), nullptr));
    if (isPlainGrid(grid)) {
      Handle before = std::exchange(state.lastLauncher, launcher); // its end may run anything
      state.lastGrid = Handle::borrow(grid);
      state.lastExtents.reset();
    }
    return launcher.release();
  });
}

PyObject *run(PyObject *self, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  return launchKernel(self, nullptr, true, args, positional, names);
}

// _configure(names, flags, annotations, defaults, debug): one entry for each parameter. Flags: 1 constexpr, 2 const,
// 4 do_not_specialize, 8 do_not_specialize_on_alignment. Annotations: a short type name or "". Defaults: a dictionary
// by name.
PyObject *configure(PyObject *self, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *names, *flags, *annotations, *defaults;
    int debug;
    if (!PyArg_ParseTuple(args, "O!O!O!O!p", &PyTuple_Type, &names, &PyTuple_Type, &flags, &PyTuple_Type, &annotations,
                          &PyDict_Type, &defaults, &debug))
      throw PythonError();
    KernelState &state = kernelState(self);
    state.parameters.clear();
    state.specializations.clear();
    state.last.reset();
    state.debug = debug;
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
      ParameterRecord record;
      PyObject *name = Handle::borrow(PyTuple_GetItem(names, i)).release();
      PyUnicode_InternInPlace(&name);
      record.name = Handle::steal(name);
      long bits = PyLong_AsLong(PyTuple_GetItem(flags, i));
      record.isConstexpr = bits & 1;
      record.isConst = bits & 2;
      record.noSpecialization = bits & 4;
      record.noAlignment = bits & 8;
      std::string_view annotation = textView(PyTuple_GetItem(annotations, i));
      if (!annotation.empty())
        record.annotation = Type::parseShortName(llvm::StringRef(annotation));
      record.defaultValue = Handle::borrow(PyDict_GetItemWithError(defaults, name));
      state.parameters.push_back(std::move(record));
    }
    Py_RETURN_NONE;
  });
}

PyObject *clearCache(PyObject *self, PyObject *) {
  kernelState(self).specializations.clear();
  kernelState(self).last.reset();
  kernelState(self).source.reset();
  kernelState(self).interpreted = Handle();
  Py_RETURN_NONE;
}

// Every CompiledKernel made so far.
PyObject *compiledKernels(PyObject *self, PyObject *) {
  return guarded([&] {
    Handle list = checked(PyList_New(0));
    for (const auto &[hash, specialization] : kernelState(self).specializations)
      checkedStatus(PyList_Append(list.get(), specialization->compiled.get()));
    return list.release();
  });
}

PyObject *useRunHooks(PyObject *self, PyObject *value) {
  kernelState(self).hasRunHooks = PyObject_IsTrue(value) == 1;
  Py_RETURN_NONE;
}

PyObject *setInterpreted(PyObject *self, PyObject *value) {
  kernelState(self).isInterpreted = PyObject_IsTrue(value) == 1;
  Py_RETURN_NONE;
}

PyObject *allocate(PyTypeObject *type, PyObject *, PyObject *) {
  return guarded([&] {
    auto allocator = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    Handle self = checked(allocator(type, 0));
    reinterpret_cast<KernelObject *>(self.get())->state = new KernelState;
    return self.release();
  });
}

int visitState(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  KernelState *state = reinterpret_cast<KernelObject *>(self)->state;
  if (!state)
    return 0;
  for (const ParameterRecord &parameter : state->parameters)
    Py_VISIT(parameter.defaultValue.get());
  Py_VISIT(state->interpreted.get());
  Py_VISIT(state->lastLauncher.get());
  for (const auto &[hash, specialization] : state->specializations) {
    if (specialization.use_count() > (state->last == specialization ? 2 : 1))
      continue; // a launch is using it
    Py_VISIT(specialization->compiled.get());
    for (const Handle &object : specialization->objects)
      Py_VISIT(object.get());
    if (int status = specialization->answers.visit(visit, arg))
      return status;
  }
  return 0;
}

int clearState(PyObject *self) {
  if (KernelState *state = reinterpret_cast<KernelObject *>(self)->state) {
    auto specializations = std::move(state->specializations);
    state->specializations.clear();
    state->last.reset();
    state->interpreted = Handle();
    state->lastGrid = Handle();
    state->lastExtents.reset();
    state->lastLauncher = Handle();
  }
  return 0;
}

void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete std::exchange(reinterpret_cast<KernelObject *>(self)->state, nullptr);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(run)), METH_FASTCALL | METH_KEYWORDS,
     "run(*args, grid, warmup=False, **kwargs): what kernel[grid](*args, **kwargs) does; warmup only compiles."},
    {"_compile_signature", compileSignature, METH_VARARGS, nullptr},
    {"_configure", configure, METH_VARARGS, nullptr},
    {"_clear_cache", clearCache, METH_NOARGS, nullptr},
    {"_compiled_kernels", compiledKernels, METH_NOARGS, nullptr},
    {"_use_run_hooks", useRunHooks, METH_O, nullptr},
    {"_set_interpreted", setInterpreted, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void *>(allocate)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
    {Py_tp_traverse, reinterpret_cast<void *>(visitState)},
    {Py_tp_clear, reinterpret_cast<void *>(clearState)},
    {Py_mp_subscript, reinterpret_cast<void *>(subscript)},
    {Py_tp_call, reinterpret_cast<void *>(callInterpreted)},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char *>("The native half of JITFunction.")},
    {0, nullptr},
};
PyType_Spec spec = {"nacre._core.Kernel", sizeof(KernelObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

} // namespace

bool Specialization::isCurrent() const {
  for (const FileStamp &library : libraries)
    if (!library.isCurrent())
      return false;
  return answers.hold();
}

Handle makeKernelType() {
  Handle type = checked(PyType_FromSpec(&spec));
  kernelType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}

PyObject *launchOverGrid(PyObject *kernel, PyObject *grid, PyObject *const *args, Py_ssize_t positional,
                         PyObject *names) {
  return launchKernel(kernel, grid, false, args, positional, names);
}

KernelState &kernelState(PyObject *kernel) { return *reinterpret_cast<KernelObject *>(kernel)->state; }

bool isKernel(PyObject *object) { return PyObject_TypeCheck(object, kernelType); }

std::shared_ptr<FunctionSource> functionSource(PyObject *kernel) {
  KernelState &state = kernelState(kernel);
  if (state.source)
    return state.source;
  // (key, name, file, text, first line, first column, noinline)
  Handle description = call(attribute(kernel, "_source").get());
  const char *key, *name, *file, *body;
  int line, column, noinline;
  if (!PyArg_ParseTuple(description.get(), "ssssiip", &key, &name, &file, &body, &line, &column, &noinline))
    throw PythonError();
  auto source = std::make_shared<FunctionSource>();
  source->key = key;
  source->name = name;
  auto textOfFunction = std::make_shared<SourceText>();
  textOfFunction->fileName = file;
  textOfFunction->text = body;
  textOfFunction->firstLine = line;
  textOfFunction->firstColumn = column;
  source->text = textOfFunction;
  source->embedderHandle = reinterpret_cast<int64_t>(kernel);
  source->noinline = noinline;
  Handle isConstexpr = attributeOrNull(kernel, "_is_constexpr_function");
  source->isConstexprFunction = isConstexpr && isConstexpr.get() == Py_True;
  Handle isExternal = attributeOrNull(kernel, "_is_external");
  source->isExternal = isExternal && isExternal.get() == Py_True;
  Handle mustUse = attributeOrNull(kernel, "_must_use_result"); // True or a text
  if (mustUse && PyUnicode_Check(mustUse.get()))
    source->mustUse = text(mustUse.get());
  else if (mustUse && mustUse.get() == Py_True)
    source->mustUse = "";
  state.source = source;
  return source;
}

} // namespace nacre::python
