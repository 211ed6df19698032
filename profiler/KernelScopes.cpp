// See KernelScopes.h.
#include "profiler/KernelScopes.h"
#include <algorithm>
#include <chrono>
#include <iterator>
#include <tuple>

namespace nacre::profiler {

static constexpr size_t mostMarks = size_t(1) << 20; // of a thread, in one launch

static uint64_t nextNumber() {
  static std::atomic<uint64_t> made{0};
  return ++made;
}

bool MarkChoice::keeps(uint64_t program, uint32_t warp) const {
  if (warpsOfUnit ? warp % warpsOfUnit != 0 : warp != 0)
    return false;
  return !units || std::binary_search(units->begin(), units->end(), warpsOfUnit ? unitOf(warp) : program);
}

uint64_t MarkChoice::chosenPrograms(uint64_t programs) const {
  if (warpsOfUnit || !units)
    return programs;
  return static_cast<uint64_t>(std::lower_bound(units->begin(), units->end(), programs) - units->begin());
}

KernelMarks::KernelMarks(MarkChoice choice) : choice(std::move(choice)), number(nextNumber()) {}

uint64_t KernelMarks::cyclesNow() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t cycles;
  asm volatile("mrs %0, cntvct_el0" : "=r"(cycles));
  return cycles;
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

KernelMarks::OfThread &KernelMarks::mine() {
  thread_local uint64_t known = 0;
  thread_local OfThread *found = nullptr;
  if (known != number) {
    std::lock_guard<std::mutex> guard(lock);
    found = threads.emplace_back(std::make_unique<OfThread>()).get();
    known = number;
  }
  return *found;
}

void KernelMarks::add(std::string_view name, Mark mark) {
  if (!choice.keeps(mark.program, mark.unit)) {
    hasSkipped.store(true, std::memory_order_relaxed);
    return;
  }
  OfThread &own = mine();
  if (own.marks.size() >= mostMarks)
    return lose(1);
  mark.unit = choice.unitOf(mark.unit);
  auto known = own.numbers.find(name);
  if (known == own.numbers.end()) {
    known = own.numbers.emplace(name, static_cast<uint32_t>(own.names.size())).first;
    own.names.emplace_back(name);
  }
  mark.name = known->second;
  own.marks.push_back(mark);
}

namespace {

// The marks of one unit, in their order.
class Matching {
public:
  explicit Matching(std::vector<KernelScope> &found) : found(found) {}

  void pass(const std::string &name, const KernelMarks::Mark &mark) {
    last = mark;
    if (mark.isEvent)
      return passEvent(name, mark);
    if (mark.isBegin) {
      open.push_back({name, mark});
      return;
    }
    auto named = std::find_if(open.rbegin(), open.rend(), [&](const Open &scope) { return scope.name == name; });
    if (named == open.rend())
      return;
    size_t kept = open.size() - static_cast<size_t>(named - open.rbegin()) - 1;
    while (open.size() > kept)
      close(mark.cycles);
  }
  void finish() {
    while (!open.empty())
      close(last.cycles);
    started.clear();
  }

private:
  struct Open {
    std::string name;
    KernelMarks::Mark begin;
  };
  void close(uint64_t end) {
    std::vector<std::string> path;
    for (const Open &scope : open)
      path.push_back(scope.name);
    add(std::move(path), open.back().begin, end);
    open.pop_back();
  }
  void passEvent(const std::string &name, const KernelMarks::Mark &mark) {
    if (mark.isBegin) {
      started[name] = mark;
    } else if (auto begun = started.find(name); begun != started.end()) {
      add({name}, begun->second, mark.cycles);
      started.erase(begun);
    }
  }
  void add(std::vector<std::string> path, const KernelMarks::Mark &begin, uint64_t end) {
    found.push_back({std::move(path), begin.program, begin.unit, begin.processor, begin.line, begin.cycles,
                     std::max(begin.cycles, end), begin.isEvent});
  }

  std::vector<KernelScope> &found;
  std::vector<Open> open;
  std::map<std::string, KernelMarks::Mark> started;
  KernelMarks::Mark last{};
};

} // namespace

std::vector<KernelMarks::NamedMark> KernelMarks::kept() {
  std::lock_guard<std::mutex> guard(lock);
  std::vector<NamedMark> all;
  for (const std::unique_ptr<OfThread> &thread : threads)
    for (const Mark &mark : thread->marks)
      all.push_back({thread->names[mark.name], mark, all.size()});
  auto place = [](const NamedMark &entry) { return std::pair(entry.mark.program, entry.mark.unit); };
  std::sort(all.begin(), all.end(), [&](const NamedMark &a, const NamedMark &b) {
    return std::pair(place(a), a.order) < std::pair(place(b), b.order);
  });
  if (choice.marksOfProgram == 0)
    return all;
  uint64_t units = 1;
  for (const NamedMark &entry : all)
    units = std::max<uint64_t>(units, entry.mark.unit + 1);
  size_t most = std::max<size_t>(1, choice.marksOfProgram / units);
  std::vector<NamedMark> latest;
  older = 0;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && place(all[begin]) == place(all[end]))
      ++end;
    size_t first = std::max(begin, end - std::min(end, most));
    older += first - begin;
    std::move(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(end),
              std::back_inserter(latest));
  }
  return latest;
}

std::vector<KernelScope> KernelMarks::scopes() {
  std::vector<NamedMark> all = kept();
  auto isSameUnit = [](const Mark &a, const Mark &b) { return a.program == b.program && a.unit == b.unit; };
  std::vector<KernelScope> found;
  Matching matching(found);
  for (size_t i = 0; i < all.size(); ++i) {
    matching.pass(std::string(all[i].name), all[i].mark);
    if (i + 1 == all.size() || !isSameUnit(all[i].mark, all[i + 1].mark))
      matching.finish();
  }
  // Inner scopes end first: as a reader sees them, they begin later.
  std::sort(found.begin(), found.end(), [](const KernelScope &a, const KernelScope &b) {
    return std::tie(a.program, a.unit, a.begin, b.end, a.path) < std::tie(b.program, b.unit, b.begin, a.end, b.path);
  });
  return found;
}

} // namespace nacre::profiler
