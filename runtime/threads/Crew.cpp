#include "runtime/threads/Crew.h"
#include "runtime/threads/ThreadPool.h"
#include "runtime/threads/TimedWait.h"
#include <stdexcept>
#include <system_error>

namespace nacre {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Rounds between two looks at the clock.
static constexpr uint32_t roundsPerLook = 64;
// Rounds that take longer than this do some work: they are not counted as waiting.
static constexpr auto longestIdleRound = 2us;
// For so long a program waits at full speed; then another thread joins and this one sleeps between its looks.
static constexpr auto patience = 200us;
// Naps between two questions whether the launch was interrupted: some tens of milliseconds.
static constexpr uint32_t napsPerQuestion = 32;
// How long the thread that called `run` sleeps at most while others run their programs.
static constexpr long longestSleep = 20; // milliseconds

Crew::Crew(uint64_t count, Program program, Interrupted interrupted, uint64_t maximum)
    : count(count), program(std::move(program)), interrupted(std::move(interrupted)), maximum(maximum) {}

void Crew::takePrograms() {
  while (!stopped.load(std::memory_order_relaxed)) {
    uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
    if (number >= count)
      return;
    if (!program(number))
      stop();
  }
}

static std::string tooMany(uint64_t wanted, uint64_t possible) {
  return "programs that wait for each other must run at the same time; " + std::to_string(wanted) +
         " are more than the " + std::to_string(possible) + " that can";
}

bool Crew::join() {
  std::lock_guard<std::mutex> guard(lock);
  if (next.load(std::memory_order_relaxed) >= count)
    return true;
  if (joined.size() < maximum) {
    try {
      ++leftOver;
      joined.emplace_back([this] {
        takePrograms();
        --leftOver;
        wakeSleepers(leftOver);
      });
      return true;
    } catch (const std::system_error &) {
      --leftOver;
      // The system has no more threads to give: the same as too many.
    }
  }
  trouble = tooMany(count, joined.size());
  stop();
  return false;
}

void Crew::run(uint64_t threads) {
  if (threads > maximum)
    throw std::runtime_error(tooMany(threads, maximum));
  for (uint64_t i = 1; i < threads && join(); ++i) {
  }
  takePrograms();
  dismiss();
}

void Crew::run(ThreadPool &pool) {
  pool.run(
      std::min<uint64_t>(count, pool.threads()),
      [this](uint64_t, uint64_t) {
        takePrograms();
        return true;
      },
      [this] { ask(); });
  dismiss();
}

void Crew::ask() {
  if (interrupted && !stopped.load(std::memory_order_relaxed) && interrupted())
    stop();
}

void Crew::dismiss() {
  while (uint32_t left = leftOver.load(std::memory_order_acquire)) {
    sleepWhile(leftOver, left, longestSleep);
    ask();
  }
  for (size_t i = 0;; ++i) { // more may join meanwhile
    std::thread thread;
    {
      std::lock_guard<std::mutex> guard(lock);
      if (i == joined.size())
        break;
      thread = std::move(joined[i]);
    }
    thread.join();
  }
  if (!trouble.empty())
    throw std::runtime_error(trouble);
}

bool Crew::wait(Wait &wait) {
  if (++wait.rounds % roundsPerLook != 0) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    return true;
  }
  if (stopped.load(std::memory_order_relaxed))
    return false;
  auto now = Clock::now();
  if (wait.rounds == roundsPerLook || now - wait.last > roundsPerLook * longestIdleRound)
    wait.begin = now;
  if (now - wait.begin < patience) {
    std::this_thread::yield();
  } else if (!waitLong(wait)) {
    return false;
  }
  wait.last = Clock::now();
  return true;
}

bool Crew::waitLong(Wait &wait, std::chrono::microseconds longestNap) {
  if (!wait.relieved) {
    wait.relieved = true;
    if (!join())
      return false;
  }
  if (++wait.naps % napsPerQuestion == 0 && std::this_thread::get_id() == caller)
    ask();
  if (stopped.load(std::memory_order_relaxed))
    return false;
  std::this_thread::sleep_for(wait.nap);
  wait.nap = std::min(2 * wait.nap, longestNap);
  return true;
}

} // namespace nacre
