#include "python/core/launching/Devices.h"
#include "python/core/Errors.h"
#include "runtime/Device.h"
#include <cstring>

namespace nacre::python {

namespace {

Driver &driverNamed(const char *name) {
  if (Driver *driver = findDriver(name))
    return *driver;
  std::string known;
  for (Driver *driver : drivers())
    known += (known.empty() ? "" : ", ") + driver->name().str();
  raise(PyExc_ValueError, "there is no device `%s`; there are: %s", name, known.c_str());
}

Device &deviceAt(const char *name, int index) {
  Driver &driver = driverNamed(name);
  if (Device *device = driver.device(index))
    return *device;
  int count = driver.count();
  std::string why = count == 0 ? driver.whyNone() : "there are " + std::to_string(count);
  raise(PyExc_RuntimeError, "there is no device %s:%d: %s", name, index, why.c_str());
}

Device &parseDevice(PyObject *args) {
  const char *name;
  int index;
  if (!PyArg_ParseTuple(args, "si", &name, &index))
    throw PythonError();
  return deviceAt(name, index);
}

} // namespace

PyObject *listDevices(PyObject *, PyObject *) {
  return guarded([&] {
    Handle list = checked(PyList_New(0));
    for (Driver *driver : drivers()) {
      int count = driver->count();
      std::string why = count == 0 ? driver->whyNone() : "";
      Handle row = checked(Py_BuildValue("(sis)", driver->name().str().c_str(), count, why.c_str()));
      checkedStatus(PyList_Append(list.get(), row.get()));
    }
    return list.release();
  });
}

PyObject *deviceProperties(PyObject *, PyObject *args) {
  return guarded([&] {
    const DeviceProperties &known = parseDevice(args).properties();
    return checked(Py_BuildValue("{s:s,s:s,s:L,s:L,s:i,s:i,s:L,s:L,s:L,s:L}", "name", known.name.c_str(), "arch",
                                 known.architecture.c_str(), "max_shared_mem",
                                 static_cast<long long>(known.sharedBytes), "max_num_regs",
                                 static_cast<long long>(known.registers), "multiprocessor_count", known.multiprocessors,
                                 "warpSize", known.warpSize, "sm_clock_rate",
                                 static_cast<long long>(known.clockKilohertz), "mem_clock_rate",
                                 static_cast<long long>(known.memoryClockKilohertz), "mem_bus_width",
                                 static_cast<long long>(known.memoryBusBits), "total_memory",
                                 static_cast<long long>(known.memoryBytes)))
        .release();
  });
}

PyObject *currentDevice(PyObject *, PyObject *driver) {
  return guarded([&] { return PyLong_FromLong(driverNamed(text(driver).c_str()).currentIndex()); });
}

PyObject *currentStream(PyObject *, PyObject *args) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(parseDevice(args).currentStream()); });
}

PyObject *synchronizeDevice(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    Device &device = parseDevice(args);
    {
      ReleaseGil released;
      device.synchronize();
    }
    Py_RETURN_NONE;
  });
}

PyObject *setActiveDeviceByName(PyObject *, PyObject *driver) {
  return guarded([&]() -> PyObject * {
    const Device *before = setActiveDevice(driver == Py_None ? nullptr : &deviceAt(text(driver).c_str(), 0));
    if (!before)
      Py_RETURN_NONE;
    return unicode(before->driver.name().str()).release();
  });
}

PyObject *readMemory(PyObject *, PyObject *args) {
  return guarded([&] {
    unsigned long long address;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "Kn", &address, &bytes))
      throw PythonError();
    Handle read = checked(PyBytes_FromStringAndSize(nullptr, bytes));
    char *into = PyBytes_AsString(read.get());
    ReleaseGil released;
    if (Device *device = deviceOf(address)) {
      device->synchronize();
      device->copyOut(into, address, static_cast<size_t>(bytes));
    } else {
      if (memoryIsForgotten())
        throw DeviceError("this process was forked from one that had used a GPU, and cannot tell the GPU's memory from "
                          "its own: nothing is read; start it with multiprocessing's spawn");
      std::memcpy(into, reinterpret_cast<const void *>(address), static_cast<size_t>(bytes));
    }
    return read.release();
  });
}

} // namespace nacre::python
