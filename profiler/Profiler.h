// Sessions, scopes and launches: what a profile is made of, as it happens.
//
// A thread has scopes that are open, states, and the operation that a hook named; every active session records what
// happens under them. While no session is active nothing is recorded, and a launch pays for one relaxed load (isOn).
#pragma once

#include "compiler/support/ForkSafety.h"
#include "profiler/KernelScopes.h"
#include "profiler/Tree.h"
#include <atomic>
#include <optional>

namespace nacre::profiler {

// One stretch of a launch on one worker.
struct Slice {
  uint32_t worker;
  uint64_t begin, end; // nanoseconds of the steady clock
  uint64_t firstProgram, programs;
};

struct KernelRun {
  std::string_view name;
  DeviceName device;
  uint64_t begin, end;
  std::vector<Slice> slices;       // for traces; may be empty
  uint64_t busy = 0;               // the sum over the workers
  std::vector<std::string> frames; // of the Python call stack, outermost first; asked for when wantsFrames
  // What is known of it besides; its bytes and flops count where neither a hook nor an open scope gives any.
  const Metrics *known = nullptr;
};

// Where a kernel that is launched now belongs, for devices that say later when it ran. Of one that was captured into a
// graph: where it was captured.
struct LaunchPlace {
  struct InSession {
    int session, phase;
    std::vector<std::string> path;  // of frames, below the root
    std::vector<std::string> stack; // as traces have it
  };
  std::string name; // empty: the device knows it
  Metrics metrics;  // of the first kernel that ran
  uint32_t thread;
  uint64_t scope;
  uint64_t launched; // nanoseconds of the steady clock
  std::vector<InSession> sessions;

  // The place of a kernel of a graph that this launch replays: below this, and below that where it was captured.
  LaunchPlace replaying(const LaunchPlace &captured) const;
};

// A thing with a begin and an end in a trace.
struct TraceEvent {
  enum class Kind { Scope, Kernel, Metric } kind; // a scope that has metrics is a Metric
  std::string name;
  uint64_t begin, end;
  uint32_t thread;
  std::vector<std::string> stack;
  Metrics metrics;
  uint64_t scope = 0;
  std::vector<Slice> slices;
  // Of a kernel on a device that runs behind its host: its stream there, and when it was launched.
  std::optional<uint64_t> stream;
  uint64_t launched = 0;
};

// The scopes inside of one launch, in a trace.
struct KernelTimeline {
  std::string kernel;
  std::vector<std::string> stack;
  uint64_t begin, end; // of the launch: nanoseconds of the steady clock
  // Whether the cycles of all its programs are of one clock.
  bool isOneClock;
  std::vector<KernelScope> scopes;
  MarkChoice choice;
  uint64_t lostMarks = 0;
  // What the compiler moved out of scopes: by name and line, in words.
  std::map<std::pair<std::string, uint32_t>, std::string> moved;
};

struct Phase {
  Tree tree;
  std::vector<TraceEvent> events;
  std::vector<KernelTimeline> kernels;
};

// How a session looks at what happens.
struct SessionKind {
  bool isPython = false; // frames come from the call stack
  bool isTrace = false;
  bool looksInside = false; // of kernels: at the scopes in their text
  bool samples = false;     // their lines
  MarkChoice marks;         // that it looks at

  // A trace of what happens around kernels; one that looks inside has nothing else.
  bool showsTimes() const { return isTrace && !looksInside; }
};

struct Session {
  int id;
  std::string name;
  SessionKind kind;
  bool isActive = true;
  std::map<int, std::unique_ptr<Phase>> phases;
  int phase = 0;
  Phase &current();
};

class Profiler {
public:
  static Profiler &shared();
  static bool isOn() { return active.load(std::memory_order_relaxed) != 0; }
  static bool hasSessions() { return openSessions.load(std::memory_order_relaxed) != 0; } // active or not
  static bool wantsSlices() { return traces.load(std::memory_order_relaxed) != 0; }
  static bool wantsFrames() { return pythonSessions.load(std::memory_order_relaxed) != 0; }

  static bool samples() { return samplingSessions.load(std::memory_order_relaxed) != 0; }
  static bool looksInside() { return insideSessions.load(std::memory_order_relaxed) != 0; }

  // The session of that name, made or found; it is active.
  int start(const std::string &name, SessionKind kind);
  void setActive(std::optional<int> session, bool isActive);
  // Throws std::out_of_range: the session "has not been initialized".
  Session &find(int session);
  std::vector<int> sessions();
  void close(int session);

  uint64_t enterScope(std::string_view name);
  // Throws std::invalid_argument where another scope is open, or none. Empty: whichever is open.
  uint64_t exitScope(std::string_view name);
  // Of the scope that is open on this thread.
  void addMetrics(const Metrics &metrics, const std::vector<std::string> &frames);
  size_t depth() const;
  void leaveScopes();

  void enterState(std::string_view name);
  void exitState();

  // The frame that the launches of this thread get in place of the kernel's name, and its metrics.
  void enterOperation(std::string_view name, Metrics metrics);
  void exitOperation();
  // The frame of a kernel that is launched now on this thread.
  std::string operation(std::string_view kernel) const;

  void record(const KernelRun &run);
  // For kernels that run asynchronously: their place, on the thread that launches, and their run, later on any thread.
  // `name` counts where the place has none. Sessions that have ended by then get no record.
  LaunchPlace place(std::string_view name, const std::vector<std::string> &frames, const Metrics *known = nullptr);
  void record(const LaunchPlace &place, std::string_view name, const DeviceName &device, uint64_t stream,
              uint64_t begin, uint64_t end);
  // Metrics of a place, told later: of the frame of its name, or without one of the last that was open.
  void addMetrics(const LaunchPlace &place, const Metrics &metrics);
  // Of the sessions that look inside, which agree.
  MarkChoice markChoice();
  // What was marked inside of a launch that has ended, of `programs` programs; on the thread that launched it.
  void recordInside(KernelTimeline launch, uint64_t programs, const std::vector<std::string> &frames);
  // How often each line of a launch that has ended was seen, and what is known of those moments: frames below the
  // kernel's.
  void recordSamples(std::string_view kernel, const std::vector<std::pair<std::string, Metrics>> &lines,
                     const std::vector<std::string> &frames);
  // The same of something that is no kernel: a compile, an operator of torch.
  void recordSpan(std::string_view name, uint64_t begin, uint64_t end, const std::vector<std::string> &frames);

  // Operators of a framework, told afterwards. From the first call with `isOn` to the next one without, scopes are
  // logged, so that each stands below those that were open then on its thread.
  struct Operator {
    std::string name;
    uint64_t begin, end;             // nanoseconds of the steady clock
    int64_t thread;                  // the system's number of it
    std::vector<std::string> frames; // of the Python call stack, outermost first, where a session wants it
  };
  void logScopes(bool isOn);
  void recordOperators(const std::vector<Operator> &operators, const DeviceName &device);

  ProcessLock lock; // guards the sessions and their data

private:
  template <typename Visit> void forEachActive(const std::vector<std::string> &frames, Visit visit);
  void count();

  static std::atomic<int> openSessions, active, pythonSessions, traces, insideSessions, samplingSessions;
  // Under the lock: calls visit(InSession, Session, Phase, Node) where a launch stands in each session and phase of it
  // that is still there.
  template <typename Visit> void visitPlaces(const LaunchPlace &place, Visit visit);

  std::map<int, std::unique_ptr<Session>> open;
  int nextSession = 0;
};

uint64_t now(); // nanoseconds of the steady clock

} // namespace nacre::profiler
