#include "python/core/launching/NativeKernel.h"
#include "python/core/launching/Arguments.h"
#include "python/core/Errors.h"

namespace nacre::python {

namespace {

PyTypeObject *nativeKernelType = nullptr;

struct NativeKernelObject {
  PyObject_HEAD std::shared_ptr<Kernel> kernel;
};

const std::shared_ptr<Kernel> &kernelOf(PyObject *self) { return reinterpret_cast<NativeKernelObject *>(self)->kernel; }

void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  kernelOf(self).~shared_ptr();
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
PyObject *getAccess(PyObject *self, void *) {
  const ArgumentAccess &access = kernelOf(self)->code.access;
  return Py_BuildValue("(KK)", access.maybeRead, access.maybeWritten);
}
PyObject *getFunction(PyObject *self, void *) {
  return guarded([&] { return PyLong_FromVoidPtr(reinterpret_cast<void *>(kernelOf(self)->function())); });
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
    int cooperative = 0;
    if (!PyArg_ParseTuple(args, "OO!O!O!|p", &gridObject, &PyTuple_Type, &types, &PyTuple_Type, &names, &PyTuple_Type,
                          &values, &cooperative))
      throw PythonError();
    Py_ssize_t count = PyTuple_Size(types);
    if (PyTuple_Size(values) != count || PyTuple_Size(names) != count)
      raise(PyExc_TypeError, "the kernel takes %zd arguments, %zd were given", count, PyTuple_Size(values));
    llvm::SmallVector<uint64_t, 32> slots;
    llvm::SmallVector<Handle, 4> keepAlive;
    for (Py_ssize_t i = 0; i < count; ++i) {
      std::string_view name = textView(PyTuple_GetItem(types, i));
      if (name.empty())
        continue;
      Type type = Type::parseShortName(llvm::StringRef(name));
      if (!type)
        raise(PyExc_ValueError, "%R is not a type of a kernel's argument", PyTuple_GetItem(types, i));
      PyObject *value = PyTuple_GetItem(values, i), *argument = PyTuple_GetItem(names, i);
      slots.push_back(type.isPointer() ? addressOf(value, argument, keepAlive) : numberSlot(value, type, argument));
    }
    uint32_t grid[3];
    readGrid(gridObject, grid);
    launchReleased(*kernelOf(self), grid, slots.data(), cooperative);
    Py_RETURN_NONE;
  });
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
    return wrapKernel(std::make_shared<Kernel>(hash, std::move(*code))).release();
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
    {"stages", stages, METH_NOARGS, "Every stage's text by name; compiles once more on first use."},
    {"launch", launchWithTypes, METH_VARARGS, "launch(grid, types, names, arguments, cooperative=False)"},
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
    {"function", getFunction, nullptr, "Address of the code.", nullptr},
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

Handle wrapKernel(std::shared_ptr<Kernel> kernel) {
  auto *object = PyObject_New(NativeKernelObject, nativeKernelType);
  if (!object)
    throw PythonError();
  new (&object->kernel) std::shared_ptr<Kernel>(std::move(kernel));
  return Handle::steal(reinterpret_cast<PyObject *>(object));
}

void launchReleased(const Kernel &kernel, const uint32_t grid[3], const uint64_t *args, bool cooperative,
                    const KnownArrays *arrays) {
  static const PrintSink *sink = new PrintSink(printToPython);
  LaunchOptions options;
  options.print = sink;
  options.cooperative = cooperative;
  options.arrays = arrays;
  static const auto *interrupted = new std::function<bool()>([] {
    HoldGil gil;
    return PyErr_CheckSignals() != 0; // Ctrl-C: the exception is set and stays so
  });
  options.interrupted = interrupted;
  try {
    ReleaseGil released;
    launch(kernel, grid, args, options);
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
