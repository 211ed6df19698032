// The pool: every number once, in ascending ranges, whatever happens at the same time.
#include "runtime/threads/ThreadPool.h"
#include "runtime/devices/cpu/ScratchArena.h"
#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nacre;

namespace {

// Pools are never destroyed: the tests share two.
ThreadPool &poolOf(int threads) {
  static auto *four = new ThreadPool(4);
  static auto *one = new ThreadPool(1);
  return threads == 1 ? *one : *four;
}

bool everyNumberOnce(ThreadPool &pool, uint64_t count) {
  std::vector<std::atomic<int>> seen(count);
  pool.run(count, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i)
      ++seen[i];
    return true;
  });
  return std::all_of(seen.begin(), seen.end(), [](const std::atomic<int> &times) { return times == 1; });
}

TEST(ThreadPool, RunsEveryNumberOnce) {
  for (int threads : {1, 4})
    for (uint64_t count : {0, 1, 2, 3, 4, 5, 63, 1000, 100000})
      EXPECT_TRUE(everyNumberOnce(poolOf(threads), count)) << threads << " threads, " << count;
}

TEST(ThreadPool, SurvivesManySmallJobs) {
  for (int i = 0; i < 20000; ++i)
    ASSERT_TRUE(everyNumberOnce(poolOf(4), 2 + i % 7));
}

TEST(ThreadPool, HandsOutAscendingRanges) {
  std::mutex lock;
  uint64_t next = 0;
  bool ascending = true;
  // A range is taken before its body starts, so starts may be seen out of order by one for each thread, but no range
  // may start while a lower number has not been handed out: with one thread that is exact.
  poolOf(1).run(1000, [&](uint64_t begin, uint64_t end) {
    std::lock_guard<std::mutex> guard(lock);
    ascending &= begin == next;
    next = end;
    return true;
  });
  EXPECT_TRUE(ascending);
  EXPECT_EQ(next, 1000u);
}

TEST(ThreadPool, AProgramMayWaitForALowerOne) {
  std::vector<std::atomic<bool>> done(500);
  poolOf(4).run(done.size(), [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      while (i > 0 && !done[i - 1])
        std::this_thread::yield();
      done[i] = true;
    }
    return true;
  });
  EXPECT_TRUE(done.back());
}

TEST(ThreadPool, StopsAfterAFailure) {
  std::atomic<uint64_t> ran = 0;
  poolOf(4).run(1000000, [&](uint64_t begin, uint64_t) {
    ++ran;
    return begin != 0;
  });
  EXPECT_LT(ran, 1000000u);
}

TEST(ThreadPool, SeveralThreadsLaunchAtOnce) {
  std::vector<std::thread> launchers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 6; ++i)
    launchers.emplace_back([&] {
      for (int j = 0; j < 300; ++j)
        right += everyNumberOnce(poolOf(4), 50);
    });
  for (std::thread &launcher : launchers)
    launcher.join();
  EXPECT_EQ(right, 6 * 300);
}

TEST(ThreadPool, LaunchesNest) {
  std::atomic<int> right = 0;
  poolOf(4).run(8, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i)
      right += everyNumberOnce(poolOf(4), 20);
    return true;
  });
  EXPECT_EQ(right, 8);
}

TEST(ThreadPool, IsNewInAForkedChild) {
  ASSERT_TRUE(everyNumberOnce(ThreadPool::shared(), 100));
  pid_t child = fork();
  if (child == 0)
    _exit(everyNumberOnce(ThreadPool::shared(), 1000) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(ThreadPool, ChangesItsNumberOfThreads) {
  ThreadPool::setThreads(3);
  EXPECT_EQ(ThreadPool::shared().threads(), 3);
  EXPECT_TRUE(everyNumberOnce(ThreadPool::shared(), 1000));
  ThreadPool::setThreads(0);
  EXPECT_EQ(ThreadPool::shared().threads(), usableCores());
  EXPECT_THROW(ThreadPool::setThreads(-1), std::invalid_argument);
}

TEST(ScratchArena, IsAlignedGrowsAndNests) {
  for (size_t bytes : {size_t(1), size_t(100000), size_t(5) << 20, size_t(64)}) {
    ScratchLoan loan(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(loan.data()) % 64, 0u);
    std::memset(loan.data(), 1, bytes);
    ScratchLoan inner(bytes);
    std::memset(inner.data(), 2, bytes);
    EXPECT_EQ(static_cast<char *>(loan.data())[bytes - 1], 1);
  }
}

} // namespace
