// See Write.h.
#include "profiler/Write.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <tuple>

namespace nacre::profiler {

namespace {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

Value valueOf(const MetricValue &value) {
  return std::visit(
      [](const auto &held) -> Value {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, double>) {
          return std::isfinite(held) ? Value(held) : Value(nullptr); // JSON has no other
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
          return held;
        } else {
          Array list;
          for (auto element : held)
            list.push_back(valueOf(MetricValue(element)));
          return list;
        }
      },
      value);
}

Object metricsOf(const Metrics &metrics) {
  Object object;
  for (const auto &[name, value] : metrics)
    object[name] = valueOf(value);
  return object;
}

Object nodeDocument(const Node &node) {
  Array children;
  for (bool isHost : {false, true})
    for (const auto &child : node.children)
      if (child->isHost == isHost)
        children.push_back(nodeDocument(*child));
  return Object{{"frame", Object{{"name", node.name}, {"type", "function"}}},
                {"metrics", metricsOf(node.metrics)},
                {"children", std::move(children)}};
}

double microseconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

// The absolute time at which the steady clock was zero, in nanoseconds.
int64_t steadyOrigin() {
  auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
  return wall.count() - static_cast<int64_t>(now());
}

// Where the lanes of scopes of graphs, of streams and of workers begin.
constexpr int64_t graphLane = 100000, streamLane = 200000, workerLane = 300000;

std::string laneTitle(int64_t lane) {
  auto titled = [&](const char *what, int64_t first) { return what + std::to_string(lane - first); };
  return lane >= workerLane   ? titled("CPU Worker ", workerLane)
         : lane >= streamLane ? titled("GPU Stream ", streamLane)
         : lane >= graphLane  ? titled("Graph: Stream ", graphLane)
                              : titled("CPU Thread ", 0);
}

} // namespace

Value treeDocument(const Phase &phase, const Value &devices) {
  Object root = nodeDocument(phase.tree.root);
  Object &metrics = *root.getObject("metrics");
  if (phase.tree.hasKernels)
    for (const char *name : {"count", "time (ns)", "busy (ns)"})
      metrics[name] = 0;
  for (const std::string &name : phase.tree.inclusive)
    if (!metrics.get(name))
      metrics[name] = 0;
  return Array{std::move(root), devices};
}

static std::string unitTitle(const MarkChoice &choice, uint32_t unit) {
  uint32_t warps = choice.warpsOfUnit;
  if (warps == 0)
    return "warps";
  if (warps == 1)
    return "warp " + std::to_string(unit);
  return "warps " + std::to_string(unit * warps) + "-" + std::to_string(unit * warps + warps - 1);
}

// The scopes inside of a launch, from `origin` on: a process for each program, a cycle drawn as a nanosecond.
static void addInside(Array &events, const KernelTimeline &launch, uint64_t origin) {
  struct Block {
    uint64_t begin = UINT64_MAX, end = 0;
  };
  std::map<uint64_t, Block> blocks;
  Block all;
  for (const KernelScope &scope : launch.scopes)
    for (Block *block : {&blocks[scope.program], &all}) {
      block->begin = std::min(block->begin, scope.begin);
      block->end = std::max(block->end, scope.end);
    }
  for (const KernelScope &scope : launch.scopes) {
    const Block &block = blocks[scope.program];
    uint64_t zero = launch.isOneClock ? all.begin : block.begin;
    uint64_t begin = launch.begin - origin;
    Array stack;
    for (const std::string &frame : launch.stack)
      stack.push_back(frame);
    stack.push_back(launch.kernel);
    std::string process =
        launch.kernel + " Core" + std::to_string(scope.processor) + " CTA" + std::to_string(scope.program);
    std::string thread = unitTitle(launch.choice, scope.unit);
    if (scope.line)
      thread += " (line " + std::to_string(scope.line) + ")";
    events.push_back(Object{{"name", scope.path.back()},
                            {"cat", launch.kernel},
                            {"ph", "X"},
                            {"pid", process},
                            {"tid", thread},
                            {"ts", microseconds(begin + (scope.begin - zero))},
                            {"dur", microseconds(scope.end - scope.begin)},
                            {"args", Object{{"call_stack", std::move(stack)},
                                            {"unit", "cycles"},
                                            {"Init Time (ns)", static_cast<int64_t>(begin + (block.begin - zero))},
                                            {"Post Final Time (ns)", static_cast<int64_t>(begin + (block.end - zero))},
                                            // Marks are in memory when they are made: nothing is left to be flushed.
                                            {"Finalization Time (ns)", 0}}}});
  }
}

namespace {

Array stackDocument(const std::vector<std::string> &frames) {
  Array stack;
  for (const std::string &frame : frames)
    stack.push_back(frame);
  return stack;
}

// As Proton writes numbers in the names of events.
std::string metricText(const MetricValue &value) {
  return std::visit(
      [](const auto &held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return held;
        } else if constexpr (std::is_arithmetic_v<T>) {
          return std::to_string(held);
        } else {
          std::string text;
          for (auto element : held)
            text += (text.empty() ? "[" : ", ") + metricText(MetricValue(element));
          return text.empty() ? "[]" : text + "]";
        }
      },
      value);
}

// Traces are read from the front: lanes have their names first, kernels come last.
class TraceWriter {
public:
  TraceWriter(const Phase &phase, uint64_t origin) : phase(phase), origin(origin) {}

  Array write() {
    for (const TraceEvent &event : phase.events) {
      if (event.kind == TraceEvent::Kind::Kernel)
        addKernel(event);
      else
        addScope(event);
    }
    addGraphs();
    Array events;
    if (lanes.size() > 1 || !kernels.empty()) // a lane alone needs no name
      for (int64_t lane : lanes)
        events.push_back(Object{{"name", "thread_name"},
                                {"ph", "M"},
                                {"pid", 0},
                                {"tid", lane},
                                {"args", Object{{"name", laneTitle(lane)}}}});
    for (Array *part : {&others, &kernels})
      for (Value &event : *part)
        events.push_back(std::move(event));
    return events;
  }

private:
  void complete(Array &into, const std::string &name, const char *category, int64_t lane, uint64_t begin, uint64_t end,
                Object args) {
    lanes.insert(lane);
    into.push_back(Object{{"name", name},
                          {"cat", category},
                          {"ph", "X"},
                          {"pid", 0},
                          {"tid", lane},
                          {"ts", microseconds(begin - origin)},
                          {"dur", microseconds(end - begin)},
                          {"args", std::move(args)}});
  }
  void addScope(const TraceEvent &event) {
    Object args{{"call_stack", stackDocument(event.stack)}};
    if (event.scope)
      args["scope_id"] = static_cast<int64_t>(event.scope);
    std::string name = event.name;
    Object metrics;
    for (const auto &[metric, value] : event.metrics) {
      name += (metrics.empty() ? ": <" : ", <") + metric + ", " + metricText(value) + ">";
      metrics[metric] = metricText(value);
    }
    if (!metrics.empty())
      args["metrics"] = std::move(metrics);
    complete(others, name, event.kind == TraceEvent::Kind::Metric ? "metric" : "scope", event.thread, event.begin,
             event.end, std::move(args));
  }
  void addFlowEnd(const char *phase, int64_t lane, uint64_t time) {
    others.push_back(Object{{"name", "launch->kernel"},
                            {"cat", "flow"},
                            {"ph", phase},
                            {"bp", "e"},
                            {"id", flow},
                            {"pid", 0},
                            {"tid", lane},
                            {"ts", microseconds(time - origin)}});
  }
  // Small numbers of streams are the device's own; others are addresses, and numbered here.
  int64_t streamNumber(uint64_t stream) {
    if (stream < static_cast<uint64_t>(streamLane - graphLane))
      return static_cast<int64_t>(stream);
    return addresses.try_emplace(stream, static_cast<int64_t>(addresses.size()) + 1).first->second;
  }
  void addKernel(const TraceEvent &event) {
    Array stack = stackDocument(event.stack);
    stack.push_back(event.name);
    Object args{{"call_stack", std::move(stack)}, {"metrics", metricsOf(event.metrics)}};
    if (event.scope)
      args["scope_id"] = static_cast<int64_t>(event.scope);
    ++flow;
    if (event.stream) { // it ran behind its host, on a stream
      int64_t number = streamNumber(*event.stream), lane = streamLane + number;
      complete(kernels, event.name, "kernel", lane, event.begin, event.end, std::move(args));
      addFlowEnd("s", event.thread, event.launched);
      addFlowEnd("f", lane, event.begin);
      auto captured = std::find(event.stack.begin(), event.stack.end(), "<captured_at>");
      if (captured != event.stack.end())
        replays[{event.launched, event.thread, number}].push_back(
            {&event, static_cast<size_t>(captured - event.stack.begin())});
      return;
    }
    // The launch on its thread, and what each worker did of it.
    complete(kernels, event.name, "kernel", event.thread, event.begin, event.end, std::move(args));
    addFlowEnd("s", event.thread, event.begin);
    if (event.slices.empty())
      addFlowEnd("f", event.thread, event.begin);
    bool isFirst = true;
    for (const Slice &slice : event.slices) {
      int64_t lane = workerLane + slice.worker;
      complete(others, event.name, "programs", lane, slice.begin, slice.end,
               Object{{"first_program", static_cast<int64_t>(slice.firstProgram)},
                      {"programs", static_cast<int64_t>(slice.programs)}});
      if (std::exchange(isFirst, false))
        addFlowEnd("f", lane, slice.begin);
    }
  }
  // The scopes of a graph's capture, over the kernels of each replay that stand in them one after another.
  void addGraphs() {
    for (auto &[replay, members] : replays) {
      std::sort(members.begin(), members.end(), [](const Replayed &a, const Replayed &b) {
        return std::tie(a.kernel->begin, a.kernel->end) < std::tie(b.kernel->begin, b.kernel->end);
      });
      int64_t lane = graphLane + std::get<2>(replay);
      struct Open {
        uint64_t begin, end;
      };
      std::vector<std::string> path; // with the frames above it
      std::vector<Open> open;        // of the last of them
      auto closeTo = [&](size_t kept) {
        while (path.size() > kept && !open.empty()) {
          complete(others, path.back(), "scope", lane, open.back().begin, open.back().end,
                   Object{{"call_stack", stackDocument(path)}});
          path.pop_back();
          open.pop_back();
        }
      };
      for (const Replayed &member : members) {
        const std::vector<std::string> &stack = member.kernel->stack;
        size_t same = 0;
        while (same < path.size() && same < stack.size() && path[same] == stack[same])
          ++same;
        closeTo(same);
        if (path.empty())
          path.assign(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(member.captured));
        for (size_t i = path.size(); i < stack.size(); ++i) {
          path.push_back(stack[i]);
          open.push_back({member.kernel->begin, 0});
        }
        for (Open &each : open)
          each.end = std::max(each.end, member.kernel->end);
      }
      closeTo(0);
    }
  }

  struct Replayed {
    const TraceEvent *kernel;
    size_t captured; // the place of <captured_at> in its stack
  };
  const Phase &phase;
  const uint64_t origin;
  int64_t flow = 0;
  std::set<int64_t> lanes;
  std::map<uint64_t, int64_t> addresses;                                            // of streams
  std::map<std::tuple<uint64_t, uint32_t, int64_t>, std::vector<Replayed>> replays; // by launch and stream
  Array others, kernels;
};

} // namespace

Value traceDocument(const Phase &phase) {
  uint64_t origin = UINT64_MAX;
  for (const KernelTimeline &launch : phase.kernels)
    origin = std::min(origin, launch.begin);
  for (const TraceEvent &event : phase.events)
    origin = std::min(origin, event.stream ? std::min(event.launched, event.begin) : event.begin);
  if (origin == UINT64_MAX)
    origin = now();
  Array events = TraceWriter(phase, origin).write();
  for (const KernelTimeline &launch : phase.kernels)
    addInside(events, launch, origin);
  return Object{{"displayTimeUnit", phase.kernels.empty() ? "us" : "ns"},
                {"baseTimeNanoseconds", steadyOrigin() + static_cast<int64_t>(origin)},
                {"traceEvents", std::move(events)}};
}

std::string jsonText(const Value &document) {
  std::string text;
  llvm::raw_string_ostream(text) << document << "\n";
  return text;
}

// ---- msgpack: numbers and lengths in the shortest form would save little; each has one form here.

namespace {

class Packer {
public:
  std::string bytes;

  void pack(const Value &value) {
    if (std::optional<int64_t> number = value.getAsInteger(); number && value.kind() == Value::Number && isWhole(value))
      return tagged(0xd3, static_cast<uint64_t>(*number), 8);
    if (std::optional<double> number = value.getAsNumber()) {
      uint64_t bits;
      std::memcpy(&bits, &*number, 8);
      return tagged(0xcb, bits, 8);
    }
    if (std::optional<llvm::StringRef> text = value.getAsString())
      return packText(*text);
    if (const Array *list = value.getAsArray()) {
      tagged(0xdd, list->size(), 4);
      for (const Value &element : *list)
        pack(element);
      return;
    }
    if (const Object *object = value.getAsObject()) {
      tagged(0xdf, object->size(), 4);
      for (const auto &[name, held] : *object) {
        packText(name);
        pack(held);
      }
      return;
    }
    bytes.push_back(value.getAsBoolean() ? static_cast<char>(*value.getAsBoolean() ? 0xc3 : 0xc2)
                                         : static_cast<char>(0xc0));
  }

private:
  // 2.0 is a float, although it is whole: how the number was put in decides.
  static bool isWhole(const Value &value) {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return text.find_first_of(".eE") == std::string::npos;
  }
  void packText(llvm::StringRef text) {
    tagged(0xdb, text.size(), 4);
    bytes.append(text.begin(), text.end());
  }
  void tagged(unsigned tag, uint64_t number, int width) {
    bytes.push_back(static_cast<char>(tag));
    for (int byte = width - 1; byte >= 0; --byte)
      bytes.push_back(static_cast<char>(number >> (8 * byte)));
  }
};

} // namespace

std::string msgpackBytes(const Value &document) {
  Packer packer;
  packer.pack(document);
  return std::move(packer.bytes);
}

} // namespace nacre::profiler
