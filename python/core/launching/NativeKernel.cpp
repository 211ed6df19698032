#include "python/core/launching/NativeKernel.h"
#include "python/core/Errors.h"
#include "python/core/launching/Arguments.h"
#include "python/core/launching/ArrayDevices.h"
#include "runtime/cache/KernelEntry.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre::python {

namespace {

PyTypeObject *nativeKernelType = nullptr;

struct NativeKernelObject {
  PyObject_HEAD std::shared_ptr<Kernel> kernel;
  Device *device;           // or null
  std::string architecture; // that it was compiled for; empty: the device's
};

const std::shared_ptr<Kernel> &kernelOf(PyObject *self) { return reinterpret_cast<NativeKernelObject *>(self)->kernel; }

Device &deviceOf(PyObject *self) {
  if (Device *device = reinterpret_cast<NativeKernelObject *>(self)->device)
    return *device;
  const Target &target = *kernelOf(self)->code.target;
  std::string why = "this build has no driver for it";
  for (Driver *driver : drivers())
    if (&driver->target() == &target)
      why = driver->whyNone();
  raise(PyExc_RuntimeError, "the kernel was compiled for %s, and there is no such device here: %s",
        target.title().str().c_str(), why.c_str());
}

void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  auto *object = reinterpret_cast<NativeKernelObject *>(self);
  std::destroy_at(&object->kernel);
  std::destroy_at(&object->architecture);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject *getHash(PyObject *self, void *) {
  return guarded([&] { return unicode(kernelOf(self)->hash).release(); });
}
PyObject *getSymbol(PyObject *self, void *) {
  return guarded([&] { return unicode(kernelOf(self)->code.symbol).release(); });
}
PyObject *getObject(PyObject *self, void *) {
  const std::string &object = kernelOf(self)->code.object;
  return PyBytes_FromStringAndSize(object.data(), static_cast<Py_ssize_t>(object.size()));
}
PyObject *getScratch(PyObject *self, void *) {
  return PyLong_FromUnsignedLongLong(kernelOf(self)->code.metadata.scratchBytes);
}
PyObject *getEncoded(PyObject *self, void *) {
  return guarded([&] {
    std::string bytes = encodeKernel(kernelOf(self)->code);
    return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
  });
}
PyObject *getTarget(PyObject *self, void *) {
  return guarded([&] { return unicode(kernelOf(self)->code.target->name().str()).release(); });
}
PyObject *getAccess(PyObject *self, void *) {
  const ArgumentAccess &access = kernelOf(self)->code.access;
  return Py_BuildValue("(KK)", access.maybeRead, access.maybeWritten);
}
PyObject *getFunction(PyObject *self, void *) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(kernelOf(self)->on(deviceOf(self)).function); });
}
PyObject *getDevice(PyObject *self, void *) {
  return guarded([&] {
    Device *device = reinterpret_cast<NativeKernelObject *>(self)->device;
    return device ? unicode(device->name()).release() : Handle::borrow(Py_None).release();
  });
}

// What it was compiled for: the names that Triton has for its stages, and the name of the binary.
PyObject *getStageAliases(PyObject *self, void *) {
  return guarded([&] {
    Handle aliases = checked(PyDict_New());
    for (const StageName &stage : kernelOf(self)->code.target->stages())
      checkedStatus(PyDict_SetItemString(aliases.get(), stage.alias, unicode(stage.name).get()));
    return aliases.release();
  });
}
PyObject *getBinaryName(PyObject *self, void *) {
  return guarded([&] { return unicode(kernelOf(self)->code.target->binaryName().str()).release(); });
}
PyObject *getTitle(PyObject *self, void *) {
  return guarded([&] { return unicode(kernelOf(self)->code.target->title().str()).release(); });
}
// Empty where it is not known.
PyObject *getArchitecture(PyObject *self, void *) {
  return guarded([&] {
    const auto *object = reinterpret_cast<NativeKernelObject *>(self);
    bool asksDevice = object->architecture.empty() && object->device;
    return unicode(asksDevice ? object->device->properties().architecture : object->architecture).release();
  });
}
// Numbers of targets that have such; 0 elsewhere.
PyObject *getMetadata(PyObject *self, void *) {
  return guarded([&] {
    const KernelMetadata &known = kernelOf(self)->code.metadata;
    return checked(Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:s}", "shared",
                                 static_cast<unsigned long long>(known.sharedBytes), "num_warps",
                                 static_cast<unsigned long long>(known.warps), "num_ctas",
                                 static_cast<unsigned long long>(known.ctas), "n_regs",
                                 static_cast<unsigned long long>(known.registers), "n_spills",
                                 static_cast<unsigned long long>(known.spilledBytes), "remarks",
                                 llvm::join(known.remarks, "\n").c_str()))
        .release();
  });
}
// Loads it: (registers, spilled bytes, threads of a block at most), 0 where the device does not tell.
PyObject *getLoaded(PyObject *self, void *) {
  return guarded([&] {
    const LoadedKernel &loaded = kernelOf(self)->on(deviceOf(self));
    return checked(Py_BuildValue("(iii)", loaded.registers, loaded.spilledBytes, loaded.maximumThreads)).release();
  });
}

// stages() -> {"tile": text, ...}
PyObject *stages(PyObject *self, PyObject *) {
  return guarded([&] {
    std::shared_ptr<Kernel> kernel = kernelOf(self);
    const std::map<std::string, std::string> *texts;
    {
      ReleaseGil released;
      texts = &kernel->stages();
    }
    Handle result = checked(PyDict_New());
    for (const auto &[stage, text] : *texts)
      checkedStatus(PyDict_SetItemString(result.get(), stage.c_str(), unicode(text).get()));
    return result.release();
  });
}

// launch(grid, types, names, arguments): `types` holds one short type name for each argument ("" for a constant),
// tuples flattened.
PyObject *launchWithTypes(PyObject *self, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *gridObject, *types, *names, *values;
    PyObject *stream = Py_None;
    int cooperative = 0;
    if (!PyArg_ParseTuple(args, "OO!O!O!|pO", &gridObject, &PyTuple_Type, &types, &PyTuple_Type, &names, &PyTuple_Type,
                          &values, &cooperative, &stream))
      throw PythonError();
    Py_ssize_t count = PyTuple_Size(types);
    if (PyTuple_Size(values) != count || PyTuple_Size(names) != count)
      raise(PyExc_TypeError, "the kernel takes %zd arguments, %zd were given", count, PyTuple_Size(values));
    llvm::SmallVector<uint64_t, 32> slots;
    llvm::SmallVector<Handle, 4> keepAlive;
    LaunchDevice arrays;
    bool anyOnDevice = false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      std::string_view name = textView(PyTuple_GetItem(types, i));
      if (name.empty())
        continue;
      Type type = Type::parseShortName(llvm::StringRef(name));
      if (!type)
        raise(PyExc_ValueError, "%R is not a type of a kernel's argument", PyTuple_GetItem(types, i));
      PyObject *value = PyTuple_GetItem(values, i), *argument = PyTuple_GetItem(names, i);
      if (!type.isPointer()) {
        slots.push_back(numberSlot(value, type, argument));
        continue;
      }
      ArrayView view = addressOf(value, argument, keepAlive);
      slots.push_back(view.address);
      anyOnDevice |= view.device != nullptr;
      if (view.isPlaced)
        arrays.add(argument, view.address, view.device);
    }
    uint32_t grid[3];
    readGrid(gridObject, grid);
    Device &device = anyOnDevice ? arrays.choose() : deviceOf(self);
    if (&device.driver.target() != kernelOf(self)->code.target)
      raise(PyExc_ValueError, "the kernel was compiled for %s, and its arrays are on %s",
            kernelOf(self)->code.target->title().str().c_str(), device.name().c_str());
    LaunchOptions options;
    options.cooperative = cooperative;
    if (stream != Py_None) {
      options.stream = PyLong_AsUnsignedLongLong(stream);
      if (PyErr_Occurred())
        throw PythonError();
    }
    launchReleased(*kernelOf(self), device, grid, slots, options);
    Py_RETURN_NONE;
  });
}

// Where code of a target runs that nobody has named a device for; null: nowhere.
Device *usualDevice(const Target &target) {
  if (&activeDevice().driver.target() == &target)
    return &activeDevice();
  for (Driver *driver : drivers())
    if (&driver->target() == &target && driver->count() > 0)
      return driver->device(driver->currentIndex());
  return nullptr;
}

// load_kernel(bytes, hash) -> NativeKernel, from what `.encoded` gave, in this or another process.
PyObject *loadKernel(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *bytes, *hash;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#s", &bytes, &size, &hash))
      throw PythonError();
    std::optional<CompiledCode> code = decodeKernel(llvm::StringRef(bytes, static_cast<size_t>(size)));
    if (!code)
      raise(PyExc_ValueError, "these bytes are not a compiled kernel");
    const Target *target = code->target;
    return wrapKernel(std::make_shared<Kernel>(hash, std::move(*code)), usualDevice(*target)).release();
  });
}

// To other processes: the code travels, what it was compiled from does not.
PyObject *reduce(PyObject *self, PyObject *) {
  return guarded([&] {
    Handle load = attribute(reinterpret_cast<PyObject *>(nativeKernelType), "load");
    Handle encoded = checked(getEncoded(self, nullptr));
    return checked(Py_BuildValue("O(Os)", load.get(), encoded.get(), kernelOf(self)->hash.c_str())).release();
  });
}

PyMethodDef methods[] = {
    {"stages", stages, METH_NOARGS, "Every stage's text by name, from what the compile kept of them."},
    {"launch", launchWithTypes, METH_VARARGS, "launch(grid, types, names, arguments, cooperative=False, stream=None)"},
    {"load", reinterpret_cast<PyCFunction>(loadKernel), METH_VARARGS | METH_STATIC,
     "load(encoded, hash) -> NativeKernel"},
    {"__reduce__", reduce, METH_NOARGS, "For pickle."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef properties[] = {
    {"hash", getHash, nullptr, "Names the code: equal for equal code.", nullptr},
    {"symbol", getSymbol, nullptr, "The function in the object file.", nullptr},
    {"object", getObject, nullptr, "The object file (ELF).", nullptr},
    {"scratch_bytes", getScratch, nullptr, "Scratch memory for each thread that runs it.", nullptr},
    {"encoded", getEncoded, nullptr, "All of it as bytes, for load().", nullptr},
    {"access", getAccess, nullptr, "Arguments it may read and may write through: two sets of bits.", nullptr},
    {"function", getFunction, nullptr, "Address of the code, or the device's handle of it.", nullptr},
    {"stage_aliases", getStageAliases, nullptr, "Triton's names of its stages, with ours.", nullptr},
    {"binary_name", getBinaryName, nullptr, "The name of the stage that its binary is.", nullptr},
    {"title", getTitle, nullptr, "What it was compiled for, in sentences.", nullptr},
    {"architecture", getArchitecture, nullptr, "The architecture that it was compiled for.", nullptr},
    {"metadata", getMetadata, nullptr, "What its target says of it.", nullptr},
    {"loaded", getLoaded, nullptr, "What its device says of it; loads it.", nullptr},
    {"target", getTarget, nullptr, "The target that it was compiled for.", nullptr},
    {"device", getDevice, nullptr, "The device that it runs on, or None: there is none here.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_doc, const_cast<char *>("A compiled kernel, loaded into this process.")},
    {0, nullptr},
};
PyType_Spec spec = {"nacre._core.NativeKernel", sizeof(NativeKernelObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

void printToPython(const std::string &text) {
  HoldGil gil;
  PyObject *out = PySys_GetObject("stdout"); // borrowed
  if (!out || out == Py_None)
    return;
  PyObject *type, *value, *trace; // an interruption's, kept
  PyErr_Fetch(&type, &value, &trace);
  try {
    call(attribute(out, "write").get(), unicode(text).get());
  } catch (const PythonError &) {
    PyErr_WriteUnraisable(out);
  }
  PyErr_Restore(type, value, trace);
}

uint32_t gridDimension(PyObject *value) {
  Handle index = Handle::steal(PyNumber_Index(value));
  if (!index) {
    PyErr_Clear();
    raise(PyExc_TypeError, "the dimensions of a grid are integers, found %R%s", value,
          PyFloat_Check(value) ? ": divide with // or triton.cdiv" : "");
  }
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0 || number < 0 || number > INT32_MAX)
    raise(PyExc_ValueError, "a grid's dimension must be between 0 and 2147483647, found %R", value);
  return static_cast<uint32_t>(number);
}

} // namespace

Handle makeNativeKernelType() {
  Handle type = checked(PyType_FromSpec(&spec));
  nativeKernelType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}

Handle wrapKernel(std::shared_ptr<Kernel> kernel, Device *device, const std::string &architecture) {
  auto *object = PyObject_New(NativeKernelObject, nativeKernelType);
  if (!object)
    throw PythonError();
  new (&object->kernel) std::shared_ptr<Kernel>(std::move(kernel));
  object->device = device;
  new (&object->architecture) std::string(architecture);
  return Handle::steal(reinterpret_cast<PyObject *>(object));
}

std::pair<std::shared_ptr<Kernel>, Device *> nativeKernel(PyObject *object) {
  if (Py_TYPE(object) != nativeKernelType)
    raise(PyExc_TypeError, "expected a NativeKernel, found %R", object);
  return {kernelOf(object), &deviceOf(object)};
}

void launchReleased(const Kernel &kernel, Device &device, const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments,
                    LaunchOptions options) {
  static const PrintSink *sink = new PrintSink(printToPython);
  options.print = sink;
  static const auto *interrupted = new std::function<bool()>([] {
    HoldGil gil;
    return PyErr_CheckSignals() != 0; // Ctrl-C: the exception is set and stays so
  });
  options.interrupted = interrupted;
  try {
    ReleaseGil released;
    launch(kernel, device, grid, arguments, options);
  } catch (const LaunchInterrupted &) {
    throw PythonError();
  }
}

void readGrid(PyObject *grid, uint32_t (&result)[3]) {
  result[0] = result[1] = result[2] = 1;
  if (PyTuple_CheckExact(grid)) {
    Py_ssize_t size = PyTuple_Size(grid);
    if (size < 1 || size > 3)
      raise(PyExc_ValueError, "a grid has 1 to 3 dimensions, found %R", grid);
    for (Py_ssize_t i = 0; i < size; ++i)
      result[i] = gridDimension(PyTuple_GetItem(grid, i));
    return;
  }
  if (PyIndex_Check(grid)) {
    result[0] = gridDimension(grid);
    return;
  }
  Handle sequence = Handle::steal(PySequence_Tuple(grid));
  if (!sequence) {
    PyErr_Clear();
    raise(PyExc_TypeError, "a grid is a tuple of 1 to 3 numbers, or a function that returns one; found %R", grid);
  }
  readGrid(sequence.get(), result);
}

} // namespace nacre::python
