#include "runtime/tuning/MachineLimits.h"
#include "compiler/support/ForkSafety.h"
#include "runtime/threads/ThreadPool.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace nacre {

namespace {

constexpr uint64_t chunkBytes = 256 << 10;

// Memory of this process alone, from the system and not from the heap: a benchmark does not move what it measures.
class Block {
public:
  explicit Block(uint64_t size) : size(size) {
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    madvise(memory, size, MADV_HUGEPAGE); // else page tables are what is measured
  }
  ~Block() { munmap(memory, size); }
  Block(const Block &) = delete;

  char *data() const { return static_cast<char *>(memory); }
  const uint64_t size;

private:
  void *memory;
};

// Calls body(begin, end) for parts of [0, size) on all threads.
template <typename Body> void overParts(uint64_t size, Body body) {
  uint64_t parts = (size + chunkBytes - 1) / chunkBytes;
  ThreadPool::shared().run(parts, [&](uint64_t begin, uint64_t end) {
    body(begin * chunkBytes, std::min(size, end * chunkBytes));
    return true;
  });
}

// (the cores that share it, its size) of the cache farthest from a core, as Linux describes it; size 0 when it does
// not.
std::pair<std::string, uint64_t> lastCacheOf(int core) {
  std::pair<std::string, uint64_t> last{"", 0};
  int highest = 0;
  for (int index = 0;; ++index) {
    std::string folder =
        "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cache/index" + std::to_string(index) + "/";
    int level = 0;
    uint64_t kilobytes = 0;
    std::string cores;
    if (!(std::ifstream(folder + "level") >> level))
      return last;
    std::ifstream(folder + "size") >> kilobytes; // "32768K"
    std::ifstream(folder + "shared_cpu_list") >> cores;
    if (level > highest && kilobytes > 0) {
      highest = level;
      last = {cores, kilobytes << 10};
    }
  }
}

template <typename Work> double bestSeconds(int repetitions, Work work) {
  double best = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Twelve independent chains of multiply-adds over 64 bytes each: enough to hide every unit's latency.
constexpr int vectorsAtATime = 12;
template <typename Number>
[[gnu::always_inline]] inline Number multiplyAdds(uint64_t rounds, Number factor, Number addend) {
#pragma clang fp contract(fast)
  constexpr int lanes = 64 / sizeof(Number);
  using Vector [[gnu::vector_size(64)]] = Number;
  Vector sums[vectorsAtATime];
  for (Vector &sum : sums)
    for (int lane = 0; lane < lanes; ++lane)
      sum[lane] = factor;
  Vector factors, addends;
  for (int lane = 0; lane < lanes; ++lane) {
    factors[lane] = factor;
    addends[lane] = addend;
  }
  for (uint64_t round = 0; round < rounds; ++round)
    for (Vector &sum : sums)
      sum = sum * factors + addends;
  Number total = 0;
  for (Vector &sum : sums)
    for (int lane = 0; lane < lanes; ++lane)
      total += sum[lane];
  return total;
}

#if defined(__x86_64__)
#define NACRE_WIDEST(name, Number)                                                                                     \
  [[gnu::target("avx512f,avx512vl")]] Number name##512(uint64_t rounds, Number factor, Number addend) {                \
    return multiplyAdds<Number>(rounds, factor, addend);                                                               \
  }                                                                                                                    \
  [[gnu::target("avx2,fma")]] Number name##256(uint64_t rounds, Number factor, Number addend) {                        \
    return multiplyAdds<Number>(rounds, factor, addend);                                                               \
  }                                                                                                                    \
  Number name(uint64_t rounds, Number factor, Number addend) {                                                         \
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))                                       \
      return name##512(rounds, factor, addend);                                                                        \
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))                                               \
      return name##256(rounds, factor, addend);                                                                        \
    return multiplyAdds<Number>(rounds, factor, addend);                                                               \
  }
#else
#define NACRE_WIDEST(name, Number)                                                                                     \
  Number name(uint64_t rounds, Number factor, Number addend) { return multiplyAdds<Number>(rounds, factor, addend); }
#endif
NACRE_WIDEST(widestFloat, float)
NACRE_WIDEST(widestDouble, double)
#undef NACRE_WIDEST

template <typename Number, typename Function> double operationsPerSecond(Function function) {
  constexpr uint64_t rounds = 1 << 16;
  const uint64_t parts = static_cast<uint64_t>(ThreadPool::shared().threads()) * 16;
  std::atomic<Number> sink = 0;
  double seconds = bestSeconds(20, [&] {
    ThreadPool::shared().run(parts, [&](uint64_t begin, uint64_t end) {
      for (uint64_t part = begin; part < end; ++part)
        sink.store(function(rounds, Number(0.5), Number(1)), std::memory_order_relaxed);
      return true;
    });
  });
  double lanes = 64 / sizeof(Number);
  return 2.0 * lanes * vectorsAtATime * static_cast<double>(rounds) * static_cast<double>(parts) / seconds;
}

} // namespace

// What Linux says; sysconf tells a package's caches as one, of which this process' cores may reach a small part.
uint64_t lastLevelCacheBytes() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof(usable), &usable) == 0) {
    std::map<std::string, uint64_t> caches; // by the cores that share one
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &usable))
        if (auto [cores, bytes] = lastCacheOf(core); bytes > 0)
          caches[cores] = bytes;
    uint64_t total = 0;
    for (const auto &[cores, bytes] : caches)
      total += bytes;
    if (total > 0)
      return total;
  }
  for (int name : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (long size = sysconf(name); size > 0)
      return static_cast<uint64_t>(size);
  return 32 << 20;
}

void clearCaches() {
  static RenewedLock lock;
  static auto *memory = new std::unique_ptr<Block>;
  std::lock_guard<RenewedLock> guard(lock);
  if (!*memory) { // written once: pages that nobody wrote are all the same page
    *memory = std::make_unique<Block>(std::min<uint64_t>(lastLevelCacheBytes(), 512 << 20));
    overParts((*memory)->size,
              [&](uint64_t begin, uint64_t end) { std::memset((*memory)->data() + begin, 1, end - begin); });
  }
  static std::atomic<uint64_t> sink = 0;
  overParts((*memory)->size, [&](uint64_t begin, uint64_t end) { // one byte of each line brings the line
    uint64_t sum = 0;
    for (uint64_t at = begin; at < end; at += 64)
      sum += static_cast<unsigned char>((*memory)->data()[at]);
    sink.fetch_add(sum, std::memory_order_relaxed);
  });
}

double measuredBandwidth() {
  uint64_t size = std::clamp<uint64_t>(4 * lastLevelCacheBytes(), 128 << 20, 512 << 20);
  Block source(size), target(size);
  auto fill = [&](const Block &block) {
    overParts(size, [&](uint64_t begin, uint64_t end) { std::memset(block.data() + begin, 1, end - begin); });
  };
  fill(source);
  fill(target);
  double seconds = bestSeconds(15, [&] {
    overParts(size, [&](uint64_t begin, uint64_t end) {
      std::memcpy(target.data() + begin, source.data() + begin, end - begin);
    });
  });
  return 2.0 * static_cast<double>(size) / seconds;
}

double measuredOperations(int width) {
  return width == 64 ? operationsPerSecond<double>(widestDouble) : operationsPerSecond<float>(widestFloat);
}

} // namespace nacre
