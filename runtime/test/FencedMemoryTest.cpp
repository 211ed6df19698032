// Memory between fences: all of it can be used, what is around it cannot.
#include "runtime/threads/FencedMemory.h"
#include "runtime/devices/cpu/ScratchArena.h"
#include "runtime/threads/ThreadPool.h"
#include <csignal>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

using namespace nacre;

namespace {

uintptr_t pageOf(const volatile void *address) { return reinterpret_cast<uintptr_t>(address) / 4096; }

void writeTo(volatile char *address) { *address = 1; }

TEST(FencedMemoryDeathTest, EndsAtFences) {
  for (size_t bytes : {size_t(1), size_t(100000), size_t(5) << 20}) {
    FencedRange range = mapFenced(bytes);
    auto *memory = static_cast<char *>(range.memory);
    EXPECT_GE(range.size, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (bytes > (2 << 20) ? 2 << 20 : 4096), 0u);
    EXPECT_EQ(memory[0], 0);
    std::memset(memory, 7, range.size);
    for (volatile char *place : {memory - 1, memory - 4096, memory + range.size, memory + range.size + 4096})
      EXPECT_EXIT(writeTo(place), testing::KilledBySignal(SIGSEGV), "");
    unmapFenced(range);
  }
}

TEST(FencedMemoryDeathTest, HoldsScratchAndThePool) {
  ScratchLoan scratch(1000), second(1000);
  for (void *memory : {scratch.data(), second.data()})
    EXPECT_EXIT(writeTo(static_cast<char *>(memory) - 1), testing::KilledBySignal(SIGSEGV), "");
  ThreadPool &pool = ThreadPool::shared();
  auto *first = reinterpret_cast<char *>(pageOf(&pool) * 4096), *last = first + 4096;
  EXPECT_LE(sizeof(pool), 4096u);
  EXPECT_EXIT(writeTo(first - 1), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(writeTo(last), testing::KilledBySignal(SIGSEGV), "");
}

} // namespace
