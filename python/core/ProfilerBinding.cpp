// See ProfilerBinding.h.
#include "python/core/ProfilerBinding.h"
#include "compiler/language/builtins/Marks.h"
#include "profiler/Write.h"
#include "python/core/Errors.h"
#include "python/core/LaunchMetrics.h"
#include "runtime/Device.h"
#include "runtime/Events.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include <set>
#include <unordered_map>

namespace nacre::python {

using profiler::Metrics;
using profiler::Profiler;

namespace {

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

profiler::DeviceName nameOf(const Device &device) {
  return {device.driver.target().title().str(), std::to_string(device.index)};
}

// Notes the scopes and events that a launch's programs pass.
class MarkWatcher : public LaunchWatcher {
public:
  bool told(const ToldEvent &event) override {
    std::optional<MarkKind> kind = markNamed(event.kind);
    if (!kind)
      return true;
    bool isNow = event.cycles == 0;
    uint64_t cycles = isNow ? profiler::KernelMarks::cyclesNow() : event.cycles;
    uint32_t processor = isNow ? static_cast<uint32_t>(events::threadNumber()) : event.processor;
    marks.add(event.subject,
              {event.program.number, cycles, 0, event.line, event.warp, processor, isBegin(*kind), isEvent(*kind)});
    return true;
  }
  profiler::KernelMarks marks;
};

// Tells the profiler what the runtime tells. On the host a launch is recorded when its times come, on the thread that
// launches, while its scopes and hooks are still open. Devices that run behind their host say later when a launch ran,
// or a kernel of anybody's: where it belongs is noted when it is launched.
class ProfilerListener : public EventListener {
public:
  explicit ProfilerListener(uint32_t wanted)
      : EventListener(CompileEvents | LaunchEvents | LaunchTimeEvents | SpanEvents | wanted) {}

  // What the active sessions ask for besides.
  static uint32_t wanted(bool wantsKernels) {
    return (Profiler::wantsSlices() ? ProgramEvents : 0) | (wantsKernels ? KernelEvents : 0) |
           (Profiler::looksInside() ? AccessEvents : 0) | (Profiler::samples() ? SampleEvents : 0);
  }

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
    mine().launches.push_back({event.id, event.name, &device, event.stream, metricsOf(event), nullptr, ""});
  }
  LaunchWatcher *watch(const LaunchEvent &event) override {
    auto launch = find(event.id);
    if (launch == mine().launches.end())
      return nullptr;
    launch->marks = std::make_unique<MarkWatcher>();
    launch->shown = Profiler::shared().operation(launch->name); // hooks may have closed it at the launch's end
    return launch->marks.get();
  }
  void programsRun(const ProgramsRun &run) override {
    std::lock_guard<std::mutex> guard(lock);
    slices[run.launch].push_back({static_cast<uint32_t>(run.thread), run.begin, run.end, run.first, run.count});
  }
  void launchSamples(const LaunchSamples &samples) override {
    auto launch = find(samples.launch);
    if (launch == mine().launches.end())
      return;
    std::vector<std::pair<std::string, int64_t>> lines;
    for (const LineSamples &line : samples.lines)
      lines.emplace_back(line.line ? line.file + ":" + std::to_string(line.line) + "@" + launch->name.str()
                                   : "elsewhere",
                         static_cast<int64_t>(line.count));
    Profiler::shared().recordSamples(Profiler::shared().operation(launch->name), lines, framesWithGil());
  }
  void span(const SpanEvent &span) override {
    if (isWaiting)
      return;
    std::string name = span.what.str() + (span.name.empty() ? "" : " " + span.name.str());
    Profiler::shared().recordSpan(name, span.begin, span.end, framesWithGil());
  }
  static inline thread_local bool isWaiting = false; // for what the profiler itself asked
  void launchEnqueued(uint64_t id) override {
    auto launch = find(id);
    if (launch == mine().launches.end())
      return;
    Behind behind{Profiler::shared().place(launch->name, framesWithGil(), launch->known), launch->device,
                  launch->stream};
    std::lock_guard<std::mutex> guard(lock);
    devices.insert(launch->device);
    launches.emplace(id, std::move(behind));
  }
  void launchTimes(const LaunchTimes &times) override {
    std::optional<Behind> behind;
    {
      std::lock_guard<std::mutex> guard(lock);
      if (auto found = launches.find(times.launch); found != launches.end()) {
        behind = std::move(found->second);
        launches.erase(found);
      }
    }
    if (behind)
      record(behind->place, "", *behind->device, behind->stream, times.begin, times.end);
    else
      finish(times.launch, times.begin, times.end, times.busy);
  }
  void launchEnd(const LaunchEvent &event) override {
    if (!event.kernel && !event.isFailed) // Python ran it
      finish(event.id, event.begin, event.end, event.end - event.begin);
    if (auto launch = find(event.id); launch != mine().launches.end() && launch->marks && !event.isFailed)
      recordInside(*launch, event);
    llvm::erase_if(mine().launches, [&](const Launch &launch) { return launch.id == event.id; });
  }
  // One call of CUDA's runtime is one of its driver, too: each tells, and one of their numbers comes back.
  void kernelLaunched(uint64_t id) override {
    llvm::StringRef name = mine().launches.empty() ? llvm::StringRef() : mine().launches.back().name;
    const Metrics *known = mine().launches.empty() ? nullptr : mine().launches.back().known;
    profiler::LaunchPlace place = Profiler::shared().place(name, framesWithGil(), known);
    std::lock_guard<std::mutex> guard(lock);
    if (!mine().launches.empty())
      devices.insert(mine().launches.back().device);
    kernels.insert_or_assign(id, std::move(place));
  }
  void kernelRan(const DeviceKernel &kernel) override {
    profiler::LaunchPlace place;
    {
      std::lock_guard<std::mutex> guard(lock);
      auto found = kernels.find(kernel.launch);
      if (found == kernels.end() || !kernel.device)
        return;
      if (kernel.isOfGraph) { // others of it may follow
        place = found->second;
        found->second.metrics.clear();
      } else {
        place = std::move(found->second);
        kernels.erase(found);
      }
    }
    record(place, kernel.name, *kernel.device, kernel.stream, kernel.begin, kernel.end);
  }
  std::set<const Device *> devicesBehind() {
    std::lock_guard<std::mutex> guard(lock);
    return devices;
  }
  // All that was launched before `time` has been told. Throws what went wrong meanwhile.
  void forgetBefore(uint64_t time) {
    std::lock_guard<std::mutex> guard(lock);
    if (!problem.empty())
      throw std::invalid_argument(std::exchange(problem, ""));
    std::erase_if(kernels, [&](const auto &entry) { return entry.second.launched < time; });
    std::erase_if(launches, [&](const auto &entry) { return entry.second.place.launched < time; });
  }

private:
  struct Launch {
    uint64_t id;
    llvm::StringRef name; // lasts as long as the launch
    const Device *device;
    uint64_t stream;
    const Metrics *known;
    std::unique_ptr<MarkWatcher> marks; // of sessions that look inside
    std::string shown;
  };
  // What has begun on this thread and not ended.
  struct Begun {
    std::vector<uint64_t> compiles;
    std::vector<Launch> launches;
  };
  // A launch that its device has not told the end of.
  struct Behind {
    profiler::LaunchPlace place;
    const Device *device;
    uint64_t stream;
  };
  static Begun &mine() {
    thread_local Begun begun;
    return begun;
  }
  static std::vector<Launch>::iterator find(uint64_t id) {
    return llvm::find_if(mine().launches, [&](const Launch &launch) { return launch.id == id; });
  }
  static std::vector<std::string> framesWithGil() {
    if (!Profiler::wantsFrames())
      return {};
    HoldGil gil;
    return frames();
  }
  // On a thread of the device's, where nobody could catch what is thrown.
  void record(const profiler::LaunchPlace &place, std::string_view name, const Device &device, uint64_t stream,
              uint64_t begin, uint64_t end) {
    try {
      Profiler::shared().record(place, name, nameOf(device), stream, begin, end);
    } catch (const std::invalid_argument &error) { // a metric changed its type
      std::lock_guard<std::mutex> guard(lock);
      if (problem.empty())
        problem = error.what();
    }
  }
  static void recordInside(const Launch &launch, const LaunchEvent &event) {
    std::vector<profiler::KernelScope> scopes = launch.marks->marks.scopes();
    if (scopes.empty())
      return;
    uint64_t programs = uint64_t(event.grid[0]) * event.grid[1] * event.grid[2];
    profiler::KernelTimeline timeline{launch.shown,     {}, event.begin, event.end, launch.device == &hostDevice(),
                                      std::move(scopes)};
    Profiler::shared().recordInside(std::move(timeline), programs, framesWithGil());
  }
  void finish(uint64_t id, uint64_t begin, uint64_t end, uint64_t busy) {
    auto launch = find(id);
    if (launch == mine().launches.end())
      return;
    profiler::KernelRun run{launch->name, nameOf(*launch->device), begin,        end, {},
                            busy,         framesWithGil(),         launch->known};
    if (interests & ProgramEvents) {
      std::lock_guard<std::mutex> guard(lock);
      if (auto found = slices.find(id); found != slices.end()) {
        run.slices = std::move(found->second);
        slices.erase(found);
      }
    }
    Profiler::shared().record(run);
  }

  std::mutex lock;                                             // guards what follows
  std::map<uint64_t, std::vector<profiler::Slice>> slices;     // of launches that are running
  std::unordered_map<uint64_t, Behind> launches;               // by the event's number
  std::unordered_map<uint64_t, profiler::LaunchPlace> kernels; // by the device's number
  std::set<const Device *> devices;                            // that run behind their host
  std::string problem;                                         // the first; for who waits
};

std::shared_ptr<ProfilerListener> listener;
std::vector<Driver *> traced; // that tell of every kernel

// Waits for devices that run behind their host, so that all of their launches have been told.
void wait() {
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
        const_cast<Driver &>(device->driver).device(device->index)->synchronise();
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
    if (!PyArg_ParseTuple(args, "spppi", &name, &isPython, &isTrace, &looksInside, &interval))
      throw PythonError();
    if (interval != 0)
      events::sampleInterval = static_cast<uint32_t>(interval);
    int session = Profiler::shared().start(name, {isPython != 0, isTrace != 0, looksInside != 0, interval != 0});
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

// (driver) -> why it cannot tell of every kernel that its devices run; empty: it does from now on. None: nobody does.
PyObject *profilerTrace(PyObject *, PyObject *name) {
  return guarded([&] {
    if (name == Py_None) {
      wait();
      for (Driver *driver : traced)
        driver->traceKernels(false);
      traced.clear();
      listen();
      return none().release();
    }
    for (Driver *driver : drivers())
      if (driver->name() == llvm::StringRef(textView(name))) {
        std::string why = driver->traceKernels(true);
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
    return none().release();
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
    std::lock_guard<std::mutex> guard(Profiler::shared().lock);
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

// (operators of a framework that ran on this thread as (name, begin, end), nanoseconds of the steady clock; whether
// more will come)
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
      if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sKK", &name, &begin, &end))
        throw PythonError();
      operators.push_back({name, begin, end});
    }
    Profiler::shared().recordOperators(operators, nameOf(hostDevice()));
    Profiler::shared().logScopes(isOn != 0);
    return none().release();
  });
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
    std::lock_guard<std::mutex> guard(Profiler::shared().lock);
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
