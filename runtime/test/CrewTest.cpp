// Programs that wait for one another: for lower ones, for higher ones, for all.
#include "runtime/threads/Crew.h"
#include "runtime/threads/ThreadPool.h"
#include "gtest/gtest.h"

using namespace nacre;

namespace {

// Waits until `condition` holds; false when the crew was stopped before.
template <typename Condition> bool waitFor(Crew &crew, Condition condition) {
  Crew::Wait wait;
  while (!condition())
    if (!crew.wait(wait))
      return false;
  return true;
}

TEST(Crew, AllProgramsMeet) {
  constexpr uint64_t count = 100;
  for (uint64_t threads : {uint64_t(1), uint64_t(3), count}) {
    std::atomic<uint64_t> arrived = 0, left = 0;
    Crew *self = nullptr;
    Crew crew(count, [&](uint64_t) {
      ++arrived;
      left += waitFor(*self, [&] { return arrived == count; });
      return true;
    });
    self = &crew;
    crew.run(threads);
    EXPECT_EQ(left, count);
  }
}

TEST(Crew, ProgramsThatWaitForTheNext) {
  constexpr uint64_t count = 200;
  std::atomic<uint64_t> lowest = count;
  Crew *self = nullptr;
  Crew crew(count, [&](uint64_t number) {
    bool came = waitFor(*self, [&] { return lowest == number + 1; });
    lowest = number;
    return came;
  });
  self = &crew;
  crew.run(ThreadPool::shared());
  EXPECT_EQ(lowest, 0u);
}

TEST(Crew, EveryProgramRunsOnce) {
  std::vector<std::atomic<int>> runs(10000);
  Crew crew(runs.size(), [&](uint64_t number) { return ++runs[number], true; });
  crew.run(ThreadPool::shared());
  for (std::atomic<int> &count : runs)
    ASSERT_EQ(count, 1);
}

TEST(Crew, TooManyAreAnError) {
  EXPECT_THROW(Crew(Crew::usualMaximum + 1, [](uint64_t) { return true; }).run(Crew::usualMaximum + 1),
               std::runtime_error);

  std::atomic<uint64_t> arrived = 0;
  Crew *self = nullptr;
  Crew crew(100000, [&](uint64_t) {
    ++arrived;
    return waitFor(*self, [&] { return arrived == 100000; });
  });
  self = &crew;
  EXPECT_THROW(crew.run(ThreadPool::shared()), std::runtime_error);
}

TEST(Crew, AFailureEndsTheWaiting) {
  Crew *self = nullptr;
  std::atomic<int> released = 0;
  Crew crew(8, [&](uint64_t number) {
    if (number == 7)
      return false;
    released += !waitFor(*self, [] { return false; });
    return true;
  });
  self = &crew;
  crew.run(ThreadPool::shared());
  EXPECT_EQ(released, 7);
}

TEST(Crew, IsInterrupted) {
  Crew *self = nullptr;
  std::atomic<int> asked = 0;
  auto interrupted = [&] { return ++asked == 2; };
  Crew crew(2, [&](uint64_t) { return waitFor(*self, [] { return false; }); }, interrupted);
  self = &crew;
  crew.run(ThreadPool::shared());
  EXPECT_EQ(asked, 2);
}

} // namespace
