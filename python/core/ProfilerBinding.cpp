// See ProfilerBinding.h.
#include "python/core/ProfilerBinding.h"
#include "profiler/Write.h"
#include "python/core/Errors.h"
#include "runtime/Device.h"
#include "runtime/Events.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre::python {

using profiler::Metrics;
using profiler::MetricValue;
using profiler::Profiler;

namespace {

MetricValue readValue(std::string_view name, PyObject *value) {
  if (PyFloat_Check(value))
    return PyFloat_AsDouble(value);
  if (PyLong_Check(value)) {
    int64_t number = PyLong_AsLongLong(value);
    if (PyErr_Occurred())
      throw PythonError();
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

// The call stack, where a session wants it.
std::vector<std::string> frames() {
  std::vector<std::string> names;
  if (!Profiler::wantsFrames())
    return names;
  Handle list = call(attribute(importModule("nacre.profiler._frames").get(), "frames").get());
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i)
    names.push_back(text(PyList_GetItem(list.get(), i)));
  return names;
}

int number(PyObject *session) {
  long value = PyLong_AsLong(session);
  if (PyErr_Occurred())
    throw PythonError();
  return static_cast<int>(value);
}

profiler::Session &find(int session) {
  try {
    return Profiler::shared().find(session);
  } catch (const std::out_of_range &error) {
    raise(PyExc_RuntimeError, "%s", error.what());
  }
}

Handle none() { return Handle::borrow(Py_None); }

// Tells the profiler what the runtime tells. A launch is recorded when its times come: on the host that is on the
// thread that launches, while its scopes and hooks are still open.
class ProfilerListener : public EventListener {
public:
  explicit ProfilerListener(bool wantsSlices)
      : EventListener(CompileEvents | LaunchEvents | LaunchTimeEvents | (wantsSlices ? ProgramEvents : 0)) {}

  void compileBegin(const CompileEvent &) override { mine().compiles.push_back(profiler::now()); }
  void compileEnd(const CompileEvent &event) override {
    if (mine().compiles.empty())
      return;
    uint64_t begin = mine().compiles.back();
    mine().compiles.pop_back();
    Profiler::shared().recordSpan("compile " + event.name.str(), begin, profiler::now(), framesWithGil());
  }
  void launchBegin(const LaunchEvent &event) override {
    const Device &device = event.device ? *event.device : hostDevice();
    mine().launches.push_back(
        {event.id, event.name, {device.driver.target().title().str(), std::to_string(device.index)}});
  }
  void programsRun(const ProgramsRun &run) override {
    std::lock_guard<std::mutex> guard(lock);
    slices[run.launch].push_back({static_cast<uint32_t>(run.thread), run.begin, run.end, run.first, run.count});
  }
  void launchTimes(const LaunchTimes &times) override { finish(times.launch, times.begin, times.end, times.busy); }
  void launchEnd(const LaunchEvent &event) override {
    if (!event.kernel && !event.isFailed) // Python ran it
      finish(event.id, event.begin, event.end, event.end - event.begin);
    llvm::erase_if(mine().launches, [&](const Launch &launch) { return launch.id == event.id; });
  }

private:
  struct Launch {
    uint64_t id;
    llvm::StringRef name; // lasts as long as the launch
    profiler::DeviceName device;
  };
  // What has begun on this thread and not ended.
  struct Begun {
    std::vector<uint64_t> compiles;
    std::vector<Launch> launches;
  };
  static Begun &mine() {
    thread_local Begun begun;
    return begun;
  }
  static std::vector<std::string> framesWithGil() {
    if (!Profiler::wantsFrames())
      return {};
    HoldGil gil;
    return frames();
  }
  void finish(uint64_t id, uint64_t begin, uint64_t end, uint64_t busy) {
    auto launch = llvm::find_if(mine().launches, [&](const Launch &launch) { return launch.id == id; });
    if (launch == mine().launches.end())
      return;
    profiler::KernelRun run{launch->name, launch->device, begin, end, {}, busy, framesWithGil()};
    if (interests & ProgramEvents) {
      std::lock_guard<std::mutex> guard(lock);
      if (auto found = slices.find(id); found != slices.end()) {
        run.slices = std::move(found->second);
        slices.erase(found);
      }
    }
    Profiler::shared().record(run);
  }

  std::mutex lock;
  std::map<uint64_t, std::vector<profiler::Slice>> slices; // of launches that are running
};

// Listens while a session is active, to what the active ones ask for.
void listen() {
  static std::shared_ptr<ProfilerListener> listener;
  bool hasAll = listener && ((listener->interests & ProgramEvents) != 0) == Profiler::wantsSlices();
  if (Profiler::isOn() ? hasAll : !listener)
    return;
  if (listener)
    removeListener(*listener);
  listener.reset();
  if (Profiler::isOn())
    addListener(listener = std::make_shared<ProfilerListener>(Profiler::wantsSlices()));
}

} // namespace

PyObject *profilerStart(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *name;
    int isPython, isTrace;
    if (!PyArg_ParseTuple(args, "spp", &name, &isPython, &isTrace))
      throw PythonError();
    int session = Profiler::shared().start(name, isPython != 0, isTrace != 0);
    listen();
    return checked(PyLong_FromLong(session)).release();
  });
}

PyObject *profilerSetActive(PyObject *, PyObject *args) {
  return guarded([&] {
    PyObject *session;
    int isActive;
    if (!PyArg_ParseTuple(args, "Op", &session, &isActive))
      throw PythonError();
    std::optional<int> chosen;
    if (session != Py_None)
      chosen = find(number(session)).id;
    Profiler::shared().setActive(chosen, isActive != 0);
    listen();
    return none().release();
  });
}

PyObject *profilerSessions(PyObject *, PyObject *) {
  return guarded([&] {
    Handle list = checked(PyList_New(0));
    for (int id : Profiler::shared().sessions()) {
      const profiler::Session &session = find(id);
      checkedStatus(PyList_Append(
          list.get(), checked(Py_BuildValue("(isOO)", id, session.name.c_str(), session.isActive ? Py_True : Py_False,
                                            session.isTrace ? Py_True : Py_False))
                          .get()));
    }
    return list.release();
  });
}

PyObject *profilerClose(PyObject *, PyObject *session) {
  return guarded([&] {
    Profiler::shared().close(find(number(session)).id);
    listen();
    return none().release();
  });
}

PyObject *profilerEnterScope(PyObject *, PyObject *name) {
  return guarded(
      [&] { return checked(PyLong_FromUnsignedLongLong(Profiler::shared().enterScope(textView(name)))).release(); });
}

PyObject *profilerExitScope(PyObject *, PyObject *name) {
  return guarded([&] {
    std::string_view wanted = name == Py_None ? std::string_view() : textView(name);
    return checked(PyLong_FromUnsignedLongLong(Profiler::shared().exitScope(wanted))).release();
  });
}

PyObject *profilerDepth(PyObject *, PyObject *) { return PyLong_FromSize_t(Profiler::shared().depth()); }

PyObject *profilerLeaveScopes(PyObject *, PyObject *) {
  Profiler::shared().leaveScopes();
  Py_RETURN_NONE;
}

PyObject *profilerAddMetrics(PyObject *, PyObject *args) {
  return guarded([&] {
    unsigned long long scope;
    PyObject *metrics;
    if (!PyArg_ParseTuple(args, "KO", &scope, &metrics))
      throw PythonError();
    Profiler::shared().addMetrics(scope, readMetrics(metrics), frames());
    return none().release();
  });
}

PyObject *profilerEnterState(PyObject *, PyObject *name) {
  return guarded([&] {
    Profiler::shared().enterState(textView(name));
    return none().release();
  });
}

PyObject *profilerExitState(PyObject *, PyObject *) {
  return guarded([&] {
    Profiler::shared().exitState();
    return none().release();
  });
}

PyObject *profilerEnterOperation(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *name;
    PyObject *metrics;
    if (!PyArg_ParseTuple(args, "sO", &name, &metrics))
      throw PythonError();
    Profiler::shared().enterOperation(name, readMetrics(metrics));
    return none().release();
  });
}

PyObject *profilerExitOperation(PyObject *, PyObject *) {
  Profiler::shared().exitOperation();
  Py_RETURN_NONE;
}

PyObject *profilerSpan(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *name;
    unsigned long long begin, end;
    if (!PyArg_ParseTuple(args, "sKK", &name, &begin, &end))
      throw PythonError();
    Profiler::shared().recordSpan(name, begin, end, frames());
    return none().release();
  });
}

// The facts of the devices that kernels ran on, besides those that `known` has: type -> number -> facts.
static void addDevices(const profiler::Tree &tree, llvm::json::Object &known) {
  for (const auto &[type, id] : tree.devices) {
    llvm::json::Object &ofType = *known.try_emplace(type, llvm::json::Object()).first->second.getAsObject();
    for (Driver *driver : drivers()) {
      Device *device = driver->target().title() == type && !ofType.get(id) ? driver->device(std::stoi(id)) : nullptr;
      if (!device)
        continue;
      const DeviceProperties &properties = device->properties();
      ofType[id] = llvm::json::Object{{"arch", properties.architecture},
                                      {"clock_rate", properties.clockKilohertz},
                                      {"memory_clock_rate", properties.memoryClockKilohertz},
                                      {"bus_width", properties.memoryBusBits},
                                      {"num_sms", properties.multiprocessors}};
    }
  }
}

PyObject *profilerDocument(PyObject *, PyObject *args) {
  return guarded([&] {
    int session, phase;
    const char *format, *devicesText;
    if (!PyArg_ParseTuple(args, "iiss", &session, &phase, &format, &devicesText))
      throw PythonError();
    llvm::Expected<llvm::json::Value> devices = llvm::json::parse(devicesText);
    if (!devices || !devices->getAsObject()) {
      llvm::consumeError(devices.takeError());
      raise(PyExc_ValueError, "the devices are no JSON object");
    }
    profiler::Session &found = find(session);
    std::lock_guard<std::mutex> guard(Profiler::shared().lock);
    auto data = found.phases.find(phase);
    static const profiler::Phase *empty = new profiler::Phase;
    const profiler::Phase &chosen = data == found.phases.end() ? *empty : *data->second;
    addDevices(chosen.tree, *devices->getAsObject());
    llvm::StringRef kind(format);
    if (kind == "chrome_trace") {
      std::string document = profiler::jsonText(profiler::traceDocument(chosen));
      return unicode(document).release();
    }
    if (kind == "hatchet_msgpack") {
      std::string bytes = profiler::msgpackBytes(profiler::treeDocument(chosen, *devices));
      return checked(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()))).release();
    }
    std::string document = profiler::jsonText(profiler::treeDocument(chosen, *devices));
    return unicode(document).release();
  });
}

PyObject *profilerPhase(PyObject *, PyObject *session) {
  return guarded([&] { return checked(PyLong_FromLong(find(number(session)).phase)).release(); });
}

PyObject *profilerAdvance(PyObject *, PyObject *session) {
  return guarded([&] {
    profiler::Session &found = find(number(session));
    std::lock_guard<std::mutex> guard(Profiler::shared().lock);
    found.current();
    return checked(PyLong_FromLong(++found.phase)).release();
  });
}

PyObject *profilerClear(PyObject *, PyObject *args) {
  return guarded([&] {
    int session, phase, andBefore;
    if (!PyArg_ParseTuple(args, "iip", &session, &phase, &andBefore))
      throw PythonError();
    profiler::Session &found = find(session);
    std::lock_guard<std::mutex> guard(Profiler::shared().lock);
    std::erase_if(found.phases,
                  [&](const auto &entry) { return andBefore ? entry.first <= phase : entry.first == phase; });
    return none().release();
  });
}

} // namespace nacre::python
