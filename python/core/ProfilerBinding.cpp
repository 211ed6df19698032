// See ProfilerBinding.h.
#include "python/core/ProfilerBinding.h"
#include "compiler/support/ForkSafety.h"
#include "profiler/NvtxRanges.h"
#include "profiler/Write.h"
#include "python/core/Errors.h"
#include "python/core/LaunchMetrics.h"
#include "python/core/ProfilerListener.h"
#include "runtime/Device.h"
#include "runtime/Events.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include <set>

namespace nacre::python {

namespace {

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

std::shared_ptr<ProfilerListener> listener;
std::vector<Driver *> traced; // that tell of every kernel

// In the child of a fork: what is under way on devices, and what is traced there, is the parent's.
void forgetParents() {
  static unsigned known = 0; // forks
  if (std::exchange(known, forkCount()) == forkCount())
    return;
  traced.clear();
  if (listener)
    listener->forgetDevices();
}

// Waits for devices that run behind their host, so that all of their launches have been told.
void wait() {
  forgetParents();
  std::shared_ptr<ProfilerListener> current = listener;
  if (!current)
    return;
  uint64_t begin = profiler::now();
  {
    ReleaseGil released;
    ProfilerListener::isWaiting = true;
    auto reset = llvm::scope_exit([] { ProfilerListener::isWaiting = false; });
    std::set<const Device *> waited = current->devicesBehind();
    for (Driver *driver : traced)
      waited.insert(driver->device(driver->currentIndex())); // of launches that are not ours
    for (const Device *device : waited)
      if (device)
        const_cast<Driver &>(device->driver).device(device->index)->synchronize();
  }
  current->forgetBefore(begin);
}

// Listens while a session is active, to what the active ones ask for.
void listen() {
  uint32_t wanted = ProfilerListener::wanted(!traced.empty());
  bool hasAll =
      listener && (listener->interests & (ProgramEvents | KernelEvents | AccessEvents | SampleEvents)) == wanted;
  if (Profiler::isOn() ? hasAll : !listener)
    return;
  wait(); // what is under way is the old listener's
  if (listener)
    removeListener(*listener);
  listener.reset();
  if (Profiler::isOn())
    addListener(listener = std::make_shared<ProfilerListener>(wanted));
}

} // namespace

PyObject *profilerStart(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *name;
    int isPython, isTrace, looksInside, interval;
    profiler::MarkChoice marks;
    PyObject *units = Py_None;
    unsigned long long marksOfProgram = 0;
    if (!PyArg_ParseTuple(args, "spppi|IOK", &name, &isPython, &isTrace, &looksInside, &interval, &marks.warpsOfUnit,
                          &units, &marksOfProgram))
      throw PythonError();
    marks.marksOfProgram = marksOfProgram;
    if (units != Py_None) {
      marks.units.emplace();
      for (Py_ssize_t i = 0; i < PyList_Size(units); ++i)
        marks.units->push_back(PyLong_AsUnsignedLongLong(PyList_GetItem(units, i)));
      if (PyErr_Occurred())
        throw PythonError();
      llvm::sort(*marks.units);
    }
    if (interval != 0)
      events::sampleInterval = static_cast<uint32_t>(interval);
    int session = Profiler::shared().start(name, {isPython != 0, isTrace != 0, looksInside != 0, interval != 0, marks});
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
    wait();
    Profiler::shared().setActive(chosen, isActive != 0);
    listen();
    return none().release();
  });
}

// (driver, cycles between samples of lines or 0) -> why it cannot tell of every kernel that its devices run; empty: it
// does from now on. None: nobody does.
PyObject *profilerTrace(PyObject *, PyObject *args) {
  return guarded([&] {
    PyObject *name;
    unsigned sampleCycles = 0;
    if (!PyArg_ParseTuple(args, "O|I", &name, &sampleCycles))
      throw PythonError();
    if (name == Py_None) {
      wait();
      for (Driver *driver : traced)
        driver->traceKernels(false);
      traced.clear();
      ProfilerListener::forgetGraphs();
      listen();
      return none().release();
    }
    for (Driver *driver : drivers())
      if (driver->name() == llvm::StringRef(textView(name))) {
        std::string why = driver->traceKernels(true, sampleCycles);
        if (why.empty() && !llvm::is_contained(traced, driver))
          traced.push_back(driver);
        listen();
        return unicode(why).release();
      }
    raise(PyExc_ValueError, "there are no devices of '%s'", text(name).c_str());
  });
}

PyObject *profilerWait(PyObject *, PyObject *) {
  return guarded([&] {
    wait();
    return unicode(ProfilerListener::takeNotes()).release();
  });
}

// Types of the devices that kernels of a phase ran on.
PyObject *profilerDeviceTypes(PyObject *, PyObject *args) {
  return guarded([&] {
    int session, phase;
    if (!PyArg_ParseTuple(args, "ii", &session, &phase))
      throw PythonError();
    profiler::Session &found = find(session);
    Handle list = checked(PyList_New(0));
    std::lock_guard<ProcessLock> guard(Profiler::shared().lock);
    if (auto data = found.phases.find(phase); data != found.phases.end())
      for (const auto &[type, id] : data->second->tree.devices)
        checkedStatus(PyList_Append(list.get(), unicode(type).get()));
    return list.release();
  });
}

PyObject *profilerSessions(PyObject *, PyObject *) {
  return guarded([&] {
    Handle list = checked(PyList_New(0));
    for (int id : Profiler::shared().sessions()) {
      const profiler::Session &session = find(id);
      checkedStatus(PyList_Append(
          list.get(), checked(Py_BuildValue("(isOO)", id, session.name.c_str(), session.isActive ? Py_True : Py_False,
                                            session.kind.isTrace ? Py_True : Py_False))
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
    Profiler::shared().addMetrics(readMetrics(metrics), frames());
    return none().release();
  });
}

PyObject *profilerCaptureMetric(PyObject *, PyObject *args) {
  return guarded([&] {
    unsigned long long metric;
    const char *frame;
    if (!PyArg_ParseTuple(args, "Ks", &metric, &frame))
      throw PythonError();
    ProfilerListener::captureMetric(metric, frame);
    return none().release();
  });
}

PyObject *profilerReplayedMetric(PyObject *, PyObject *args) {
  return guarded([&] {
    unsigned long long metric;
    PyObject *metrics;
    if (!PyArg_ParseTuple(args, "KO", &metric, &metrics))
      throw PythonError();
    std::optional<profiler::LaunchPlace> place = ProfilerListener::takeMetricRun(metric);
    if (place)
      Profiler::shared().addMetrics(*place, readMetrics(metrics));
    return Handle::borrow(place ? Py_True : Py_False).release();
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

// (operators of a framework as (name, begin, end, the system's number of the thread, frames of the call stack),
// nanoseconds of the steady clock; whether more will come)
PyObject *profilerOperators(PyObject *, PyObject *args) {
  return guarded([&] {
    PyObject *list;
    int isOn;
    if (!PyArg_ParseTuple(args, "Op", &list, &isOn))
      throw PythonError();
    std::vector<Profiler::Operator> operators;
    for (Py_ssize_t i = 0; list != Py_None && i < PyList_Size(list); ++i) {
      const char *name;
      unsigned long long begin, end;
      long long thread;
      PyObject *frames;
      if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sKKLO", &name, &begin, &end, &thread, &frames))
        throw PythonError();
      operators.push_back({name, begin, end, thread, {}});
      for (Py_ssize_t frame = 0; frame < PyList_Size(frames); ++frame)
        operators.back().frames.push_back(text(PyList_GetItem(frames, frame)));
    }
    Profiler::shared().recordOperators(operators, nameOf(hostDevice()));
    Profiler::shared().logScopes(isOn != 0);
    return none().release();
  });
}

// Compiles are ranges, too, for the tool that this process runs under.
class RangesOfCompiles : public EventListener {
public:
  RangesOfCompiles() : EventListener(CompileEvents) {}
  void compileBegin(const CompileEvent &event) override {
    bool isTold = profiler::NvtxRanges::look();
    begun.push_back(isTold);
    if (isTold)
      profiler::NvtxRanges::push("compile " + event.name.str());
  }
  void compileEnd(const CompileEvent &) override {
    if (begun.empty())
      return;
    if (begun.back())
      profiler::NvtxRanges::pop();
    begun.pop_back();
  }

private:
  static inline thread_local std::vector<bool> begun; // of the compiles under way, whether they are ranges
};

PyObject *nvtxIsOn(PyObject *, PyObject *) {
  static const bool isListening = [] {
    addListener(std::make_shared<RangesOfCompiles>());
    return true;
  }();
  return Handle::borrow(isListening && profiler::NvtxRanges::look() ? Py_True : Py_False).release();
}

PyObject *nvtxRange(PyObject *, PyObject *name) {
  return guarded([&] {
    if (name == Py_None)
      profiler::NvtxRanges::pop();
    else
      profiler::NvtxRanges::push(textView(name));
    return none().release();
  });
}

// (whether the marks of launches are to be kept from now on) -> those of the last one that ended meanwhile, as
// (programs, [(program, warp, processor, name, whether it is an end, cycles)]), by program, warp and time; None: no
// launch has.
PyObject *profilerMarks(PyObject *, PyObject *isKept) {
  return guarded([&]() -> PyObject * {
    std::optional<ProfilerListener::LaunchMarks> last = ProfilerListener::keepMarks(isKept == Py_True);
    if (!last)
      Py_RETURN_NONE;
    Handle list = checked(PyList_New(0));
    for (const auto &[name, mark] : last->marks)
      checkedStatus(PyList_Append(
          list.get(), checked(Py_BuildValue("(KIIsOK)", static_cast<unsigned long long>(mark.program), mark.unit,
                                            mark.processor, name.c_str(), mark.isBegin ? Py_False : Py_True,
                                            static_cast<unsigned long long>(mark.cycles)))
                          .get()));
    return checked(Py_BuildValue("(KO)", static_cast<unsigned long long>(last->programs), list.get())).release();
  });
}

PyObject *profilerWantsFrames(PyObject *, PyObject *) {
  return Handle::borrow(Profiler::wantsFrames() ? Py_True : Py_False).release();
}

PyObject *profilerNow(PyObject *, PyObject *) { return PyLong_FromUnsignedLongLong(profiler::now()); }

// Adds the peaks of a device, where they are known by what it is.
static void addPeaks(const std::string &type, llvm::json::Object &facts) {
  std::string text = profiler::jsonText(llvm::json::Object(facts));
  Handle known = call(attribute(importModule("nacre.profiler._device").get(), "known_peaks").get(), unicode(type).get(),
                      unicode(text).get());
  llvm::Expected<llvm::json::Value> peaks = llvm::json::parse(textView(known.get()));
  if (!peaks)
    raise(PyExc_ValueError, "the peaks of a device: %s", llvm::toString(peaks.takeError()).c_str());
  for (auto &[name, value] : *peaks->getAsObject())
    facts[name] = value;
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
      llvm::json::Object facts{{"arch", properties.architecture},
                               {"clock_rate", properties.clockKilohertz},
                               {"memory_clock_rate", properties.memoryClockKilohertz},
                               {"bus_width", properties.memoryBusBits},
                               {"num_sms", properties.multiprocessors}};
      addPeaks(type, facts);
      ofType[id] = std::move(facts);
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
    std::lock_guard<ProcessLock> guard(Profiler::shared().lock);
    auto data = found.phases.find(phase);
    static const profiler::Phase *empty = new profiler::Phase;
    const profiler::Phase &chosen = data == found.phases.end() ? *empty : *data->second;
    if (data != found.phases.end())
      data->second->tree.settle();
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
    wait();
    std::lock_guard<ProcessLock> guard(Profiler::shared().lock);
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
    std::lock_guard<ProcessLock> guard(Profiler::shared().lock);
    std::erase_if(found.phases,
                  [&](const auto &entry) { return andBefore ? entry.first <= phase : entry.first == phase; });
    return none().release();
  });
}

} // namespace nacre::python
