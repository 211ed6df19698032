// Children of forks at any moment find locks that they may take, and whole what the locks of the process guard.
#include "compiler/support/ForkSafety.h"
#include "gtest/gtest.h"
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace nacre;

namespace {

// Whether `body` is true in a child. One that waits forever ends by its alarm.
bool holdsInChild(const std::function<bool()> &body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(300);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct Pair {
  int first = 0, second = 0;
};

TEST(ForkSafetyTest, SectionsOfProcessLocksAreWholeInChildren) {
  static ProcessLock outer, inner;
  static Pair ofOuter, ofInner;
  std::atomic<bool> isDone = false;
  auto change = [](Pair &pair) {
    ++pair.first;
    std::this_thread::yield();
    ++pair.second;
  };
  std::vector<std::thread> threads;
  threads.emplace_back([&] { // one lock inside the other's section
    while (!isDone) {
      std::lock_guard<ProcessLock> guard(outer);
      change(ofOuter);
      std::lock_guard<ProcessLock> nested(inner);
      change(ofInner);
    }
  });
  threads.emplace_back([&] { // the inner one alone
    while (!isDone) {
      std::lock_guard<ProcessLock> guard(inner);
      change(ofInner);
    }
  });
  for (int i = 0; i < 300; ++i)
    EXPECT_TRUE(holdsInChild([] {
      std::lock_guard<ProcessLock> guard(outer);
      std::lock_guard<ProcessLock> nested(inner);
      return ofOuter.first == ofOuter.second && ofInner.first == ofInner.second;
    }));
  isDone = true;
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ForkSafetyTest, LocksThatNobodyTookYetAreTakenInChildren) {
  for (int i = 0; i < 20; ++i) {
    auto *lock = new ProcessLock; // lives as long as the process
    std::thread taker([lock] { std::lock_guard<ProcessLock> guard(*lock); });
    EXPECT_TRUE(holdsInChild([lock] {
      std::lock_guard<ProcessLock> guard(*lock);
      return true;
    }));
    taker.join();
  }
}

TEST(ForkSafetyTest, RenewedLocksAreFreeInChildren) {
  RenewedLock lock;
  std::atomic<bool> isHeld = false, isDone = false;
  std::thread holder([&] {
    std::lock_guard<RenewedLock> guard(lock);
    isHeld = true;
    isDone.wait(false);
  });
  while (!isHeld)
    std::this_thread::yield();
  EXPECT_TRUE(holdsInChild([&] { // the threads of the child exclude each other
    int count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 1000; ++j) {
          std::lock_guard<RenewedLock> guard(lock);
          ++count;
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    return count == 4000 && holdsInChild([&] { return lock.try_lock(); });
  }));
  EXPECT_FALSE(lock.try_lock()); // in the parent it is held still
  isDone = true;
  isDone.notify_all();
  holder.join();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(ForkSafetyTest, TheThreadThatForksMayHoldARenewedLock) {
  RenewedLock lock;
  lock.lock();
  EXPECT_TRUE(holdsInChild([&] {
    lock.unlock(); // the section that was under way ends in the child too
    return lock.try_lock() && !lock.try_lock();
  }));
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

std::vector<int> calls;

TEST(ForkSafetyTest, HandlersRunInTheirOrder) {
  beforeFork([] { calls.push_back(1); });
  onFork([] { calls.back() = 2; });
  onFork([] { calls.back() *= 10; });
  calls.clear();
  EXPECT_TRUE(holdsInChild([] { return calls == std::vector<int>{20}; }));
  EXPECT_EQ(calls, std::vector<int>{1});
}

} // namespace
