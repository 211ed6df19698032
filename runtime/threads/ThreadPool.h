// The threads that run grids. One pool serves the process: launches from several threads share it, the launching thread
// takes part in its own launch, so a launch always makes progress even when every worker is busy, and nesting is safe.
// Where torch is in the process, a launch runs on its threads instead (TorchThreads.h), and the pool's sleep.
//
// Work is handed out as contiguous ranges in ascending order, large at first and smaller towards the end. A range is
// started only after all lower ones were, and each is run in order, so a program may wait for a program with a lower
// number.
//
// The pool and all that its threads share lie between fences (FencedMemory.h) or on the stacks of launching threads: a
// kernel that writes past the end of an array on the heap does not reach its locks.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>
#include <cstdint>
#include <mutex>

namespace nacre {

class TorchTeam;

class ThreadPool {
public:
  // Runs [begin, end); false stops the job: ranges not yet handed out are dropped. Must not throw.
  using Body = llvm::function_ref<bool(uint64_t begin, uint64_t end)>;

  // The process's pool, made on first use (and again after fork) with the number of threads the knob asks for.
  static ThreadPool &shared();
  // The number of threads from now on; 0: one for each core this process may use. Launches under way are not disturbed.
  static void setThreads(int threads);

  // 0: as many as torch uses where it is known, otherwise one for each usable core.
  explicit ThreadPool(int threads);
  ~ThreadPool() = delete; // workers outlive everything; a pool that is no longer used is left to them

  // How many take part in a launch of the calling thread at most.
  int threads() const;
  // Returns when every range has ended. `whileWaiting` is called now and then by the launching thread while it waits
  // for the others.
  void run(uint64_t count, Body body, llvm::function_ref<void()> whileWaiting = nullptr);

private:
  struct Job;
  void runOn(TorchTeam &team, int threads, Job &job, llvm::function_ref<void()> whileWaiting);
  void runHere(Job &job, llvm::function_ref<void()> whileWaiting);
  void startWorkers();
  void work();
  void retire();
  Job *join();
  void leave(Job &job);
  void await(const Job &job, llvm::function_ref<void()> whileWaiting);
  static void share(Job &job);

  const int askedFor; // 0: nothing
  const int ownThreads;
  std::mutex lock;                     // guards `jobs` and `hasWorkers`
  Job *jobs = nullptr;                 // a list, oldest first
  bool hasWorkers = false;             // they are started by the first launch that needs them
  std::atomic<uint32_t> published = 0; // counts jobs; what an idle worker waits on
  std::atomic<uint32_t> finished = 0;  // counts helpers that left; what a launching thread waits on
  std::atomic<uint32_t> waiting = 0;   // launching threads that sleep
  std::atomic<bool> retired = false;
};

// One for each core that this process may run on.
int usableCores();

} // namespace nacre
