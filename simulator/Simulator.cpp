// The module behind the public interface: arguments laid out, memory registered, the launch run.
#include "simulator/Simulator.h"
#include "simulator/Machine.h"
#include "simulator/Races.h"
#include <algorithm>
#include <chrono>
#include <tuple>

namespace nacre::simulator {

uint64_t LaunchState::heapAllocate(uint64_t bytes) {
  if (bytes == 0 || bytes > (uint64_t(1) << 30))
    return 0;
  heap.emplace_back().allocate(bytes, 16);
  // Allocations are found without a lock: a launch with a heap runs on one thread.
  Allocation made;
  made.begin = reinterpret_cast<uint64_t>(heap.back().data);
  made.end = made.begin + bytes;
  made.name = "malloc";
  auto place = std::upper_bound(allocations.begin(), allocations.end(), made.begin,
                                [](uint64_t value, const Allocation &other) { return value < other.begin; });
  allocations.insert(place, made);
  return made.begin;
}

namespace {

class LoadedModule : public Module {
public:
  explicit LoadedModule(std::unique_ptr<Program> program) : program(std::move(program)) {}

  std::vector<KernelInfo> kernels() const override {
    std::vector<KernelInfo> result;
    for (const DecodedFunction &function : program->functions)
      if (function.source->isEntry && function.source->isDefined)
        result.push_back(infoOf(function));
    return result;
  }

  MemoryRange variable(std::string_view name) override {
    for (Program::Module &stored : program->variables)
      if (stored.variable->name == name)
        return {stored.memory.data, stored.variable->bytes, stored.variable->name,
                stored.variable->space == Space::Global};
    return {};
  }

  Report run(const Launch &launch) override {
    auto start = std::chrono::steady_clock::now();
    LaunchState state;
    state.launch = &launch;
    state.program = program.get();
    state.kernel = &find(launch.kernel);
    if (std::shared_ptr<const Error> refusal = refusalOf(*state.kernel))
      throw Error(*refusal);
    for (const DecodedFunction *function : reachedFrom(*state.kernel))
      state.asksForGrid |= function->asksForGrid;
    const Function &source = *state.kernel->source;
    state.grid = launch.grid, state.block = launch.block;
    state.checks = launch.checks, state.counters = launch.counters;
    shape(state, source);
    layOutShared(state);
    if (launch.cooperative)
      makeCooperative(state);
    passArguments(state, source);
    registerMemory(state);
    uint64_t local = state.kernel->localBytes;
    for (const DecodedFunction &function : program->functions)
      if (!function.source->isEntry && function.source->isDefined)
        local += function.localBytes + function.localAlignment;
    if (program->usesStack || recurses(*state.kernel))
      local += stackBytes;
    state.localBytes = static_cast<uint32_t>(std::min<uint64_t>((local + 15) / 16 * 16, 1 << 22));
    if (launch.counters)
      program->findLines();
    Report report;
    report.kernel = source.name;
    runLaunch(state, report);
    report.moreFindings = state.findingKeys.size() - state.findings.size();
    report.findings = std::move(state.findings);
    report.completed = state.completed;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  }

private:
  std::unique_ptr<Program> program;

  KernelInfo infoOf(const DecodedFunction &function) const {
    KernelInfo info;
    info.name = function.source->name;
    for (const Variable *parameter : function.source->parameters)
      info.parameters.push_back(
          {parameter->name, nameOf(parameter->type), static_cast<uint32_t>(parameter->bytes), parameter->alignment});
    info.staticSharedBytes = function.staticSharedBytes;
    auto &threads = function.source->requiredThreads, &cluster = function.source->requiredCluster;
    info.requiredThreads = {threads[0], threads[1], threads[2]};
    info.requiredCluster = {cluster[0], cluster[1], cluster[2]};
    if (auto refusal = refusalOf(function))
      info.refusal = refusal->what();
    return info;
  }

  // The kernel and the functions that it calls.
  std::vector<const DecodedFunction *> reachedFrom(const DecodedFunction &kernel) const {
    std::vector<const DecodedFunction *> reached = {&kernel};
    for (size_t i = 0; i < reached.size(); ++i)
      for (uint32_t callee : reached[i]->callees)
        if (std::find(reached.begin(), reached.end(), &program->functions[callee]) == reached.end())
          reached.push_back(&program->functions[callee]);
    return reached;
  }

  // How deep it calls cannot be known: functions call themselves, directly or not, or what they call is not known.
  bool recurses(const DecodedFunction &kernel) const {
    for (const DecodedFunction *function : reachedFrom(kernel)) {
      if (function->callsIndirectly)
        return true;
      for (uint32_t callee : function->callees) {
        std::vector<const DecodedFunction *> reached = reachedFrom(program->functions[callee]);
        if (std::find(reached.begin(), reached.end(), function) != reached.end())
          return true;
      }
    }
    return false;
  }

  // Why a kernel cannot be run: for its own sake or for a function that it calls. Null: it can.
  std::shared_ptr<const Error> refusalOf(const DecodedFunction &kernel) const {
    for (const DecodedFunction *function : reachedFrom(kernel))
      if (function->refusal)
        return function == &kernel ? function->refusal
                                   : std::make_shared<const Error>(std::string(function->refusal->what()) + " (in `" +
                                                                       function->source->name + "`, which `" +
                                                                       kernel.source->name + "` calls)",
                                                                   function->refusal->line);
    return nullptr;
  }

  const DecodedFunction &find(const std::string &name) const {
    const DecodedFunction *found = nullptr;
    std::string names;
    size_t count = 0;
    for (const DecodedFunction &function : program->functions)
      if (function.source->isEntry && function.source->isDefined) {
        ++count;
        names += (names.empty() ? "" : ", ") + function.source->name;
        if (name.empty() || function.source->name == name)
          found = &function;
      }
    if (!found || (name.empty() && count > 1))
      throw Error((name.empty() ? "a kernel must be named" : "there is no kernel `" + name + "`") +
                  std::string("; kernels: ") + names);
    return *found;
  }

  static void shape(LaunchState &state, const Function &source) {
    const Launch &launch = *state.launch;
    if (launch.grid.count() == 0 || launch.block.count() == 0)
      throw Error("the grid and the block must not be empty");
    auto atMost = [](uint32_t value, uint32_t most, const char *what) {
      if (value > most)
        throw Error(std::string(what) + " has at most " + std::to_string(most) + ", not " + std::to_string(value));
    };
    atMost(launch.block.x, 1024, "a block's x dimension");
    atMost(launch.block.y, 1024, "a block's y dimension");
    atMost(launch.block.z, 64, "a block's z dimension");
    atMost(launch.grid.y, 65535, "the grid's y dimension");
    atMost(launch.grid.z, 65535, "the grid's z dimension");
    if (launch.block.count() > 1024)
      throw Error("a block has at most 1024 threads, not " + std::to_string(launch.block.count()));
    if (launch.grid.count() > (1u << 24) - 2)
      throw Error("the grid has " + std::to_string(launch.grid.count()) + " blocks: 16 million are simulated at most");
    if (source.requiredThreads[0]) {
      const uint32_t *r = source.requiredThreads;
      if (launch.block.x != r[0] || launch.block.y != r[1] || launch.block.z != r[2])
        throw Error("the kernel needs blocks of " + std::to_string(r[0]) + " x " + std::to_string(r[1]) + " x " +
                    std::to_string(r[2]) + " threads (.reqntid)");
    }
    if (source.maximumThreads[0]) {
      uint64_t most = uint64_t(source.maximumThreads[0]) * source.maximumThreads[1] * source.maximumThreads[2];
      if (launch.block.count() > most)
        throw Error("the kernel allows blocks of at most " + std::to_string(most) + " threads (.maxntid)");
    }
    state.cluster = launch.cluster;
    const uint32_t *required = source.requiredCluster;
    if (state.cluster.x == 0)
      state.cluster = required[0] ? Dimensions{required[0], required[1], required[2]} : Dimensions{1, 1, 1};
    const Dimensions &c = state.cluster;
    if (c.count() > 16)
      throw Error("a cluster has at most 16 blocks, not " + std::to_string(c.count()));
    if (state.grid.x % c.x || state.grid.y % c.y || state.grid.z % c.z)
      throw Error("the grid does not divide into clusters of " + std::to_string(c.x) + " x " + std::to_string(c.y) +
                  " x " + std::to_string(c.z));
  }

  void layOutShared(LaunchState &state) const {
    uint32_t alignment = std::max(16u, program->dynamicSharedAlignment), dynamic = state.launch->sharedBytes;
    auto behind = [&](uint32_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
    uint32_t declared = state.kernel->staticSharedBytes, laid = state.kernel->laidSharedBytes;
    uint64_t total = dynamic ? uint64_t(behind(declared)) + dynamic : declared;
    if (total > mostSharedBytes)
      throw Error("the block needs " + std::to_string(total) + " bytes of shared memory; there are " +
                  std::to_string(mostSharedBytes));
    state.declaredSharedBytes = static_cast<uint32_t>(total);
    state.dynamicOffset = behind(laid ? laid + sharedGap : 0);
    if (sharedStart + state.dynamicOffset + dynamic > (1u << 18)) // too far for descriptors of wgmma: no gap
      state.dynamicOffset = behind(laid);
    state.sharedBytes = dynamic ? state.dynamicOffset + dynamic : laid;
    if (program->usesReservedShared)
      state.reservedOffset = (state.sharedBytes + sharedGap + 15) / 16 * 16;
  }

  // Blocks wait for each other: they must all fit at once. The kernel finds the grid's workspace, two words of 32 bits,
  // in special registers.
  static void makeCooperative(LaunchState &state) {
    uint64_t warps = (state.block.count() + laneCount - 1) / laneCount;
    uint64_t most = multiprocessors * std::min<uint64_t>({32, 64 / warps, 233472 / (state.declaredSharedBytes + 1024)});
    if (state.grid.count() > most)
      throw Error("a cooperative launch of such blocks has at most " + std::to_string(most) + ", not " +
                  std::to_string(state.grid.count()) + ": all of them must be on the GPU at once");
    state.workspace.allocate(64);
  }

  static void passArguments(LaunchState &state, const Function &source) {
    const auto &arguments = state.launch->arguments;
    if (arguments.size() != source.parameters.size())
      throw Error("the kernel takes " + std::to_string(source.parameters.size()) + " arguments, not " +
                  std::to_string(arguments.size()));
    uint64_t size = 16;
    for (const Variable *parameter : source.parameters)
      size = std::max(size, parameter->address + parameter->bytes);
    state.parameters.allocate(size, 128);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Variable &parameter = *source.parameters[i];
      if (arguments[i].size() != parameter.bytes)
        throw Error("argument " + std::to_string(i) + " (`" + parameter.name + "`) has " +
                    std::to_string(arguments[i].size()) + " bytes; the kernel takes " +
                    std::to_string(parameter.bytes));
      std::memcpy(state.parameters.data + parameter.address, arguments[i].data(), parameter.bytes);
    }
  }

  static void keepAsView(Allocation &whole) {
    if (whole.views.empty())
      whole.views.push_back(
          {reinterpret_cast<void *>(whole.begin), whole.end - whole.begin, whole.name, whole.writable});
  }

  void registerMemory(LaunchState &state) const {
    std::vector<Allocation> all;
    auto add = [&](const void *data, uint64_t bytes, const std::string &name, bool writable) {
      Allocation &made = all.emplace_back();
      made.begin = reinterpret_cast<uint64_t>(data), made.end = made.begin + bytes;
      made.name = name, made.writable = writable;
    };
    size_t index = 0;
    for (const MemoryRange &range : state.launch->memory) {
      add(range.data, range.bytes, range.name.empty() ? "memory " + std::to_string(index) : range.name, range.writable);
      if (!range.axes.empty())
        all.back().views.push_back(range);
      ++index;
    }
    for (const Program::Module &stored : program->variables)
      add(stored.memory.data, stored.variable->bytes, stored.variable->name, stored.variable->space == Space::Global);
    add(state.parameters.data, state.parameters.size, "the kernel's parameters", false);
    if (state.workspace.data)
      add(state.workspace.data, state.workspace.size, "the grid's workspace", true);
    std::sort(all.begin(), all.end(), [](const Allocation &a, const Allocation &b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    // Ranges given twice or overlapping become one.
    for (Allocation &allocation : all) {
      if (!state.allocations.empty() && allocation.begin < state.allocations.back().end) {
        Allocation &last = state.allocations.back();
        if (!last.views.empty() || !allocation.views.empty()) {
          keepAsView(last), keepAsView(allocation);
          last.views.insert(last.views.end(), allocation.views.begin(), allocation.views.end());
        }
        last.end = std::max(last.end, allocation.end);
        last.writable |= allocation.writable;
      } else {
        state.allocations.push_back(std::move(allocation));
      }
    }
    if (!state.checks || state.grid.count() * state.block.count() == 1)
      return;
    uint32_t shift = program->globalGranule == 1 ? 0 : program->globalGranule == 2 ? 1 : 2;
    for (Allocation &allocation : state.allocations)
      if (allocation.writable && allocation.begin < allocation.end)
        allocation.shadow = std::make_shared<AllocationShadow>(allocation.end - allocation.begin, shift);
  }
};

} // namespace

std::unique_ptr<Module> load(std::string_view ptx, std::string_view fileName) {
  return std::make_unique<LoadedModule>(decode(parse(ptx, fileName)));
}

} // namespace nacre::simulator
