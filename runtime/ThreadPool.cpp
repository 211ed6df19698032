// The pool: a list of open jobs, workers that spin for a moment and then sleep, and ranges taken by compare-and-swap.
#include "runtime/ThreadPool.h"
#include "runtime/ForkSafety.h"
#include "runtime/Knobs.h"
#include <algorithm>
#include <sched.h>
#include <stdexcept>
#include <thread>

namespace nacre {

namespace {

// How long an idle worker or a waiting caller spins before it sleeps: some tens of microseconds, enough to bridge the
// gap between launches of a loop, too short to take a core from anybody else.
constexpr int spinRounds = 1000;

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
  int threads; // how many take part at most
  std::atomic<uint64_t> next = 0;
  std::atomic<int> helpers = 0;

  bool take(uint64_t &begin, uint64_t &end) {
    uint64_t at = next.load(std::memory_order_relaxed);
    uint64_t size;
    do {
      if (at >= count)
        return false;
      size = std::max<uint64_t>(1, (count - at) / (2 * static_cast<uint64_t>(threads)));
    } while (!next.compare_exchange_weak(at, at + size, std::memory_order_relaxed));
    begin = at;
    end = at + size;
    return true;
  }
  bool exhausted() const { return next.load(std::memory_order_relaxed) >= count; }
};

ThreadPool &ThreadPool::shared() {
  if (ThreadPool *pool = sharedPool.load(std::memory_order_acquire))
    return *pool;
  static const bool registered = (onFork([] { sharedPool.store(nullptr); }), true);
  (void)registered;
  auto *made = new ThreadPool(static_cast<int>(knobInteger(KnobId::NumThreads)));
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
  auto *made = new ThreadPool(threads);
  if (ThreadPool *old = sharedPool.exchange(made, std::memory_order_acq_rel))
    old->retire();
}

ThreadPool::ThreadPool(int threads) : threadCount(threads > 0 ? threads : usableCores()) {
  for (int i = 1; i < threadCount; ++i)
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
      job.next.store(job.count, std::memory_order_relaxed);
}

ThreadPool::Job *ThreadPool::join() {
  std::lock_guard<std::mutex> guard(lock);
  for (Job *job : jobs)
    if (!job->exhausted() && job->helpers.load(std::memory_order_relaxed) < job->threads - 1) {
      job->helpers.fetch_add(1, std::memory_order_relaxed);
      return job;
    }
  return nullptr;
}

void ThreadPool::work() {
  while (!retired.load(std::memory_order_relaxed)) {
    uint32_t seen = published.load(std::memory_order_acquire);
    if (Job *job = join()) {
      share(*job);
      job->helpers.fetch_sub(1, std::memory_order_release);
      finished.fetch_add(1, std::memory_order_release);
      finished.notify_all();
      continue;
    }
    for (int i = 0; i < spinRounds && published.load(std::memory_order_relaxed) == seen; ++i)
      pause();
    published.wait(seen, std::memory_order_acquire);
  }
}

void ThreadPool::run(uint64_t count, Body body) {
  if (count == 0)
    return;
  if (count == 1 || threadCount == 1) {
    body(0, count);
    return;
  }
  Job job{body, count, static_cast<int>(std::min<uint64_t>(threadCount, count))};
  {
    std::lock_guard<std::mutex> guard(lock);
    jobs.push_back(&job);
  }
  published.fetch_add(1, std::memory_order_release);
  published.notify_all();

  share(job);
  {
    std::lock_guard<std::mutex> guard(lock);
    jobs.erase(std::find(jobs.begin(), jobs.end(), &job));
  }
  for (int i = 0; i < spinRounds && job.helpers.load(std::memory_order_acquire) != 0; ++i)
    pause();
  while (true) {
    uint32_t seen = finished.load(std::memory_order_acquire);
    if (job.helpers.load(std::memory_order_acquire) == 0)
      return;
    finished.wait(seen, std::memory_order_acquire);
  }
}

} // namespace nacre
