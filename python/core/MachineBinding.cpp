#include "python/core/MachineBinding.h"
#include "python/core/Errors.h"
#include "runtime/cache/CacheLimit.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/tuning/MachineLimits.h"

namespace nacre::python {

namespace {

PyObject *clearMachineCaches(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    {
      ReleaseGil released;
      clearCaches();
    }
    Py_RETURN_NONE;
  });
}

PyObject *cacheBytes(PyObject *, PyObject *) { return PyLong_FromUnsignedLongLong(lastLevelCacheBytes()); }

PyObject *bandwidth(PyObject *, PyObject *) {
  return guarded([&] {
    double measured;
    {
      ReleaseGil released;
      measured = measuredBandwidth();
    }
    return checked(PyFloat_FromDouble(measured)).release();
  });
}

PyObject *operations(PyObject *, PyObject *width) {
  return guarded([&] {
    long bits = PyLong_AsLong(width);
    if (PyErr_Occurred())
      throw PythonError();
    if (bits != 32 && bits != 64)
      raise(PyExc_ValueError, "operations are measured of 32 and of 64 bits, not of %ld", bits);
    double measured;
    {
      ReleaseGil released;
      measured = measuredOperations(static_cast<int>(bits));
    }
    return checked(PyFloat_FromDouble(measured)).release();
  });
}

// cache_files(folder) -> [(path, bytes, last use)]
PyObject *cacheFiles(PyObject *, PyObject *folder) {
  return guarded([&] {
    Handle list = checked(PyList_New(0));
    forEachCacheFile(text(folder), [&](const CacheFile &file) {
      Handle row = checked(Py_BuildValue("(sKL)", file.path.c_str(), static_cast<unsigned long long>(file.bytes),
                                         static_cast<long long>(file.used)));
      checkedStatus(PyList_Append(list.get(), row.get()));
    });
    return list.release();
  });
}

// limit_cache(folder, bytes) -> bytes removed
PyObject *limitCache(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *folder;
    unsigned long long limit;
    if (!PyArg_ParseTuple(args, "sK", &folder, &limit))
      throw PythonError();
    return PyLong_FromUnsignedLongLong(enforceCacheLimit(folder, limit));
  });
}

// entry_is_whole(bytes of an entry's file)
PyObject *entryIsWhole(PyObject *, PyObject *bytes) {
  return guarded([&] {
    char *data;
    Py_ssize_t size;
    checkedStatus(PyBytes_AsStringAndSize(bytes, &data, &size));
    return PyBool_FromLong(openEntry(std::string(data, static_cast<size_t>(size))).has_value());
  });
}

} // namespace

PyMethodDef *machineFunctions() {
  static PyMethodDef functions[] = {
      {"clear_caches", clearMachineCaches, METH_NOARGS, "Pushes everything out of the CPU's caches, with all threads."},
      {"last_level_cache", cacheBytes, METH_NOARGS, "The size of the CPU's last-level cache in bytes."},
      {"measure_bandwidth", bandwidth, METH_NOARGS, "Bytes per second of a copy in memory by all threads."},
      {"measure_operations", operations, METH_O, "Floating operations per second by all threads, of 32 or 64 bits."},
      {"cache_files", cacheFiles, METH_O, "cache_files(folder) -> [(path, bytes, last use)]"},
      {"limit_cache", limitCache, METH_VARARGS,
       "limit_cache(folder, bytes) -> bytes removed, least recently used first"},
      {"entry_is_whole", entryIsWhole, METH_O, "Whether the bytes of a cache entry are what was written."},
      {nullptr, nullptr, 0, nullptr},
  };
  return functions;
}

} // namespace nacre::python
