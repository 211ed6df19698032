// The pool: a list of open jobs, workers that spin for a moment and then sleep, and ranges taken by compare-and-swap.
#include "runtime/threads/ThreadPool.h"
#include "compiler/support/ForkSafety.h"
#include "runtime/Knobs.h"
#include "runtime/threads/FencedMemory.h"
#include "runtime/threads/TimedWait.h"
#include "runtime/threads/TorchThreads.h"
#include <algorithm>
#include <chrono>
#include <sched.h>
#include <stdexcept>
#include <thread>

namespace nacre {

namespace {

// How long an idle worker or a waiting caller spins before it sleeps: some tens of microseconds, enough to bridge the
// gap between launches of a loop, too short to take a core from anybody else.
constexpr int spinRounds = 1000;
// How long a launching thread sleeps at most before it is asked what else there is to do.
constexpr long longestSleep = 20; // milliseconds

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

std::atomic<ThreadPool *> sharedPool = nullptr;

} // namespace

int usableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

// Lives on the launching thread's stack. A helper may touch it only between joining (under the pool's lock, while the
// job is still listed) and leaving (its last access, the decrement of `helpers`).
struct ThreadPool::Job {
  Body body;
  uint64_t count;
  int threads;         // how many take part at most
  Job *next = nullptr; // in the pool's list
  std::atomic<uint64_t> begun = 0;
  std::atomic<int> helpers = 0;

  bool take(uint64_t &begin, uint64_t &end) {
    uint64_t at = begun.load(std::memory_order_relaxed);
    uint64_t size;
    do {
      if (at >= count)
        return false;
      size = std::max<uint64_t>(1, (count - at) / (2 * static_cast<uint64_t>(threads)));
    } while (!begun.compare_exchange_weak(at, at + size, std::memory_order_relaxed));
    begin = at;
    end = at + size;
    return true;
  }
  bool exhausted() const { return begun.load(std::memory_order_relaxed) >= count; }
};

ThreadPool &ThreadPool::shared() {
  if (ThreadPool *pool = sharedPool.load(std::memory_order_acquire))
    return *pool;
  static const bool registered = (onFork([] { sharedPool.store(nullptr); }), true);
  (void)registered;
  auto *made = newFenced<ThreadPool>(static_cast<int>(knobInteger(KnobId::NumThreads)));
  ThreadPool *expected = nullptr;
  if (sharedPool.compare_exchange_strong(expected, made, std::memory_order_acq_rel))
    return *made;
  made->retire();
  return *expected;
}

void ThreadPool::setThreads(int threads) {
  if (threads < 0)
    throw std::invalid_argument("the number of threads cannot be negative");
  shared(); // registers for fork
  auto *made = newFenced<ThreadPool>(threads);
  if (ThreadPool *old = sharedPool.exchange(made, std::memory_order_acq_rel))
    old->retire();
}

ThreadPool::ThreadPool(int threads) : askedFor(threads), ownThreads(threads > 0 ? threads : usableCores()) {}

int ThreadPool::threads() const {
  if (askedFor == 0)
    if (int torch = torchThreads())
      return torch;
  return ownThreads;
}

// Under the lock.
void ThreadPool::startWorkers() {
  if (hasWorkers)
    return;
  hasWorkers = true;
  for (int i = 1; i < ownThreads; ++i)
    std::thread([this] { work(); }).detach();
}

void ThreadPool::retire() {
  retired.store(true);
  published.fetch_add(1);
  published.notify_all();
}

// Runs ranges of a job until there are none left.
void ThreadPool::share(Job &job) {
  uint64_t begin, end;
  while (job.take(begin, end))
    if (!job.body(begin, end))
      job.begun.store(job.count, std::memory_order_relaxed);
}

ThreadPool::Job *ThreadPool::join() {
  std::lock_guard<std::mutex> guard(lock);
  for (Job *job = jobs; job; job = job->next)
    if (!job->exhausted() && job->helpers.load(std::memory_order_relaxed) < job->threads - 1) {
      job->helpers.fetch_add(1, std::memory_order_relaxed);
      return job;
    }
  return nullptr;
}

void ThreadPool::leave(Job &job) {
  job.helpers.fetch_sub(1, std::memory_order_release);
  finished.fetch_add(1, std::memory_order_seq_cst);
  if (waiting.load(std::memory_order_seq_cst) != 0)
    wakeSleepers(finished);
}

void ThreadPool::work() {
  while (!retired.load(std::memory_order_relaxed)) {
    uint32_t seen = published.load(std::memory_order_acquire);
    if (Job *job = join()) {
      share(*job);
      leave(*job);
      continue;
    }
    for (int i = 0; i < spinRounds && published.load(std::memory_order_relaxed) == seen; ++i)
      pause();
    published.wait(seen, std::memory_order_acquire);
  }
}

void ThreadPool::await(const Job &job, llvm::function_ref<void()> whileWaiting) {
  for (int i = 0; i < spinRounds; ++i) {
    if (job.helpers.load(std::memory_order_acquire) == 0)
      return;
    pause();
  }
  waiting.fetch_add(1, std::memory_order_seq_cst);
  while (true) {
    uint32_t seen = finished.load(std::memory_order_seq_cst);
    if (job.helpers.load(std::memory_order_acquire) == 0)
      break;
    sleepWhile(finished, seen, longestSleep);
    if (whileWaiting)
      whileWaiting();
  }
  waiting.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::run(uint64_t count, Body body, llvm::function_ref<void()> whileWaiting) {
  if (count == 0)
    return;
  const int limit = threads();
  if (count == 1 || limit == 1) {
    body(0, count);
    return;
  }
  Job job{body, count, static_cast<int>(std::min<uint64_t>(limit, count))};
  // A team of another size than torch's own regions have would cost OpenMP threads made anew at each turn.
  if (limit == torchThreads()) {
    TorchTeam team;
    if (team) {
      runOn(team, limit, job, whileWaiting);
      return;
    }
    if (TorchTeam::isYetToBeEarned()) {
      const auto start = std::chrono::steady_clock::now();
      runHere(job, whileWaiting);
      TorchTeam::tellTimeWithout(std::chrono::steady_clock::now() - start);
      return;
    }
  }
  runHere(job, whileWaiting);
}

void ThreadPool::runOn(TorchTeam &team, int threads, Job &job, llvm::function_ref<void()> whileWaiting) {
  struct Region {
    ThreadPool &pool;
    Job &job;
    llvm::function_ref<void()> whileWaiting;
    std::thread::id launcher = std::this_thread::get_id();
    std::chrono::steady_clock::time_point done = {}; // all ranges have ended
  } region{*this, job, whileWaiting};
  auto member = [](void *data) {
    auto &region = *static_cast<Region *>(data);
    if (std::this_thread::get_id() == region.launcher) {
      share(region.job);
      region.pool.await(region.job, region.whileWaiting);
      region.done = std::chrono::steady_clock::now();
    } else if (!region.job.exhausted()) {
      region.job.helpers.fetch_add(1, std::memory_order_relaxed);
      share(region.job);
      region.pool.leave(region.job);
    }
  };
  team.run(threads, member, &region);
  team.tellWait(std::chrono::steady_clock::now() - region.done);
}

void ThreadPool::runHere(Job &job, llvm::function_ref<void()> whileWaiting) {
  {
    std::lock_guard<std::mutex> guard(lock);
    startWorkers();
    Job **last = &jobs;
    while (*last)
      last = &(*last)->next;
    *last = &job;
  }
  published.fetch_add(1, std::memory_order_release);
  published.notify_all();

  share(job);
  {
    std::lock_guard<std::mutex> guard(lock);
    Job **place = &jobs;
    while (*place != &job)
      place = &(*place)->next;
    *place = job.next;
  }
  await(job, whileWaiting);
}

} // namespace nacre
