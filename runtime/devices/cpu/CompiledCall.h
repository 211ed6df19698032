// A call of compiled code, and the two ways out of it besides its return.
//
// Compiled code owns nothing that needs unwinding and holds no lock, so it can be abandoned at any of its own
// instructions. A fault there (memory that is not mapped, a trap) ends the call and tells where it was; a launch that
// is to stop has the threads that run it nudged by a signal, and those in compiled code leave. Faults elsewhere go to
// the handlers that were there before. Nothing of this costs a launch more than some stores: the handlers are installed
// at the first one, and a watching thread looks at launches only once they last.
#pragma once

#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <functional>

namespace nacre {

// Where the code lies, and what to call it.
struct CodeRange {
  uintptr_t begin = 0, end = 0;
  const char *name = "";
  bool callsLibraries = false; // of users: they may hold locks, so a fault in them is not survived
};

struct Fault {
  int signal = 0; // 0: none
  bool hasAddress = false;
  uint64_t address = 0;     // what was accessed
  uint64_t instruction = 0; // in the code, or 0
};

// One launch, for those who may stop it. Lives on the launching thread, which alone asks `interrupted`.
class Stoppable {
public:
  // Null: nobody interrupts. From here to the end of this object the calling thread is launching.
  explicit Stoppable(const std::function<bool()> *interrupted);
  ~Stoppable();
  Stoppable(const Stoppable &) = delete;

  // Every thread in a CompiledCall of this launch leaves it soon. From any thread, and from a signal handler.
  void stop();
  bool isStopped() const { return stopped.load(std::memory_order_relaxed); }
  bool wasInterrupted() const { return isInterrupted; }
  // To be called by the launching thread now and then: when the launch has lasted, asks whether it was interrupted, and
  // stops it if so.
  void look();
  bool isLaunchingThread() const;

  // Where threads that are nudged in a call of this launch note their place (Sampling.h); null: nobody asks.
  std::atomic<class Samples *> samples = nullptr;

private:
  friend class CompiledCall;
  const std::function<bool()> *interrupted;
  struct ThreadRecord *launcher = nullptr;
  std::atomic<bool> stopped = false;
  class LaunchWatch *watch = nullptr; // that was told of the stop
  bool isInterrupted = false;
};

// Nudges every thread that is in a CompiledCall.
void nudgeCalls();

// The innermost one of a thread is in force from its construction to its end:
//   CompiledCall call(code, launch);
//   if (sigsetjmp(call.leave, 0) == 0) { run the code }
//   else if (call.fault().signal) ...
class CompiledCall {
public:
  CompiledCall(const CodeRange &code, Stoppable &launch);
  ~CompiledCall();
  CompiledCall(const CompiledCall &) = delete;

  sigjmp_buf leave;
  const Fault &fault() const { return found; }
  // Whether the launch is to stop. A nudge finds a thread that is mostly in callbacks only by chance, so these ask at
  // their ends.
  bool isToLeave() const {
    if (launch.isLaunchingThread())
      launch.look();
    return launch.isStopped();
  }

  // What the runtime does on behalf of the code, between calls of it back and forth: a fault here is not the kernel's.
  class Callback {
  public:
    explicit Callback(CompiledCall &call) : call(call) { call.isInCallback = true; }
    ~Callback() { call.isInCallback = false; }
    Callback(const Callback &) = delete;

  private:
    CompiledCall &call;
  };

private:
  friend struct Signals;
  const CodeRange &code;
  Stoppable &launch;
  CompiledCall *const outer;
  Fault found;
  volatile bool isInCallback = false, isLeaving = false;
};

} // namespace nacre
