// See LaunchMetrics.h.
#include "python/core/LaunchMetrics.h"
#include "compiler/analysis/LaunchWork.h"
#include "compiler/support/ForkSafety.h"
#include "python/core/Errors.h"
#include "python/core/launching/PythonHooks.h"
#include <unordered_map>

namespace nacre::python {

using profiler::Metrics;
using profiler::MetricValue;

static MetricValue readValue(std::string_view name, PyObject *value) {
  if (PyFloat_Check(value))
    return PyFloat_AsDouble(value);
  if (PyLong_Check(value)) {
    int overflow = 0;
    int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow)
      raise(PyExc_OverflowError, "the metric '%s' is %s: whole numbers of metrics have 64 bits; a float may be larger",
            std::string(name).c_str(), text(checked(PyObject_Str(value)).get()).c_str());
    return number;
  }
  if (PyUnicode_Check(value))
    return text(value);
  if (!PyList_Check(value) && !PyTuple_Check(value))
    raise(PyExc_TypeError, "the metric '%s' is %s: expected a number, a list of numbers or a tensor",
          std::string(name).c_str(), typeName(value).c_str());
  Handle list = checked(PySequence_List(value));
  std::vector<int64_t> whole;
  std::vector<double> real;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    MetricValue element = readValue(name, PyList_GetItem(list.get(), i));
    if (auto *number = std::get_if<int64_t>(&element))
      whole.push_back(*number);
    else if (auto *number = std::get_if<double>(&element))
      real.push_back(*number);
  }
  if (!whole.empty() && !real.empty())
    raise(PyExc_TypeError, "the metric '%s' is a list of whole numbers and others: expected one kind",
          std::string(name).c_str());
  return real.empty() ? MetricValue(std::move(whole)) : MetricValue(std::move(real));
}

Metrics readMetrics(PyObject *dictionary) {
  Metrics metrics;
  PyObject *name, *value;
  Py_ssize_t place = 0;
  while (dictionary != Py_None && PyDict_Next(dictionary, &place, &name, &value))
    metrics.insert_or_assign(text(name), readValue(textView(name), value));
  return metrics;
}

namespace {

// What is known of launches before they run (nacre.profiler._work), kept by kernel, grid and numbers.
class KnownLaunches {
public:
  // Null where Python does not know the launch. Lasts as long as the process.
  const Metrics *find(const LaunchEvent &event) {
    auto *launch = static_cast<PythonLaunch *>(event.caller);
    if (!launch || !launch->bound || event.arguments.empty())
      return nullptr;
    // Launches often repeat this thread's last one.
    static thread_local Last last;
    if (last.isOf(*launch, event))
      return last.metrics;
    last.kernel = nullptr;
    {
      std::lock_guard<RenewedLock> guard(lock);
      if (auto kernel = kernels.find(launch->compiled); kernel != kernels.end()) {
        auto known = kernel->second->launches.find(key(*kernel->second, event));
        if (known != kernel->second->launches.end()) {
          last = {kernel->second.get(), key(*kernel->second, event), &known->second};
          return &known->second;
        }
        if (kernel->second->launches.size() >= mostLaunches)
          return nullptr;
      }
    }
    HoldGil gil;
    Metrics metrics = ask(*launch, event);
    std::lock_guard<RenewedLock> guard(lock);
    std::unique_ptr<OfKernel> &kernel = kernels[launch->compiled];
    if (!kernel) {
      kernel = std::make_unique<OfKernel>();
      kernel->compiled = Handle::borrow(launch->compiled); // its address stays its own
      for (const BoundArgument &argument : launch->bound->arguments)
        if (isSlot(argument))
          kernel->pointers.push_back(argument.kind == BoundArgument::Kind::Pointer);
    }
    return &kernel->launches.try_emplace(key(*kernel, event), std::move(metrics)).first->second;
  }

private:
  static constexpr size_t mostLaunches = 4096; // of a kernel
  using Key = std::vector<uint64_t>;
  struct OfKernel {
    Handle compiled;
    llvm::SmallVector<bool, 16> pointers; // whether each slot is one
    std::map<Key, Metrics> launches;
    bool isPointer(size_t slot) const { return slot < pointers.size() && pointers[slot]; }
  };
  struct Last {
    const OfKernel *kernel = nullptr;
    Key launch;
    const Metrics *metrics = nullptr;

    bool isOf(const PythonLaunch &given, const LaunchEvent &event) const {
      if (!kernel || kernel->compiled.get() != given.compiled ||
          !std::equal(event.grid, event.grid + 3, launch.begin()))
        return false;
      size_t place = 3;
      for (size_t i = 0; i < event.arguments.size(); ++i)
        if (!kernel->isPointer(i) && (place == launch.size() || launch[place++] != event.arguments[i]))
          return false;
      return place == launch.size();
    }
  };
  static bool isSlot(const BoundArgument &argument) {
    return argument.kind == BoundArgument::Kind::Pointer || argument.kind == BoundArgument::Kind::Number;
  }
  static Key key(const OfKernel &kernel, const LaunchEvent &event) {
    Key key(event.grid, event.grid + 3);
    for (size_t i = 0; i < event.arguments.size(); ++i)
      if (!kernel.isPointer(i))
        key.push_back(event.arguments[i]);
    return key;
  }
  static Metrics ask(const PythonLaunch &launch, const LaunchEvent &event) {
    Handle values = checked(PyTuple_New(static_cast<Py_ssize_t>(launch.values.size())));
    for (size_t i = 0; i < launch.values.size(); ++i)
      checkedStatus(
          PyTuple_SetItem(values.get(), static_cast<Py_ssize_t>(i), Handle::borrow(launch.values[i]).release()));
    Handle slots = checked(PyList_New(0));
    for (const BoundArgument &argument : launch.bound->arguments)
      if (isSlot(argument)) {
        Handle slot = checked(Py_BuildValue("(OK)", argument.kind == BoundArgument::Kind::Pointer ? Py_True : Py_False,
                                            static_cast<unsigned long long>(argument.slot)));
        checkedStatus(PyList_Append(slots.get(), slot.get()));
      }
    Handle grid = checked(Py_BuildValue("(III)", event.grid[0], event.grid[1], event.grid[2]));
    Handle metrics = call(attribute(importModule("nacre.profiler._work").get(), "metrics").get(), launch.kernel,
                          launch.compiled, values.get(), grid.get(), slots.get());
    return readMetrics(metrics.get());
  }

  RenewedLock lock; // guards what follows
  std::unordered_map<PyObject *, std::unique_ptr<OfKernel>> kernels;
};

} // namespace

const Metrics *metricsOf(const LaunchEvent &launch) {
  static auto *known = new KnownLaunches;
  return known->find(launch);
}

PyObject *countLaunchWork(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    const char *text;
    uint32_t grid[3];
    PyObject *slots;
    if (!PyArg_ParseTuple(args, "s(III)O", &text, grid, grid + 1, grid + 2, &slots))
      throw PythonError();
    std::vector<uint64_t> arguments;
    for (Py_ssize_t i = 0; i < PyList_Size(slots); ++i)
      arguments.push_back(PyLong_AsUnsignedLongLongMask(PyList_GetItem(slots, i)));
    if (PyErr_Occurred())
      throw PythonError();
    std::optional<LaunchWork> work;
    {
      ReleaseGil released;
      work = launchWork(text, grid, arguments);
    }
    if (!work)
      return Handle::borrow(Py_None).release();
    Handle traffic = checked(PyList_New(0)), flops = checked(PyList_New(0));
    for (const auto &[argument, bytes] : work->ofArgument)
      checkedStatus(
          PyList_Append(traffic.get(), checked(Py_BuildValue("(idd)", argument, bytes.loaded, bytes.stored)).get()));
    for (const auto &[width, count] : work->flops)
      checkedStatus(PyList_Append(flops.get(), checked(Py_BuildValue("(Id)", width, count)).get()));
    return checked(Py_BuildValue("(NN)", traffic.release(), flops.release())).release();
  });
}

} // namespace nacre::python
