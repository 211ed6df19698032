// See Profiler.h.
#include "profiler/Profiler.h"
#include "profiler/NvtxRanges.h"
#include "profiler/ScopeLog.h"
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>

namespace nacre::profiler {

std::atomic<int> Profiler::openSessions{0}, Profiler::active{0}, Profiler::pythonSessions{0}, Profiler::traces{0},
    Profiler::insideSessions{0}, Profiler::samplingSessions{0};

uint64_t now() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

namespace {

struct OpenScope {
  std::string name;
  uint64_t id, begin;
  bool isRange;         // of the tool around the process
  bool hasWork = false; // it was given bytes or flops
  Metrics metrics;      // that it was given, where a trace is made
};

bool hasWork(const Metrics &metrics) {
  return std::any_of(metrics.begin(), metrics.end(), [](const auto &entry) { return isWork(entry.first); });
}

// The log of one thread's scopes, which another thread may read.
struct ThreadLog {
  RenewedLock lock;
  ScopeLog scopes;
  uint64_t generation;
};
std::atomic<uint64_t> logging{0};                   // 0: nobody will ask; else the generation of logs
ProcessLock logsLock;                               // guards what follows
std::map<int64_t, std::shared_ptr<ThreadLog>> logs; // by the system's number of the thread
uint64_t nextGeneration = 0;

int64_t systemThread() { return static_cast<int64_t>(syscall(SYS_gettid)); }

// What is open on one thread.
struct ThreadState {
  std::vector<OpenScope> scopes;
  std::vector<std::string> states;
  struct Operation {
    std::string name;
    Metrics metrics;
  };
  std::vector<Operation> operations;
  std::shared_ptr<ThreadLog> log; // of this thread's scopes, where somebody will ask
  uint32_t number = nextNumber++;
  static inline std::atomic<uint32_t> nextNumber{0};
};

ThreadState &thread() {
  thread_local ThreadState state;
  return state;
}

std::atomic<uint64_t> nextScope{0};

// The log of this thread, with the scopes that are open now; null: nobody will ask.
ThreadLog *logOf(ThreadState &state) {
  uint64_t generation = logging.load(std::memory_order_relaxed);
  if (generation == 0)
    return nullptr;
  if (state.log && state.log->generation == generation)
    return state.log.get();
  state.log = std::make_shared<ThreadLog>();
  state.log->generation = generation;
  std::vector<std::string> open;
  for (const OpenScope &scope : state.scopes)
    open.push_back(scope.name);
  state.log->scopes.restart(open, state.states.empty() ? std::string_view() : state.states.back());
  std::lock_guard<ProcessLock> guard(logsLock);
  logs[systemThread()] = state.log;
  return state.log.get();
}

// Whether a hook or an open scope says what a kernel that is launched now on this thread does.
bool isWorkGiven(const ThreadState &state) {
  return (!state.operations.empty() && hasWork(state.operations.back().metrics)) ||
         std::any_of(state.scopes.begin(), state.scopes.end(), [](const OpenScope &scope) { return scope.hasWork; });
}

// The metrics of such a kernel.
Metrics metricsNow(const ThreadState &state, const Metrics *known) {
  Metrics metrics = state.operations.empty() ? Metrics() : state.operations.back().metrics;
  bool isGiven = known && isWorkGiven(state);
  if (known)
    for (const auto &[name, value] : *known)
      if (!isGiven || !isWork(name))
        metrics.try_emplace(name, value);
  return metrics;
}

// The node of what happens now on this thread, below it `name`.
Node &descend(Phase &phase, const Session &session, const std::vector<std::string> &frames, std::string_view name) {
  Node *node = &phase.tree.root;
  ThreadState &state = thread();
  if (session.kind.isPython)
    for (const std::string &frame : frames)
      node = &node->child(frame);
  else
    for (const OpenScope &scope : state.scopes)
      node = &node->child(scope.name);
  if (!state.states.empty())
    node = &node->child(state.states.back());
  return name.empty() ? *node : node->child(name);
}

std::vector<std::string> stackOf(const Session &session, const std::vector<std::string> &frames) {
  if (session.kind.isPython)
    return frames;
  std::vector<std::string> names = {"ROOT"};
  for (const OpenScope &scope : thread().scopes)
    names.push_back(scope.name);
  return names;
}

} // namespace

Phase &Session::current() {
  std::unique_ptr<Phase> &found = phases[phase];
  if (!found)
    found = std::make_unique<Phase>();
  return *found;
}

Profiler &Profiler::shared() {
  static auto *instance = new Profiler;
  return *instance;
}

void Profiler::count() {
  auto countIf = [&](auto predicate) {
    return static_cast<int>(
        std::count_if(open.begin(), open.end(), [&](const auto &entry) { return predicate(*entry.second); }));
  };
  openSessions = static_cast<int>(open.size());
  active = countIf([](const Session &session) { return session.isActive; });
  traces = countIf([](const Session &session) { return session.isActive && session.kind.isTrace; });
  samplingSessions = countIf([](const Session &session) { return session.isActive && session.kind.samples; });
  insideSessions = countIf([](const Session &session) { return session.isActive && session.kind.looksInside; });
  pythonSessions = countIf([](const Session &session) { return session.isActive && session.kind.isPython; });
}

int Profiler::start(const std::string &name, SessionKind kind) {
  std::lock_guard<ProcessLock> guard(lock);
  for (auto &[id, session] : open)
    if (session->name == name) {
      session->isActive = true;
      count();
      return id;
    }
  auto session = std::make_unique<Session>();
  session->id = nextSession++;
  session->name = name;
  session->kind = kind;
  int id = session->id;
  open.emplace(id, std::move(session));
  count();
  return id;
}

Session &Profiler::find(int session) {
  auto found = open.find(session);
  if (found == open.end())
    throw std::out_of_range("Session has not been initialized: " + std::to_string(session));
  return *found->second;
}

void Profiler::setActive(std::optional<int> session, bool isActive) {
  std::lock_guard<ProcessLock> guard(lock);
  if (session)
    find(*session).isActive = isActive;
  else
    for (auto &[id, each] : open)
      each->isActive = isActive;
  count();
}

std::vector<int> Profiler::sessions() {
  std::lock_guard<ProcessLock> guard(lock);
  std::vector<int> ids;
  for (const auto &[id, session] : open)
    ids.push_back(id);
  return ids;
}

void Profiler::close(int session) {
  std::lock_guard<ProcessLock> guard(lock);
  find(session);
  open.erase(session);
  count();
}

template <typename Visit> void Profiler::forEachActive(const std::vector<std::string> &frames, Visit visit) {
  std::lock_guard<ProcessLock> guard(lock);
  for (auto &[id, session] : open)
    if (session->isActive)
      visit(*session, session->current());
}

uint64_t Profiler::enterScope(std::string_view name) {
  uint64_t id = ++nextScope;
  ThreadState &state = thread();
  bool isRange = NvtxRanges::isOn();
  if (isRange)
    NvtxRanges::push(name);
  ThreadLog *log = logOf(state);
  uint64_t begin = wantsSlices() || log ? now() : 0;
  state.scopes.push_back({std::string(name), id, begin, isRange, false, {}});
  if (log) {
    std::lock_guard<RenewedLock> guard(log->lock);
    log->scopes.enter(name, begin);
  }
  return id;
}

uint64_t Profiler::exitScope(std::string_view name) {
  ThreadState &state = thread();
  if (state.scopes.empty())
    throw std::invalid_argument("no scope is open" + (name.empty() ? std::string() : ": '" + std::string(name) + "'"));
  OpenScope &last = state.scopes.back();
  if (!name.empty() && last.name != name)
    throw std::invalid_argument("the open scope is '" + last.name + "', not '" + std::string(name) + "'");
  uint64_t id = last.id;
  if (last.begin != 0 && wantsSlices()) {
    uint64_t end = now();
    forEachActive({}, [&](Session &session, Phase &phase) {
      if (session.kind.showsTimes())
        phase.events.push_back({last.metrics.empty() ? TraceEvent::Kind::Scope : TraceEvent::Kind::Metric,
                                last.name,
                                last.begin,
                                end,
                                state.number,
                                stackOf(session, {}),
                                last.metrics,
                                id,
                                {},
                                {},
                                0});
    });
  }
  if (last.isRange)
    NvtxRanges::pop();
  ThreadLog *log = logOf(state);
  state.scopes.pop_back();
  if (log) {
    std::lock_guard<RenewedLock> guard(log->lock);
    log->scopes.exit(now());
  }
  return id;
}

void Profiler::addMetrics(const Metrics &metrics, const std::vector<std::string> &frames) {
  if (!thread().scopes.empty() && hasWork(metrics))
    thread().scopes.back().hasWork = true;
  forEachActive(frames, [&](Session &session, Phase &phase) {
    std::string_view name =
        session.kind.isPython && !thread().scopes.empty() ? thread().scopes.back().name : std::string_view();
    Node &node = descend(phase, session, frames, name);
    for (const auto &[metric, value] : metrics)
      phase.tree.add(node, metric, value);
  });
  // In a trace the scope has them, when it ends.
  if (wantsSlices() && !thread().scopes.empty())
    for (const auto &[metric, value] : metrics) {
      MetricName name(metric);
      if (auto [place, isNew] = thread().scopes.back().metrics.try_emplace(name.shown, inItsType(name.shown, value));
          !isNew)
        combine(name, place->second, inItsType(name.shown, value));
    }
}

size_t Profiler::depth() const { return thread().scopes.size(); }
void Profiler::leaveScopes() {
  thread().scopes.clear();
  if (ThreadLog *log = logOf(thread())) {
    std::lock_guard<RenewedLock> guard(log->lock);
    log->scopes.restart({}, "");
  }
}
// With what was changed in the thread's states.
static void logState(ThreadState &state) {
  if (ThreadLog *log = logOf(state)) {
    std::lock_guard<RenewedLock> guard(log->lock);
    log->scopes.setState(state.states.empty() ? std::string_view() : state.states.back(), now());
  }
}

void Profiler::enterState(std::string_view name) {
  thread().states.emplace_back(name);
  logState(thread());
}
void Profiler::exitState() {
  if (thread().states.empty())
    throw std::invalid_argument("no state is open");
  thread().states.pop_back();
  logState(thread());
}

void Profiler::enterOperation(std::string_view name, Metrics metrics) {
  thread().operations.push_back({std::string(name), std::move(metrics)});
}
void Profiler::exitOperation() {
  if (!thread().operations.empty())
    thread().operations.pop_back();
}

std::string Profiler::operation(std::string_view kernel) const {
  const auto &open = thread().operations;
  return open.empty() ? std::string(kernel) : open.back().name;
}

void Profiler::record(const KernelRun &run) {
  ThreadState &state = thread();
  auto *operation = state.operations.empty() ? nullptr : &state.operations.back();
  std::string_view name = operation ? std::string_view(operation->name) : run.name;
  bool isGiven = run.known && isWorkGiven(state);
  forEachActive(run.frames, [&](Session &session, Phase &phase) {
    Node &node = descend(phase, session, run.frames, name);
    phase.tree.addKernel(node, run.device, static_cast<int64_t>(run.end - run.begin), static_cast<int64_t>(run.busy));
    if (operation)
      for (const auto &[metric, value] : operation->metrics)
        phase.tree.add(node, metric, value);
    if (run.known)
      Tree::addKnown(node, *run.known, !isGiven);
    if (session.kind.showsTimes())
      phase.events.push_back({TraceEvent::Kind::Kernel,
                              std::string(name),
                              run.begin,
                              run.end,
                              state.number,
                              stackOf(session, run.frames),
                              operation ? operation->metrics : Metrics(),
                              state.scopes.empty() ? 0 : state.scopes.back().id,
                              run.slices,
                              {},
                              0});
  });
}

void Profiler::logScopes(bool isOn) {
  {
    std::lock_guard<ProcessLock> guard(logsLock);
    if (isOn != (logging != 0)) {
      logs.clear();
      logging = isOn ? ++nextGeneration : 0;
    }
  }
  logOf(thread());
}

void Profiler::recordOperators(const std::vector<Operator> &operators, const DeviceName &device) {
  std::map<int64_t, std::shared_ptr<ThreadLog>> known;
  {
    std::lock_guard<ProcessLock> guard(logsLock);
    known = logs;
  }
  std::vector<ScopeLog::Open> places;
  for (const Operator &each : operators) {
    auto log = known.find(each.thread);
    places.emplace_back();
    if (log == known.end())
      continue;
    std::lock_guard<RenewedLock> guard(log->second->lock);
    places.back() = log->second->scopes.at(each.begin);
  }
  forEachActive({}, [&](Session &session, Phase &phase) {
    if (session.kind.isTrace || session.kind.looksInside)
      return;
    for (size_t i = 0; i < operators.size(); ++i) {
      Node *node = &phase.tree.root;
      for (const std::string &name : session.kind.isPython ? operators[i].frames : places[i].scopes)
        node = &node->child(name);
      if (!places[i].state.empty())
        node = &node->child(places[i].state);
      auto time = static_cast<int64_t>(operators[i].end - operators[i].begin);
      phase.tree.addKernel(node->child(operators[i].name), device, time, time);
    }
  });
  for (auto &[thread, log] : known) {
    std::lock_guard<RenewedLock> guard(log->lock);
    log->scopes.restart();
  }
}

LaunchPlace LaunchPlace::replaying(const LaunchPlace &captured) const {
  LaunchPlace place = *this;
  place.name = captured.name;
  place.metrics = captured.metrics;
  for (InSession &in : place.sessions) {
    auto before = std::find_if(captured.sessions.begin(), captured.sessions.end(),
                               [&](const InSession &other) { return other.session == in.session; });
    if (before == captured.sessions.end())
      continue;
    in.path.emplace_back("<captured_at>");
    in.path.insert(in.path.end(), before->path.begin(), before->path.end());
    if (!in.stack.empty()) {
      in.stack.emplace_back("<captured_at>");
      in.stack.insert(in.stack.end(), before->path.begin(), before->path.end());
    }
  }
  return place;
}

LaunchPlace Profiler::place(std::string_view name, const std::vector<std::string> &frames, const Metrics *known) {
  ThreadState &state = thread();
  auto *operation = state.operations.empty() ? nullptr : &state.operations.back();
  LaunchPlace place{std::string(operation ? std::string_view(operation->name) : name),
                    metricsNow(state, known),
                    state.number,
                    state.scopes.empty() ? 0 : state.scopes.back().id,
                    now(),
                    {}};
  forEachActive(frames, [&](Session &session, Phase &) {
    std::vector<std::string> path;
    if (session.kind.isPython)
      path = frames;
    else
      for (const OpenScope &scope : state.scopes)
        path.push_back(scope.name);
    if (!state.states.empty())
      path.push_back(state.states.back());
    place.sessions.push_back({session.id, session.phase, std::move(path), {}});
    if (session.kind.showsTimes())
      place.sessions.back().stack = stackOf(session, frames);
  });
  return place;
}

template <typename Visit> void Profiler::visitPlaces(const LaunchPlace &place, Visit visit) {
  for (const LaunchPlace::InSession &in : place.sessions) {
    auto session = open.find(in.session);
    if (session == open.end())
      continue;
    auto phase = session->second->phases.find(in.phase);
    if (phase == session->second->phases.end())
      continue;
    Node *node = &phase->second->tree.root;
    for (const std::string &frame : in.path)
      node = &node->child(frame);
    visit(in, *session->second, *phase->second, *node);
  }
}

void Profiler::record(const LaunchPlace &place, std::string_view name, const DeviceName &device, uint64_t stream,
                      uint64_t begin, uint64_t end) {
  if (!place.name.empty())
    name = place.name;
  std::lock_guard<ProcessLock> guard(lock);
  visitPlaces(place, [&](const LaunchPlace::InSession &in, const Session &session, Phase &phase, Node &around) {
    Node &node = around.child(name);
    auto time = static_cast<int64_t>(end - begin);
    phase.tree.addKernel(node, device, time, time);
    for (const auto &[metric, value] : place.metrics)
      phase.tree.add(node, metric, value);
    if (session.kind.showsTimes())
      phase.events.push_back({TraceEvent::Kind::Kernel,
                              std::string(name),
                              begin,
                              end,
                              place.thread,
                              in.stack,
                              place.metrics,
                              place.scope,
                              {},
                              stream,
                              place.launched});
  });
}

void Profiler::addMetrics(const LaunchPlace &place, const Metrics &metrics) {
  std::lock_guard<ProcessLock> guard(lock);
  visitPlaces(place, [&](const LaunchPlace::InSession &, const Session &, Phase &phase, Node &around) {
    Node &node = place.name.empty() ? around : around.child(place.name);
    for (const auto &[metric, value] : metrics)
      phase.tree.add(node, metric, value);
  });
}

MarkChoice Profiler::markChoice() {
  std::lock_guard<ProcessLock> guard(lock);
  for (const auto &[id, session] : open)
    if (session->isActive && session->kind.looksInside)
      return session->kind.marks;
  return {};
}

void Profiler::recordInside(KernelTimeline launch, uint64_t programs, const std::vector<std::string> &frames) {
  struct Sum {
    int64_t cycles = 0;
    std::set<uint32_t> units;
    uint32_t line = 0; // where the first of them begins
  };
  // The host's threads have numbers of the process; here those that ran programs of this launch count.
  if (launch.isOneClock) {
    std::set<uint32_t> threads;
    for (const KernelScope &scope : launch.scopes)
      threads.insert(scope.processor);
    for (KernelScope &scope : launch.scopes)
      scope.processor = static_cast<uint32_t>(std::distance(threads.begin(), threads.lower_bound(scope.processor)));
  }
  std::map<std::vector<std::string>, Sum> sums;
  std::vector<const std::vector<std::string> *> order;
  for (const KernelScope &scope : launch.scopes) {
    auto [sum, isNew] = sums.try_emplace(scope.path);
    if (isNew) {
      order.push_back(&sum->first);
      sum->second.line = scope.line;
    }
    sum->second.cycles += static_cast<int64_t>(scope.end - scope.begin);
    sum->second.units.insert(scope.unit);
  }
  const auto chosen = static_cast<double>(launch.choice.chosenPrograms(programs));
  forEachActive(frames, [&](Session &session, Phase &phase) {
    if (!session.kind.looksInside)
      return;
    Node &kernel = descend(phase, session, frames, launch.kernel);
    if (launch.lostMarks)
      phase.tree.add(kernel, "lost_marks (exc)", static_cast<int64_t>(launch.lostMarks));
    for (const std::vector<std::string> *path : order) {
      Node *node = &kernel;
      for (const std::string &name : *path)
        node = &node->child(name);
      const Sum &sum = sums[*path];
      phase.tree.add(*node, "cycles (exc)", sum.cycles);
      phase.tree.add(*node, "normalized_cycles (exc)",
                     static_cast<double>(sum.cycles) / (chosen * static_cast<double>(sum.units.size())));
      if (auto moved = launch.moved.find({path->back(), sum.line}); moved != launch.moved.end())
        phase.tree.add(*node, "moved (pty)", moved->second);
    }
    if (session.kind.isTrace) {
      phase.kernels.push_back(launch);
      phase.kernels.back().stack = stackOf(session, frames);
    }
  });
}

void Profiler::recordSamples(std::string_view kernel, const std::vector<std::pair<std::string, Metrics>> &lines,
                             const std::vector<std::string> &frames) {
  forEachActive(frames, [&](Session &session, Phase &phase) {
    if (!session.kind.samples)
      return;
    Node &node = descend(phase, session, frames, kernel);
    for (const auto &[line, metrics] : lines)
      for (const auto &[name, value] : metrics)
        phase.tree.add(node.child(line), name, value);
  });
}

void Profiler::recordSpan(std::string_view name, uint64_t begin, uint64_t end, const std::vector<std::string> &frames) {
  forEachActive(frames, [&](Session &session, Phase &phase) {
    if (session.kind.looksInside)
      return;
    Node &node = descend(phase, session, frames, name);
    node.isHost = true;
    phase.tree.add(node, "cpu_time (ns)(exc)", static_cast<int64_t>(end - begin));
    if (session.kind.showsTimes())
      phase.events.push_back({TraceEvent::Kind::Scope,
                              std::string(name),
                              begin,
                              end,
                              thread().number,
                              stackOf(session, frames),
                              {},
                              0,
                              {},
                              {},
                              0});
  });
}

} // namespace nacre::profiler
