// Events of a process: kernels are compiled and launched, they load and store, scopes are entered and left, memory is
// allocated. Tools (profiler, sanitizers, visualizer) and the hooks of the Python surface are listeners; none patches
// another.
//
// A listener names the events that it wants. An event without a listener costs one relaxed load. Listeners are called
// on the thread of the event, concurrently, and no lock of ours is held: they may add and remove listeners too.
//
// An exception from a begin callback propagates to the caller and cancels the operation. An exception from the end
// callback of a successful operation propagates to its caller. No other callback may throw.
#pragma once

#include "compiler/ir/tile/AccessEffects.h"
#include "compiler/ir/tile/ToldKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nacre {

class Device;
class Kernel;
struct CompileReport;

// Of a listener; added up.
enum EventInterest : uint32_t {
  CompileEvents = 1 << 0,
  LaunchEvents = 1 << 1,
  LaunchTimeEvents = 1 << 2, // when the device ran a launch, as the device's own clock says
  ProgramEvents = 1 << 3,    // when each of the host's threads ran which programs of a launch
  ScopeEvents = 1 << 4,
  AllocationEvents = 1 << 5,
  // What the programs of a launch load, store and compute: EventListener::watch. Of kernels that were compiled to tell
  // it (TargetOptions::watchAccesses, watchArithmetic, watchValues).
  AccessEvents = 1 << 6,
  // Every kernel that a device runs, whoever launched it: of devices that can tell (Driver::traceKernels).
  KernelEvents = 1 << 7,
  SampleEvents = 1 << 8, // which lines a launch was found at, of the host's launches (events::sampleInterval)
  SpanEvents = 1 << 9,   // what else takes a thread's time: kernels are loaded, devices waited for
};

// A kernel is asked for that this process does not have yet: it is found on disk or compiled.
struct CompileEvent {
  llvm::StringRef name;                  // of the kernel
  void *caller = nullptr;                // data of the caller, or null (python/core: PythonCompile)
  bool *isSkipped = nullptr;             // at the begin, where it is not null: may be set, and nothing is compiled
  const Kernel *kernel = nullptr;        // at the end; null: it failed
  const CompileReport *report = nullptr; // at the end; null where it failed
};

struct LaunchEvent {
  uint64_t id; // counts the launches of the process that were told; never 0
  llvm::StringRef name;
  const Kernel *kernel; // null: Python runs it
  const Device *device;
  uint64_t stream;
  const uint32_t *grid;               // three extents; with a 0 nothing runs
  llvm::ArrayRef<uint64_t> arguments; // one slot an argument; empty where Python runs it
  void *caller = nullptr;             // as CompileEvent's (python/core: PythonLaunch)
  uint64_t begin = 0, end = 0;        // of the call that launched it: nanoseconds of the steady clock
  bool isFailed = false;              // at the end
};

// When a launch ran. Comes after its begin, from any thread, and for devices that run behind their host after its end.
struct LaunchTimes {
  uint64_t launch;     // LaunchEvent::id
  uint64_t begin, end; // nanoseconds; of the host's own device: of the steady clock
  uint64_t busy;       // the sum over the host's threads; on other devices end - begin
};

// A kernel that a device has run, ours or anybody's.
struct DeviceKernel {
  uint64_t launch; // as kernelLaunched told it; several kernels where a graph was launched
  llvm::StringRef name;
  const Device *device;
  uint64_t stream;
  uint64_t begin, end; // nanoseconds of the steady clock
  uint64_t graphNode;  // as kernelCaptured told it; 0: it was launched alone
};

// A stretch of a launch's programs on one thread.
struct ProgramsRun {
  uint64_t launch;
  uint64_t thread;       // numbers the host's threads
  uint64_t begin, end;   // nanoseconds of the steady clock
  uint64_t first, count; // programs of the linearized grid
};

// How often each line of a kernel was found being executed: by file and line, those that are not known first.
struct LineSamples {
  std::string file;
  uint32_t line; // 0: not known, or in what the kernel calls
  uint64_t count;
};
struct LaunchSamples {
  uint64_t launch;
  llvm::ArrayRef<LineSamples> lines;
};

// The same of a kernel that a device ran, whoever launched it: at each line, how many warps were found there, and how
// many of them could not go on, by the device's words for why.
struct DeviceLineSamples {
  std::string file;
  uint32_t line; // 0: not known
  uint64_t count = 0, stalled = 0;
  std::map<std::string, uint64_t> stalls;
};
struct DeviceSamples {
  llvm::StringRef kernel;
  llvm::ArrayRef<DeviceLineSamples> lines;
};

// Something that took a thread's time: "load" of the kernel `name`, "wait" for a device.
struct SpanEvent {
  llvm::StringRef what, name;
  uint64_t begin, end; // nanoseconds of the steady clock
};

struct ScopeEvent {
  llvm::StringRef name;
  uint64_t time;          // nanoseconds of the steady clock
  void *caller = nullptr; // metrics and the like, of who enters the scope
};

struct AllocationEvent {
  const Device *device;
  uint64_t address;
  uint64_t bytes; // 0: it was released
};

// The program that tells something.
struct ProgramPlace {
  const uint32_t *id; // three
  uint64_t number;    // in the linearized grid, x fastest
};

// The elements of a tile that are about to be accessed or, with AccessAcquires, have been.
struct AccessEvent {
  ProgramPlace program;
  const char *name; // "load"
  uint32_t effects; // AccessEffects
  uint32_t kind;    // ScalarKind of an element
  uint32_t size;    // of an element, in bytes
  int32_t argument; // of the kernel's, from 0 on; -1: any of them; -2: it may be other memory
  llvm::ArrayRef<int64_t> shape;
  int64_t elements;
  const uint64_t *addresses; // row-major; null where `rows` says it
  const uint8_t *mask;       // bytes; null: every element
  const char *file;
  uint32_t line, column; // from 1 on; 0: not known
  // Or as rows: those along the axis `rowAxis` of the shape, in the order of the other axes. Null: `addresses` says it.
  const AccessRow *rows = nullptr;
  uint32_t rowAxis = 0;
  bool rowsAreMasked = false; // a mask says how many elements of each are accessed

  bool isMasked() const { return mask || rowsAreMasked; }
  int64_t rowCount() const { return elements / shape[rowAxis]; }
  // The lane of the tile, row-major, that is lane `index` of a row.
  int64_t laneOf(int64_t row, int64_t index) const { return laneOf(row, index, laneStep()); }
  // Visits the lanes that are accessed, in their order: visit(lane, address).
  template <typename Visit> void forEachLane(Visit visit) const;

private:
  int64_t laneStep() const; // between neighbours along the rows' axis
  int64_t laneOf(int64_t row, int64_t index, int64_t step) const {
    return row / step * step * shape[rowAxis] + index * step + row % step;
  }
};

inline int64_t AccessEvent::laneStep() const {
  int64_t step = 1;
  for (int64_t extent : shape.drop_front(rowAxis + 1))
    step *= extent;
  return step;
}

template <typename Visit> void AccessEvent::forEachLane(Visit visit) const {
  if (!rows) {
    for (int64_t lane = 0; lane < elements; ++lane)
      if (!mask || mask[lane])
        visit(lane, addresses[lane]);
    return;
  }
  // The order of the lanes is that of the rows' own where these lie along the last axis.
  int64_t step = laneStep(), extent = shape[rowAxis];
  for (int64_t outer = 0; outer < elements / (step * extent); ++outer)
    for (int64_t index = 0; index < extent; ++index)
      for (int64_t inner = 0; inner < step; ++inner)
        if (const AccessRow &row = rows[outer * step + inner]; index < row.count)
          visit((outer * extent + index) * step + inner,
                row.first + static_cast<uint64_t>(index) * static_cast<uint64_t>(row.step));
}

// What a kernel tells besides (tile.tell).
struct ToldEvent {
  ProgramPlace program;
  ToldKind kind;
  llvm::StringRef subject; // "add int32"
  const char *file;
  uint32_t line = 0, column = 0;     // from 1 on; 0: not known
  uint32_t count = 0;                // of operands
  const uint32_t *kinds = nullptr;   // from the low byte: ScalarKind, rank, 1 for addresses
  const int64_t *shapes = nullptr;   // the extents of all operands in turn
  const void *const *data = nullptr; // the row-major elements of each
  // Of marks that were read in a device's memory: where it was and the clock there; else the moment itself counts.
  uint32_t warp = 0, processor = 0;
  uint64_t cycles = 0;
};

// Whoever watches one launch. Its functions are called on many threads at once, each program on one thread at a time.
class LaunchWatcher {
public:
  virtual ~LaunchWatcher() = default;
  // False: this program goes no further; the others do.
  virtual bool access(const AccessEvent &) { return true; }
  virtual bool told(const ToldEvent &) { return true; }
  // Programs from this number on need not be started any more.
  virtual uint64_t firstUnwanted() const { return UINT64_MAX; }
};

class EventListener {
public:
  explicit EventListener(uint32_t interests) : interests(interests) {}
  virtual ~EventListener() = default;
  const uint32_t interests;

  virtual void compileBegin(const CompileEvent &) {}
  virtual void compileEnd(const CompileEvent &) {}
  virtual void launchBegin(const LaunchEvent &) {}
  virtual void launchEnd(const LaunchEvent &) {}
  // With LaunchTimeEvents: the launch is under way on a device that runs behind its host, and its times come later. On
  // the thread that launches, between its begin and its end.
  virtual void launchEnqueued(uint64_t launch) {}
  virtual void launchTimes(const LaunchTimes &) {}
  // With KernelEvents: a kernel or a graph is about to be launched on this thread; what it ran comes later, from any
  // thread. The number is the device's own, and counts nothing else.
  virtual void kernelLaunched(uint64_t launch) {}
  virtual void kernelRan(const DeviceKernel &) {}
  virtual void programsRun(const ProgramsRun &) {}
  // On the thread that launches, after launchTimes.
  virtual void launchSamples(const LaunchSamples &) {}
  virtual void span(const SpanEvent &) {}
  virtual void scopeEnter(const ScopeEvent &) {}
  virtual void scopeExit(const ScopeEvent &) {}
  virtual void allocation(const AllocationEvent &) {}
  // Who watches the launch, until it has ended; null: nobody. Asked at its begin, after launchBegin.
  virtual LaunchWatcher *watch(const LaunchEvent &) { return nullptr; }
  // With KernelEvents, on the thread that captures: a kernel became a node of a graph, or the node is a copy of
  // another.
  virtual void kernelCaptured(uint64_t node, uint64_t copiedFrom) {}
  // With KernelEvents and SampleEvents, on the thread that launches, after the kernel has run.
  virtual void kernelSamples(const DeviceSamples &) {}
  virtual void samplingFailed(llvm::StringRef why) {}
  // With KernelEvents: a range that the program marks for tools (NVTX) begins on this thread; the innermost one ends.
  virtual void rangeBegin(llvm::StringRef name) {}
  virtual void rangeEnd() {}
};

// Ends of events are told in the reverse order. A listener that is removed may still be called, by events that are
// being told meanwhile.
void addListener(std::shared_ptr<EventListener> listener);
void removeListener(const EventListener &listener);

namespace events {
extern std::atomic<uint32_t> interests;      // of all listeners together
extern std::atomic<uint32_t> sampleInterval; // microseconds between samples

// The rest is for those who tell events, once isWanted.
using Tell = llvm::function_ref<void(EventListener &)>;

// Those who listen now.
class Listeners {
public:
  Listeners();
  ~Listeners();
  void tell(EventInterest interest, Tell tell) const;
  void tellReversed(EventInterest interest, Tell tell) const;

private:
  std::shared_ptr<const std::vector<std::shared_ptr<EventListener>>> all;
};

inline void tell(EventInterest interest, Tell tell) { Listeners().tell(interest, tell); }
inline void tellReversed(EventInterest interest, Tell tell) { Listeners().tellReversed(interest, tell); }
uint64_t nextLaunch();
uint64_t threadNumber();
uint64_t now(); // nanoseconds of the steady clock

inline bool isWanted(uint32_t interest) { return interests.load(std::memory_order_relaxed) & interest; }

// Tells of the launch before and after `launch` runs.
template <typename Launch> void around(LaunchEvent &event, Launch launch) {
  event.begin = now();
  const Listeners listeners; // the same at the begin and at the end
  listeners.tell(LaunchEvents, [&](EventListener &listener) { listener.launchBegin(event); });
  auto finish = [&](bool isFailed) {
    event.end = now();
    event.isFailed = isFailed;
    listeners.tellReversed(LaunchEvents, [&](EventListener &listener) { listener.launchEnd(event); });
  };
  try {
    launch();
  } catch (...) {
    finish(/*isFailed=*/true);
    throw;
  }
  finish(/*isFailed=*/false);
}
} // namespace events

// For who has scopes: a profiler's surface.
inline void enterScope(llvm::StringRef name, void *caller = nullptr) {
  if (events::isWanted(ScopeEvents))
    events::tell(ScopeEvents, [event = ScopeEvent{name, events::now(), caller}](EventListener &listener) {
      listener.scopeEnter(event);
    });
}
inline void exitScope(llvm::StringRef name, void *caller = nullptr) {
  if (events::isWanted(ScopeEvents))
    events::tellReversed(ScopeEvents, [event = ScopeEvent{name, events::now(), caller}](EventListener &listener) {
      listener.scopeExit(event);
    });
}

// For devices.
inline void tellAllocation(const Device &device, uint64_t address, uint64_t bytes) {
  if (events::isWanted(AllocationEvents))
    events::tell(AllocationEvents, [event = AllocationEvent{&device, address, bytes}](EventListener &listener) {
      listener.allocation(event);
    });
}

} // namespace nacre
