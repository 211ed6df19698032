#include "python/core/launching/JitKernel.h"
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"
#include "python/core/launching/RunKernel.h"
#include "python/core/launching/Specialize.h"

namespace nacre::python {

uint32_t knobChanges = 0;

namespace {

PyTypeObject *kernelType = nullptr;

struct KernelObject {
  PyObject_HEAD KernelState *state;
};

// The specialization of a call, compiled if need be; null when a hook said to skip it.
std::shared_ptr<Specialization> specializationOf(const LaunchCall &launch) {
  SpecializationKey key = launch.key();
  SpecializationTable &table = launch.state.specializations;
  if (std::shared_ptr<Specialization> known = table.find(key))
    return known;
  std::shared_ptr<Specialization> made = specialize(launch.kernel, launch.bound, launch.keywords, launch.isWarmup);
  if (made)
    table.add(key, made);
  return made;
}

PyObject *launchKernel(PyObject *kernel, PyObject *grid, bool takesGrid, PyObject *const *args, Py_ssize_t positional,
                       PyObject *names) {
  return guarded([&]() -> PyObject * {
    LaunchCall launch(kernel);
    bool byPython = isInterpreted(kernelState(kernel));
    HostCopies copies;
    if (byPython)
      args = copies.replace(args, positional + (names ? PyTuple_Size(names) : 0));
    launch.bind(args, positional, names, takesGrid);
    launch.callRunHooks(args, positional, names);
    if (byPython && !launch.isWarmup) {
      if (takesGrid)
        grid = launch.grid;
      if (!grid)
        raise(PyExc_TypeError, "run() needs grid=");
      interpretKernel(launch, grid);
      copies.finish();
      Py_RETURN_NONE;
    }
    std::shared_ptr<Specialization> found = specializationOf(launch);
    if (!found)
      Py_RETURN_NONE;
    if (takesGrid)
      grid = launch.grid;
    if (!launch.isWarmup) {
      if (!grid)
        raise(PyExc_TypeError, "run() needs grid=");
      runKernel(launch, *found, grid);
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
    LaunchCall launch(self);
    launch.bindSignature(signature, constants, attributes, readOptions(options), target, architecture);
    std::shared_ptr<Specialization> found = specializationOf(launch);
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
  kernelState(self).source.reset();
  kernelState(self).interpreted = Handle();
  Py_RETURN_NONE;
}

// Every CompiledKernel made so far.
PyObject *compiledKernels(PyObject *self, PyObject *) {
  return guarded([&] {
    Handle list = checked(PyList_New(0));
    for (PyObject *compiled : kernelState(self).specializations.compiled())
      checkedStatus(PyList_Append(list.get(), compiled));
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
  return state->specializations.visit(visit, arg);
}

int clearState(PyObject *self) {
  if (KernelState *state = reinterpret_cast<KernelObject *>(self)->state) {
    state->specializations.clear();
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
