// What the scopes and events in a kernel's text took: marks as its programs pass them, and what they add up to.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::profiler {

// One scope of one program, or of one of its warps.
struct KernelScope {
  std::vector<std::string> path; // of scopes, the outermost first; of an event its name alone
  uint64_t program;
  uint32_t warp, processor, line; // line: where it begins; 0: not known
  uint64_t begin, end;            // cycles
  bool isEvent;
};

// Of one launch. Marks are told on many threads at once, those of one warp by one thread at a time.
class KernelMarks {
public:
  KernelMarks();
  struct Mark {
    uint64_t program, cycles;
    uint32_t name, line, warp, processor;
    bool isBegin, isEvent;
  };
  void add(std::string_view name, Mark mark);
  // What they add up to, by program, warp and time: whichever threads ran them. A scope whose end was never told ends
  // with the last mark of its warp; an end without a begin counts for nothing.
  std::vector<KernelScope> scopes();
  uint64_t dropped() const { return left.load(std::memory_order_relaxed); } // there were too many

  static uint64_t cyclesNow(); // the processor's time-stamp counter, or nanoseconds where it has none

private:
  struct OfThread {
    std::vector<Mark> marks;
    std::map<std::string, uint32_t, std::less<>> numbers;
    std::vector<std::string> names;
  };
  OfThread &mine();

  const uint64_t number; // of all that were made
  std::atomic<uint64_t> left{0};
  std::mutex lock; // guards what follows
  std::vector<std::unique_ptr<OfThread>> threads;
};

} // namespace nacre::profiler
