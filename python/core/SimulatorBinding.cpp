// The PTX simulator in Python.
#include "python/core/SimulatorBinding.h"
#include "python/core/Errors.h"
#include "simulator/Simulator.h"
#include <limits>

namespace nacre::python {

using namespace nacre::simulator;

static const char *const capsuleName = "nacre.simulator.module";

static Module &moduleOf(PyObject *capsule) {
  auto *loaded = static_cast<Module *>(PyCapsule_GetPointer(capsule, capsuleName));
  if (!loaded)
    throw PythonError();
  return *loaded;
}

// The simulator's errors become ValueError, with the PTX line in front.
template <typename Body> static PyObject *reported(Body body) {
  return guarded([&] {
    try {
      return body();
    } catch (const Error &error) {
      if (error.line)
        raise(PyExc_ValueError, "PTX line %u: %s", error.line, error.what());
      raise(PyExc_ValueError, "%s", error.what());
    }
  });
}

PyObject *simulatorLoad(PyObject *, PyObject *args) {
  return reported([&] {
    const char *ptx, *file;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#s", &ptx, &size, &file))
      throw PythonError();
    std::unique_ptr<Module> loaded = load(std::string_view(ptx, static_cast<size_t>(size)), file);
    Handle capsule = checked(PyCapsule_New(loaded.get(), capsuleName, [](PyObject *object) {
      delete static_cast<Module *>(PyCapsule_GetPointer(object, capsuleName));
    }));
    (void)loaded.release(); // the capsule's
    return capsule.release();
  });
}

PyObject *simulatorKernels(PyObject *, PyObject *capsule) {
  return reported([&] {
    Handle result = checked(PyList_New(0));
    for (const KernelInfo &kernel : moduleOf(capsule).kernels()) {
      Handle parameters = checked(PyList_New(0));
      for (const simulator::ParameterInfo &parameter : kernel.parameters) {
        Handle row = checked(Py_BuildValue("(ssII)", parameter.name.c_str(), parameter.type.c_str(), parameter.size,
                                           parameter.alignment));
        checkedStatus(PyList_Append(parameters.get(), row.get()));
      }
      const Dimensions &threads = kernel.requiredThreads, &cluster = kernel.requiredCluster;
      Handle row = checked(Py_BuildValue(
          "(sOI(III)(III)z)", kernel.name.c_str(), parameters.get(), kernel.staticSharedBytes, threads.x, threads.y,
          threads.z, cluster.x, cluster.y, cluster.z, kernel.refusal.empty() ? nullptr : kernel.refusal.c_str()));
      checkedStatus(PyList_Append(result.get(), row.get()));
    }
    return result.release();
  });
}

PyObject *simulatorRun(PyObject *, PyObject *args) {
  return reported([&] {
    PyObject *capsule, *arguments, *memory;
    const char *kernel;
    Launch launch;
    int isRandom, checks, counters, cooperative;
    unsigned long long seed, limit;
    if (!PyArg_ParseTuple(args, "Os(III)(III)(III)IOO(pKppIKIp)", &capsule, &kernel, &launch.grid.x, &launch.grid.y,
                          &launch.grid.z, &launch.block.x, &launch.block.y, &launch.block.z, &launch.cluster.x,
                          &launch.cluster.y, &launch.cluster.z, &launch.sharedBytes, &arguments, &memory, &isRandom,
                          &seed, &checks, &counters, &launch.threads, &limit, &launch.findingLimit, &cooperative))
      throw PythonError();
    launch.cooperative = cooperative;
    launch.kernel = kernel;
    launch.schedule = isRandom ? Schedule::Random : Schedule::Fixed;
    launch.seed = seed;
    launch.checks = checks;
    launch.counters = counters;
    launch.instructionLimit = limit;
    for (Py_ssize_t i = 0, count = PySequence_Size(arguments); i < count; ++i) {
      Handle item = checked(PySequence_GetItem(arguments, i));
      char *bytes;
      Py_ssize_t size;
      checkedStatus(PyBytes_AsStringAndSize(item.get(), &bytes, &size));
      launch.addBytes(bytes, static_cast<size_t>(size));
    }
    for (Py_ssize_t i = 0, count = PySequence_Size(memory); i < count; ++i) {
      Handle item = checked(PySequence_GetItem(memory, i));
      unsigned long long address, bytes;
      const char *name;
      int writable;
      if (!PyArg_ParseTuple(item.get(), "KKsp", &address, &bytes, &name, &writable))
        throw PythonError();
      launch.memory.push_back({reinterpret_cast<void *>(address), bytes, name, writable != 0});
    }
    std::string printed;
    launch.print = [&](std::string_view text) { printed += text; };
    Module &loaded = moduleOf(capsule);
    Report report;
    launch.interrupted = [] {
      HoldGil gil;
      return PyErr_CheckSignals() != 0; // Ctrl-C: the exception is set and stays so
    };
    try {
      ReleaseGil released;
      report = loaded.run(launch);
    } catch (const Interrupted &) {
      throw PythonError();
    }
    // What a kernel prints, and the text of PTX, need not be UTF-8.
    Handle json = unicode(report.json()), text = unicode(report.text()), out = unicode(printed);
    return checked(PyTuple_Pack(3, json.get(), text.get(), out.get())).release();
  });
}

PyObject *simulatorVariable(PyObject *, PyObject *args) {
  return reported([&]() -> PyObject * {
    PyObject *capsule;
    const char *name;
    if (!PyArg_ParseTuple(args, "Os", &capsule, &name))
      throw PythonError();
    MemoryRange range = moduleOf(capsule).variable(name);
    if (!range.data)
      Py_RETURN_NONE;
    return checked(Py_BuildValue("(KK)", reinterpret_cast<unsigned long long>(range.data),
                                 static_cast<unsigned long long>(range.bytes)))
        .release();
  });
}

template <typename T, size_t N> static void readNumbers(PyObject *sequence, std::array<T, N> &into, const char *what) {
  Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0)
    throw PythonError();
  if (count > static_cast<Py_ssize_t>(N))
    raise(PyExc_ValueError, "a tensor map has at most %u %s", static_cast<unsigned>(N), what);
  for (Py_ssize_t i = 0; i < count; ++i) {
    unsigned long long value = PyLong_AsUnsignedLongLong(checked(PySequence_GetItem(sequence, i)).get());
    if (PyErr_Occurred())
      throw PythonError();
    if (value > std::numeric_limits<T>::max())
      raise(PyExc_ValueError, "%llu is too large for the %s of a tensor map", value, what);
    into[static_cast<size_t>(i)] = static_cast<T>(value);
  }
}

PyObject *simulatorTensorMap(PyObject *, PyObject *args) {
  return reported([&] {
    unsigned type, swizzle;
    unsigned long long address;
    PyObject *sizes, *strides, *box, *elementStrides;
    int fill;
    if (!PyArg_ParseTuple(args, "IKOOOOIp", &type, &address, &sizes, &strides, &box, &elementStrides, &swizzle, &fill))
      throw PythonError();
    if (type > 12 || swizzle > 3)
      raise(PyExc_ValueError, "there is no such element type or swizzle of tensor maps");
    TensorMapParameters parameters;
    parameters.type = static_cast<TensorMapParameters::Type>(type);
    parameters.swizzle = static_cast<TensorMapParameters::Swizzle>(swizzle);
    parameters.address = reinterpret_cast<void *>(address);
    parameters.rank = static_cast<uint32_t>(PySequence_Size(sizes));
    parameters.fillNaN = fill;
    readNumbers(sizes, parameters.sizes, "sizes");
    readNumbers(strides, parameters.strides, "strides");
    readNumbers(box, parameters.box, "box dimensions");
    readNumbers(elementStrides, parameters.elementStrides, "element strides");
    TensorMap map = encodeTensorMap(parameters);
    return checked(PyBytes_FromStringAndSize(reinterpret_cast<const char *>(map.data()),
                                             static_cast<Py_ssize_t>(map.size())))
        .release();
  });
}

} // namespace nacre::python
