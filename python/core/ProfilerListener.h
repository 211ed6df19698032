// What the profiler hears: the runtime's events (runtime/Events.h), told to the sessions of profiler/Profiler.h.
#pragma once

#include "compiler/support/ForkSafety.h"
#include "profiler/Profiler.h"
#include "python/core/Errors.h"
#include "python/core/LaunchMetrics.h"
#include "runtime/Device.h"
#include "runtime/Events.h"
#include "runtime/launch/Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include <set>
#include <unordered_map>

namespace nacre::python {

using profiler::Metrics;
using profiler::Profiler;

// The call stack, where a session wants it.
inline std::vector<std::string> frames() {
  std::vector<std::string> names;
  if (!Profiler::wantsFrames())
    return names;
  Handle list = call(attribute(importModule("nacre.profiler._frames").get(), "frames").get());
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i)
    names.push_back(text(PyList_GetItem(list.get(), i)));
  return names;
}

inline profiler::DeviceName nameOf(const Device &device) {
  return {device.driver.target().title().str(), std::to_string(device.index)};
}

// Notes the scopes and events that a launch's programs pass.
class MarkWatcher : public LaunchWatcher {
public:
  explicit MarkWatcher(profiler::MarkChoice choice) : marks(std::move(choice)) {}
  bool told(const ToldEvent &event) override {
    if (event.kind == ToldKind::LostMarks)
      marks.lose(event.count);
    if (!isMark(event.kind))
      return true;
    bool isNow = event.cycles == 0;
    uint64_t cycles = isNow ? profiler::KernelMarks::cyclesNow() : event.cycles;
    uint32_t processor = isNow ? static_cast<uint32_t>(events::threadNumber()) : event.processor;
    marks.add(event.subject, {event.program.number, cycles, 0, event.line, event.warp, processor, isBegin(event.kind),
                              isEvent(event.kind)});
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
    launch->marks = std::make_unique<MarkWatcher>(Profiler::shared().markChoice());
    launch->shown = Profiler::shared().operation(launch->name); // hooks may have closed it at the launch's end
    return launch->marks.get();
  }
  void programsRun(const ProgramsRun &run) override {
    std::lock_guard<RenewedLock> guard(lock);
    slices[run.launch].push_back({static_cast<uint32_t>(run.thread), run.begin, run.end, run.first, run.count});
  }
  void launchSamples(const LaunchSamples &samples) override {
    auto launch = find(samples.launch);
    if (launch == mine().launches.end())
      return;
    std::vector<std::pair<std::string, Metrics>> lines;
    for (const LineSamples &line : samples.lines)
      lines.emplace_back(lineFrame(line.file, line.line, launch->name),
                         Metrics{{"num_samples", static_cast<int64_t>(line.count)}});
    Profiler::shared().recordSamples(Profiler::shared().operation(launch->name), lines, framesWithGil());
  }
  // The same of a kernel that a GPU ran: its frame is that of the launch under way, where that is ours.
  void kernelSamples(const DeviceSamples &samples) override {
    llvm::StringRef name = mine().launches.empty() ? samples.kernel : mine().launches.back().name;
    std::vector<std::pair<std::string, Metrics>> lines;
    for (const DeviceLineSamples &line : samples.lines) {
      Metrics metrics{{"num_samples", static_cast<int64_t>(line.count)},
                      {"num_stalled_samples", static_cast<int64_t>(line.stalled)}};
      for (const auto &[why, count] : line.stalls)
        metrics["stalled_" + why] = static_cast<int64_t>(count);
      lines.emplace_back(lineFrame(line.file, line.line, name), std::move(metrics));
    }
    Profiler::shared().recordSamples(Profiler::shared().operation(name), lines, framesWithGil());
  }
  void samplingFailed(llvm::StringRef why) override {
    std::lock_guard<ProcessLock> guard(sharedLock);
    note("lines are not sampled: " + why.str());
  }
  void rangeBegin(llvm::StringRef name) override {
    ranges.push_back(name.str());
    Profiler::shared().enterScope(name);
  }
  void rangeEnd() override {
    if (ranges.empty())
      return; // it began before the session
    std::string name = std::move(ranges.back());
    ranges.pop_back();
    try {
      Profiler::shared().exitScope(name);
    } catch (const std::invalid_argument &) { // a scope that began in it is still open, or none is after finalize()
    }
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
    std::lock_guard<RenewedLock> guard(lock);
    devices.insert(launch->device);
    launches.emplace(id, std::move(behind));
  }
  void launchTimes(const LaunchTimes &times) override {
    std::optional<Behind> behind;
    {
      std::lock_guard<RenewedLock> guard(lock);
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
    if (auto launch = find(event.id); launch != mine().launches.end() && !event.isFailed &&
                                      (launch->marks || keepsMarks.load(std::memory_order_relaxed)))
      recordInside(*launch, event);
    llvm::erase_if(mine().launches, [&](const Launch &launch) { return launch.id == event.id; });
  }
  // One call of CUDA's runtime is one of its driver, too: each tells, and one of their numbers comes back.
  void kernelLaunched(uint64_t id) override {
    llvm::StringRef name = mine().launches.empty() ? llvm::StringRef() : mine().launches.back().name;
    const Metrics *known = mine().launches.empty() ? nullptr : mine().launches.back().known;
    profiler::LaunchPlace place = Profiler::shared().place(name, framesWithGil(), known);
    std::lock_guard<RenewedLock> guard(lock);
    if (!mine().launches.empty())
      devices.insert(mine().launches.back().device);
    kernels.insert_or_assign(id, std::move(place));
  }
  void kernelCaptured(uint64_t node, uint64_t copiedFrom) override {
    if (copiedFrom) {
      std::lock_guard<ProcessLock> guard(sharedLock);
      if (auto found = captured.find(copiedFrom); found != captured.end())
        captured.insert_or_assign(node, found->second);
      return;
    }
    llvm::StringRef name = mine().launches.empty() ? llvm::StringRef() : mine().launches.back().name;
    const Metrics *known = mine().launches.empty() ? nullptr : mine().launches.back().known;
    Captured made{Profiler::shared().place(name, framesWithGil(), known), std::exchange(nextMetric, 0)};
    if (made.metric) {
      made.place.name = nextFrame;
      made.place.metrics.clear();
    }
    std::lock_guard<ProcessLock> guard(sharedLock);
    captured.insert_or_assign(node, std::move(made));
  }
  void kernelRan(const DeviceKernel &kernel) override {
    profiler::LaunchPlace place;
    {
      std::scoped_lock guard(lock, sharedLock);
      auto found = kernels.find(kernel.launch);
      if (found == kernels.end() || !kernel.device)
        return;
      if (kernel.graphNode == 0) {
        place = std::move(found->second);
        kernels.erase(found);
      } else if (auto node = captured.find(kernel.graphNode); node != captured.end()) {
        place = found->second.replaying(node->second.place); // others of the graph may follow
        if (uint64_t metric = node->second.metric) {
          metricRuns[metric].emplace(kernel.begin, place);
          if (!place.name.empty()) // of a kernel's launch_metadata
            for (profiler::LaunchPlace::InSession &in : place.sessions)
              in.path.push_back("__proton_launch_metadata:" + place.name);
          place.name = "<metric>";
        }
      } else {
        place = found->second;
        place.name.clear();
        place.metrics.clear();
        note("a CUDA graph was replayed that was captured before the session: its kernels have no scopes");
      }
    }
    record(place, kernel.name, *kernel.device, kernel.stream, kernel.begin, kernel.end);
  }
  std::set<const Device *> devicesBehind() {
    std::lock_guard<RenewedLock> guard(lock);
    return devices;
  }
  void forgetDevices() {
    std::lock_guard<RenewedLock> guard(lock);
    devices.clear();
  }
  // All that was launched before `time` has been told. Throws what went wrong meanwhile.
  void forgetBefore(uint64_t time) {
    std::lock_guard<RenewedLock> guard(lock);
    if (!problem.empty())
      throw std::invalid_argument(std::exchange(problem, ""));
    std::erase_if(kernels, [&](const auto &entry) { return entry.second.launched < time; });
    std::erase_if(launches, [&](const auto &entry) { return entry.second.place.launched < time; });
  }

  // The kernel that this thread captures next notes the value of a metric of that number (1 and up), of the frame of
  // that name.
  static void captureMetric(uint64_t metric, std::string frame) {
    nextMetric = metric;
    nextFrame = std::move(frame);
  }
  // Where the kernel was replayed that noted the next value of a metric, the earliest first; none: it was not seen.
  static std::optional<profiler::LaunchPlace> takeMetricRun(uint64_t metric) {
    std::lock_guard<ProcessLock> guard(sharedLock);
    auto runs = metricRuns.find(metric);
    if (runs == metricRuns.end() || runs->second.empty())
      return std::nullopt;
    profiler::LaunchPlace place = std::move(runs->second.begin()->second);
    runs->second.erase(runs->second.begin());
    return place;
  }
  // Of the last launch that ended while they are kept.
  struct LaunchMarks {
    uint64_t programs = 0;
    std::vector<std::pair<std::string, profiler::KernelMarks::Mark>> marks;
  };
  static std::optional<LaunchMarks> keepMarks(bool isKept) {
    std::lock_guard<ProcessLock> guard(sharedLock);
    keepsMarks = isKept;
    return isKept ? lastMarks : std::exchange(lastMarks, std::nullopt);
  }
  // What who waits ought to hear, each once; empty: nothing.
  static std::string takeNotes() {
    std::lock_guard<ProcessLock> guard(sharedLock);
    return std::exchange(notes, "");
  }
  // No session is left: nodes of graphs are not known any more.
  static void forgetGraphs() {
    std::lock_guard<ProcessLock> guard(sharedLock);
    captured.clear();
    metricRuns.clear();
    noted.clear();
  }

private:
  static std::string lineFrame(llvm::StringRef file, uint32_t line, llvm::StringRef kernel) {
    return line ? (file + ":" + llvm::Twine(line) + "@" + kernel).str() : "elsewhere";
  }
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
      std::lock_guard<RenewedLock> guard(lock);
      if (problem.empty())
        problem = error.what();
    }
  }
  static void recordInside(const Launch &launch, const LaunchEvent &event) {
    uint64_t programs = uint64_t(event.grid[0]) * event.grid[1] * event.grid[2];
    keep(launch, programs);
    if (!launch.marks)
      return;
    profiler::KernelMarks &marks = launch.marks->marks;
    std::vector<profiler::KernelScope> scopes = marks.scopes();
    if (scopes.empty()) {
      if (marks.isSkipping()) {
        std::lock_guard<ProcessLock> guard(sharedLock);
        note("nothing was recorded inside of " + launch.name.str() +
             ": it has none of the units that sampling_options chooses" +
             (launch.device == &hostDevice() ? " (on the CPU a program has one warp, 0)" : ""));
      }
      return;
    }
    profiler::KernelTimeline timeline{
        launch.shown,      {},           event.begin,  event.end,     launch.device == &hostDevice(),
        std::move(scopes), marks.choice, marks.lost(), movedOf(event)};
    Profiler::shared().recordInside(std::move(timeline), programs, framesWithGil());
  }
  // What the compiler moved out of the kernel's scopes.
  static std::map<std::pair<std::string, uint32_t>, std::string> movedOf(const LaunchEvent &event) {
    std::map<std::pair<std::string, uint32_t>, std::string> moved;
    if (event.kernel)
      for (const MovedLines &of : event.kernel->code.metadata.movedLines)
        moved.emplace(std::pair(of.scope, of.line), of.text);
    return moved;
  }
  static void keep(const Launch &launch, uint64_t programs) {
    if (!keepsMarks)
      return;
    std::lock_guard<ProcessLock> guard(sharedLock);
    lastMarks.emplace();
    lastMarks->programs = programs;
    if (launch.marks)
      for (const profiler::KernelMarks::NamedMark &mark : launch.marks->marks.kept())
        lastMarks->marks.emplace_back(std::string(mark.name), mark.mark);
  }
  void finish(uint64_t id, uint64_t begin, uint64_t end, uint64_t busy) {
    auto launch = find(id);
    if (launch == mine().launches.end())
      return;
    profiler::KernelRun run{launch->name, nameOf(*launch->device), begin,        end, {},
                            busy,         framesWithGil(),         launch->known};
    if (interests & ProgramEvents) {
      std::lock_guard<RenewedLock> guard(lock);
      if (auto found = slices.find(id); found != slices.end()) {
        run.slices = std::move(found->second);
        slices.erase(found);
      }
    }
    Profiler::shared().record(run);
  }

  // With sharedLock held.
  static void note(const std::string &text) {
    if (noted.insert(text).second)
      notes += (notes.empty() ? "" : "; ") + text;
  }

  // A kernel of a graph: where it was captured, and which metric's value it notes, if any.
  struct Captured {
    profiler::LaunchPlace place;
    uint64_t metric;
  };
  static inline thread_local std::vector<std::string> ranges; // that are open
  static inline thread_local uint64_t nextMetric = 0;
  static inline thread_local std::string nextFrame;

  // Of all listeners, for graphs outlive them.
  static inline ProcessLock sharedLock;                                                        // guards what follows
  static inline std::unordered_map<uint64_t, Captured> captured;                               // by node
  static inline std::map<uint64_t, std::multimap<uint64_t, profiler::LaunchPlace>> metricRuns; // by when they began
  static inline std::atomic<bool> keepsMarks{false};
  static inline std::optional<LaunchMarks> lastMarks;
  static inline std::set<std::string> noted;
  static inline std::string notes;

  RenewedLock lock;                                            // guards what follows
  std::map<uint64_t, std::vector<profiler::Slice>> slices;     // of launches that are running
  std::unordered_map<uint64_t, Behind> launches;               // by the event's number
  std::unordered_map<uint64_t, profiler::LaunchPlace> kernels; // by the device's number
  std::set<const Device *> devices;                            // that run behind their host
  std::string problem;                                         // the first; for who waits
};

} // namespace nacre::python
