// See SimulatedDevice.h.
#include "runtime/devices/hip/SimulatedDevice.h"
#include "compiler/support/ForkSafety.h"
#include "compiler/targets/amd/AmdTarget.h"
#include "compiler/targets/amd/Architectures.h"
#include "runtime/Events.h"
#include "runtime/Knobs.h"
#include "runtime/devices/gpu/CheckedLaunch.h"
#include "runtime/devices/gpu/SimulatedMemory.h"
#include "runtime/launch/Launch.h"
#include "simulator/amdgcn/Simulator.h"
#include <algorithm>
#include <map>

namespace nacre::hip {

namespace {

namespace simulator = nacre::simulator::amdgcn;

// Of a program: one that waits for a later one, which has not begun, would never end.
constexpr uint64_t mostInstructions = 100'000'000;

struct SimulatedKernel : LoadedKernel {
  std::unique_ptr<simulator::CodeObject> code;
  std::vector<simulator::ArgumentInfo> arguments; // the explicit ones
  RenewedLock lock;                               // a code object runs one launch at a time
};

const amd::Architecture &simulated() {
  std::string name = knobString(KnobId::OverrideArch);
  return amd::architectureNamed(name.empty() ? "gfx942" : name);
}

std::string describe(const simulator::Finding &finding) {
  return std::string(simulator::nameOf(finding.kind)) + ": " + finding.message + "\n  at " + finding.place +
         ", in program (" + std::to_string(finding.group.x) + ", " + std::to_string(finding.group.y) + ", " +
         std::to_string(finding.group.z) + "), warp " + std::to_string(finding.wave) + ", lane " +
         std::to_string(finding.lane) + ": " + finding.instruction;
}

// The place is "file:line", or an address of the code.
Diagnostic diagnosticOf(const std::string &kernel, const simulator::Finding &finding) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = "the kernel `" + kernel + "`: " + describe(finding);
  auto [file, number] = llvm::StringRef(finding.place).rsplit(':');
  int line = 0;
  if (!number.empty() && !number.getAsInteger(10, line) && line > 0) {
    auto source = std::make_shared<SourceText>();
    source->fileName = file.str();
    diagnostic.location = {source, line, 0, line, 0};
  }
  return diagnostic;
}

[[noreturn]] void raise(const std::string &kernel, const simulator::Report &report) {
  using simulator::FindingKind;
  const simulator::Finding &first = report.findings.front();
  const uint32_t program[3] = {first.group.x, first.group.y, first.group.z};
  switch (first.kind) {
  case FindingKind::OutOfBounds:
  case FindingKind::Misaligned:
  case FindingKind::ReadOnlyStore:
    throw OutOfBoundsError(diagnosticOf(kernel, first), program);
  default:
    break;
  }
  std::string text = "the simulator found " + std::to_string(report.findings.size()) + " fault" +
                     (report.findings.size() == 1 ? "" : "s") + " in the kernel `" + kernel + "`";
  constexpr size_t most = 5;
  for (size_t i = 0; i < std::min(report.findings.size(), most); ++i)
    text += "\n" + describe(report.findings[i]);
  throw DeviceError(text, kernel);
}

// The arrays of a launch; or all memory of this process, where it may access what is not among them.
std::vector<simulator::MemoryRange> memoryOf(const KnownArrays &arrays, bool accessesOthers) {
  std::vector<simulator::MemoryRange> ranges;
  auto add = [&](uint64_t begin, uint64_t end, const std::string &name, bool isWritable) {
    ranges.push_back({reinterpret_cast<void *>(begin), end - begin, name, isWritable});
  };
  if (accessesOthers || !arrays.memory.isComplete)
    for (const ProcessMemory::Area &area : ProcessMemory::current())
      add(area.begin, area.end, "memory of the process", area.isWritable);
  else
    for (const MemoryMap::Range &range : arrays.memory.all())
      add(range.begin, range.end, range.name, !range.isReadOnly);
  return ranges;
}

class SimulatedDevice : public gpu::SimulatedMemory {
public:
  using SimulatedMemory::SimulatedMemory;

  const DeviceProperties &properties() override {
    // Of each GPU that was asked for: which one it is may change from launch to launch.
    static auto *known = new std::map<std::string, DeviceProperties>;
    static ProcessLock lock;
    const amd::Architecture &architecture = simulated();
    std::lock_guard<ProcessLock> guard(lock);
    auto [place, isNew] = known->try_emplace(architecture.name);
    if (isNew) {
      DeviceProperties *made = &place->second;
      made->name = "simulated " + std::string(architecture.name);
      made->architecture = architecture.name;
      made->multiprocessors = 4;
      made->warpSize = architecture.lanes;
      made->sharedBytes = architecture.sharedBytes;
      made->registers = 1 << 16;
      made->memoryBytes = int64_t(1) << 36;
    }
    return place->second;
  }

  std::string whyNot(const TargetOptions &options) override {
    const amd::Architecture &wanted = amd::architectureNamed(options.architecture);
    return &wanted == &simulated() ? ""
                                   : "it is code for " + std::string(wanted.name) +
                                         ", and the GPU that is simulated is " + simulated().name;
  }

  std::unique_ptr<LoadedKernel> load(const CompiledCode &code) override {
    auto made = std::make_unique<SimulatedKernel>();
    if (code.metadata.sharedBytes > static_cast<uint64_t>(properties().sharedBytes))
      throw OutOfResourcesError("shared memory", static_cast<int64_t>(code.metadata.sharedBytes),
                                properties().sharedBytes, "Reducing block sizes or `num_stages` may help.");
    try {
      made->code = simulator::load(code.object);
    } catch (const simulator::Error &error) {
      throw DeviceError("the simulator cannot run the kernel `" + code.symbol + "`: " + error.what(), code.symbol);
    }
    for (const simulator::KernelInfo &kernel : made->code->kernels())
      if (kernel.name == code.symbol)
        for (const simulator::ArgumentInfo &argument : kernel.arguments)
          if (!argument.hidden())
            made->arguments.push_back(argument);
    made->function = reinterpret_cast<uint64_t>(made->code.get());
    made->registers = static_cast<int>(code.metadata.registers);
    made->spilledBytes = static_cast<int>(code.metadata.spilledBytes);
    made->maximumThreads = 1024;
    return made;
  }

  void enqueue(LoadedKernel &loaded, const EnqueuedLaunch &request) override {
    auto &kernel = static_cast<SimulatedKernel &>(loaded);
    const std::string &name = request.code.symbol;
    std::optional<gpu::CheckedLaunch> checked;
    if (gpu::CheckedLaunch::isNeeded(request.code))
      checked.emplace(*this, request, request.options.arrays, 0, /*isCaptured=*/false);
    llvm::ArrayRef<uint64_t> arguments = checked ? checked->arguments() : request.arguments;
    if (kernel.arguments.size() != arguments.size())
      throw DeviceError("the kernel `" + name + "` takes " + std::to_string(kernel.arguments.size()) +
                            " arguments, and the launch has " + std::to_string(arguments.size()),
                        name);
    simulator::Launch launch;
    launch.kernel = name;
    launch.groups = {request.grid[0], request.grid[1], request.grid[2]};
    launch.groupSize = {
        static_cast<uint32_t>(request.code.metadata.warps) * static_cast<uint32_t>(properties().warpSize), 1, 1};
    launch.instructionLimit = mostInstructions;
    for (size_t i = 0; i < arguments.size(); ++i) // the low bytes of each slot are the argument
      launch.addBytes(&arguments[i], kernel.arguments[i].size);
    if (request.options.arrays)
      launch.memory = memoryOf(*request.options.arrays, request.code.metadata.makesPointers);
    if (checked && checked->bytes() != 0)
      launch.memory.push_back(
          {reinterpret_cast<void *>(checked->address()), checked->bytes(), "the record of checked accesses", true});
    simulator::Report report;
    uint64_t begin = events::now();
    try {
      std::lock_guard<RenewedLock> guard(kernel.lock);
      report = kernel.code->run(launch);
    } catch (const simulator::Error &error) {
      throw DeviceError("the simulator cannot run the kernel `" + name + "`: " + error.what(), name);
    }
    if (request.event) { // as long as the simulation took
      uint64_t end = events::now();
      LaunchTimes times{request.event, begin, end, end - begin};
      events::tell(LaunchTimeEvents, [&](EventListener &listener) { listener.launchTimes(times); });
    }
    if (!report.clean())
      raise(name, report);
    if (checked)
      checked->finish();
  }
};

class SimulatedDriver : public Driver {
public:
  llvm::StringRef name() const override { return "simulate-hip"; }
  const Target &target() const override { return amd::target(); }
  int count() override { return 1; }
  std::string whyNone() override { return ""; }
  Device *device(int index) override {
    static auto *only = new SimulatedDevice(*this, 0);
    return index == 0 ? only : nullptr;
  }
  bool usesHostMemory() const override { return true; }
  void setArchitecture(TargetOptions &options, Device *) const override { options.architecture = simulated().name; }
};

} // namespace

Driver &simulatedDriver() {
  static auto *instance = new SimulatedDriver;
  return *instance;
}

} // namespace nacre::hip
