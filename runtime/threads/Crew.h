// The threads of a grid whose programs may wait for one another: a lock, a flag that another program sets, a barrier of
// the whole grid.
//
// The crew begins as the pool's threads, each of which takes the next program that nobody has. When a program has
// waited for some time while others have not begun, one more thread joins and begins them. So programs may wait for any
// others, lower or higher, as long as no more than `maximum` wait at one time, and a grid that hardly waits has the
// threads it would have had anyway.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace nacre {

class ThreadPool;

class Crew {
public:
  // Runs one program; false stops the crew: programs that have not begun are dropped. Must not throw.
  using Program = std::function<bool(uint64_t number)>;
  // Asked now and then by the thread that called `run` while it waits: true stops the crew.
  using Interrupted = std::function<bool()>;
  static constexpr uint64_t usualMaximum = 512;

  Crew(uint64_t count, Program program, Interrupted interrupted = nullptr, uint64_t maximum = usualMaximum);

  // Return when every program has ended. They begin with this many threads, the caller's among them, or with those of
  // the pool. Throw std::runtime_error when more than `maximum` threads would be needed.
  void run(uint64_t threads);
  void run(ThreadPool &pool);

  // Programs that have not begun are dropped, those that wait are left. From anywhere.
  void stop() { stopped.store(true, std::memory_order_relaxed); }

  // How long one program has been waiting; a new one for each program.
  class Wait {
    friend class Crew;
    using Time = std::chrono::steady_clock::time_point;
    uint32_t rounds = 0, naps = 0;
    Time begin, last;
    bool relieved = false; // another thread has joined on its account
    std::chrono::microseconds nap{50};
  };
  // To be called once a round by a program that may be waiting: finds out whether it is. Gives way to others, the
  // longer it has waited the more. False: the crew has been stopped, the program is to be left.
  bool wait(Wait &wait);
  // The same for a program that is known to have waited for some time. It sleeps for `longestNap` at most.
  bool waitLong(Wait &wait, std::chrono::microseconds longestNap = std::chrono::milliseconds(1));

private:
  void takePrograms();
  void dismiss(); // waits for those who joined
  bool join();    // one more thread; false when there are too many
  void ask();     // whether there was an interruption; by the thread that called `run`

  const uint64_t count;
  const Program program;
  const Interrupted interrupted;
  const uint64_t maximum;
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<uint64_t> next = 0;
  std::atomic<bool> stopped = false;
  std::atomic<uint32_t> leftOver = 0; // threads that joined and have not ended
  std::mutex lock;                    // guards what follows
  std::vector<std::thread> joined;
  std::string trouble;
};

} // namespace nacre
