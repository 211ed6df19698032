// See KernelScopes.h.
#include "profiler/KernelScopes.h"
#include <algorithm>
#include <chrono>
#include <tuple>

namespace nacre::profiler {

static constexpr size_t mostMarks = size_t(1) << 20; // of a thread, in one launch

static uint64_t nextNumber() {
  static std::atomic<uint64_t> made{0};
  return ++made;
}

KernelMarks::KernelMarks() : number(nextNumber()) {}

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
  OfThread &own = mine();
  if (own.marks.size() >= mostMarks) {
    left.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  auto known = own.numbers.find(name);
  if (known == own.numbers.end()) {
    known = own.numbers.emplace(name, static_cast<uint32_t>(own.names.size())).first;
    own.names.emplace_back(name);
  }
  mark.name = known->second;
  own.marks.push_back(mark);
}

namespace {

// The marks of one warp, in their order.
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
    found.push_back({std::move(path), begin.program, begin.warp, begin.processor, begin.line, begin.cycles,
                     std::max(begin.cycles, end), begin.isEvent});
  }

  std::vector<KernelScope> &found;
  std::vector<Open> open;
  std::map<std::string, KernelMarks::Mark> started;
  KernelMarks::Mark last{};
};

} // namespace

std::vector<KernelScope> KernelMarks::scopes() {
  std::lock_guard<std::mutex> guard(lock);
  struct Named {
    const std::string *name;
    const Mark *mark;
    size_t order;
  };
  std::vector<Named> all;
  for (const std::unique_ptr<OfThread> &thread : threads)
    for (const Mark &mark : thread->marks)
      all.push_back({&thread->names[mark.name], &mark, all.size()});
  auto place = [](const Named &entry) { return std::pair(entry.mark->program, entry.mark->warp); };
  std::sort(all.begin(), all.end(), [&](const Named &a, const Named &b) {
    return std::pair(place(a), a.order) < std::pair(place(b), b.order);
  });
  std::vector<KernelScope> found;
  Matching matching(found);
  for (size_t i = 0; i < all.size(); ++i) {
    matching.pass(*all[i].name, *all[i].mark);
    if (i + 1 == all.size() || place(all[i]) != place(all[i + 1]))
      matching.finish();
  }
  // Inner scopes end first: as a reader sees them, they begin later.
  std::sort(found.begin(), found.end(), [](const KernelScope &a, const KernelScope &b) {
    return std::tie(a.program, a.warp, a.begin, b.end, a.path) < std::tie(b.program, b.warp, b.begin, a.end, b.path);
  });
  return found;
}

} // namespace nacre::profiler
