// What the scopes and events in a kernel's text took: marks as its programs pass them, and what they add up to.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::profiler {

// Which marks of a launch are kept. A unit is a warp, some that follow each other, of which the first speaks for all,
// or a whole program.
struct MarkChoice {
  uint32_t warpsOfUnit = 1; // 0: all of a program
  // Numbers of units, in their order: of programs where these are the units, else of the units of each; none: all.
  std::optional<std::vector<uint64_t>> units;
  uint64_t marksOfProgram = 0; // the latest ones, in equal parts of its units; 0: all

  bool keeps(uint64_t program, uint32_t warp) const;
  uint32_t unitOf(uint32_t warp) const { return warpsOfUnit ? warp / warpsOfUnit : 0; }
  // Of so many programs.
  uint64_t chosenPrograms(uint64_t programs) const;
};

// One scope of one unit of a program.
struct KernelScope {
  std::vector<std::string> path; // of scopes, the outermost first; of an event its name alone
  uint64_t program;
  uint32_t unit, processor, line; // line: where it begins; 0: not known
  uint64_t begin, end;            // cycles
  bool isEvent;
};

// Of one launch. Marks are told on many threads at once, those of one warp by one thread at a time.
class KernelMarks {
public:
  explicit KernelMarks(MarkChoice choice = {});
  struct Mark {
    uint64_t program, cycles;
    uint32_t name, line, unit, processor;
    bool isBegin, isEvent;
  };
  struct NamedMark {
    std::string_view name; // lasts as long as this
    Mark mark;
    size_t order; // in which they were told
  };
  // `mark.unit` is the number of its warp.
  void add(std::string_view name, Mark mark);
  // Those that are kept, by program, unit and time, whichever threads ran them.
  std::vector<NamedMark> kept();
  // What they add up to. A scope whose end was never told ends with the last mark of its unit; an end without a begin
  // counts for nothing.
  std::vector<KernelScope> scopes();
  // How many had no room, or were not among the latest: these are known after kept().
  uint64_t lost() const { return left.load(std::memory_order_relaxed) + older; }
  void lose(uint64_t count) { left.fetch_add(count, std::memory_order_relaxed); }
  // Whether there were any of units that were not chosen.
  bool isSkipping() const { return hasSkipped.load(std::memory_order_relaxed); }
  const MarkChoice choice;

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
  std::atomic<bool> hasSkipped{false};
  std::mutex lock; // guards what follows
  std::vector<std::unique_ptr<OfThread>> threads;
  uint64_t older = 0;
};

} // namespace nacre::profiler
