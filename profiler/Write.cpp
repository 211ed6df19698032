// See Write.h.
#include "profiler/Write.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

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
  for (const auto &child : node.children)
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

constexpr int64_t streamLane = 200000, workerLane = 300000; // where the lanes of streams and of workers begin

Object laneName(int64_t lane, const std::string &name) {
  return Object{{"name", "thread_name"}, {"ph", "M"}, {"pid", 0}, {"tid", lane}, {"args", Object{{"name", name}}}};
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
    std::string thread =
        "warp " + std::to_string(scope.warp) + (scope.line ? " (line " + std::to_string(scope.line) + ")" : "");
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
                                            {"Post Final Time (ns)", static_cast<int64_t>(launch.end - origin)},
                                            {"Final Time (ns)", static_cast<int64_t>(begin + (block.end - zero))}}}});
  }
}

Value traceDocument(const Phase &phase) {
  uint64_t origin = UINT64_MAX;
  for (const KernelTimeline &launch : phase.kernels)
    origin = std::min(origin, launch.begin);
  for (const TraceEvent &event : phase.events)
    origin = std::min(origin, event.stream ? std::min(event.launched, event.begin) : event.begin);
  if (origin == UINT64_MAX)
    origin = now();
  Array events;
  std::set<int64_t> lanes;
  std::map<uint64_t, int64_t> addresses; // of streams
  auto complete = [&](const std::string &name, const char *category, int64_t lane, uint64_t begin, uint64_t end,
                      Object args) {
    lanes.insert(lane);
    events.push_back(Object{{"name", name},
                            {"cat", category},
                            {"ph", "X"},
                            {"pid", 0},
                            {"tid", lane},
                            {"ts", microseconds(begin - origin)},
                            {"dur", microseconds(end - begin)},
                            {"args", std::move(args)}});
  };
  int64_t flow = 0;
  for (const TraceEvent &event : phase.events) {
    Array stack;
    for (const std::string &frame : event.stack)
      stack.push_back(frame);
    Object args{{"call_stack", std::move(stack)}, {"metrics", metricsOf(event.metrics)}};
    if (event.scope)
      args["scope_id"] = static_cast<int64_t>(event.scope);
    constexpr const char *categories[] = {"scope", "kernel", "metric"};
    const char *category = categories[static_cast<int>(event.kind)];
    if (event.kind != TraceEvent::Kind::Kernel) {
      complete(event.name, category, event.thread, event.begin, event.end, std::move(args));
      continue;
    }
    auto flowEnd = [&](const char *phase, int64_t lane, uint64_t time) {
      Object end{
          {"name", "launch->kernel"},         {"cat", "launch"}, {"ph", phase}, {"id", flow}, {"pid", 0}, {"tid", lane},
          {"ts", microseconds(time - origin)}};
      if (*phase == 'f')
        end["bp"] = "e";
      events.push_back(std::move(end));
    };
    ++flow;
    if (event.stream) { // it ran behind its host, on a stream
      // Small numbers are the device's own; others are addresses, and numbered here.
      int64_t number = static_cast<int64_t>(*event.stream);
      if (*event.stream >= workerLane - streamLane)
        number = addresses.try_emplace(*event.stream, static_cast<int64_t>(addresses.size()) + 1).first->second;
      int64_t lane = streamLane + number;
      complete(event.name, category, lane, event.begin, event.end, std::move(args));
      flowEnd("s", event.thread, event.launched);
      flowEnd("f", lane, event.begin);
      continue;
    }
    // The launch on its thread, and what each worker did of it.
    complete(event.name, category, event.thread, event.begin, event.end, Object(args));
    flowEnd("s", event.thread, event.begin);
    bool isFirst = true;
    for (const Slice &slice : event.slices) {
      int64_t lane = workerLane + slice.worker;
      complete(event.name, category, lane, slice.begin, slice.end,
               Object{{"first_program", static_cast<int64_t>(slice.firstProgram)},
                      {"programs", static_cast<int64_t>(slice.programs)}});
      if (std::exchange(isFirst, false))
        flowEnd("f", lane, slice.begin);
    }
  }
  for (int64_t lane : lanes)
    events.push_back(laneName(lane, lane < streamLane   ? "CPU Thread " + std::to_string(lane)
                                    : lane < workerLane ? "GPU Stream " + std::to_string(lane - streamLane)
                                                        : "CPU Worker " + std::to_string(lane - workerLane)));
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
