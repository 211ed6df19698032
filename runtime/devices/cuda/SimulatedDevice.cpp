// See SimulatedDevice.h.
#include "runtime/devices/cuda/SimulatedDevice.h"
#include "compiler/support/ForkSafety.h"
#include "compiler/targets/cuda/Architectures.h"
#include "compiler/targets/cuda/CudaTarget.h"
#include "runtime/Events.h"
#include "runtime/Knobs.h"
#include "runtime/devices/cuda/TensorMaps.h"
#include "runtime/devices/gpu/CheckedLaunch.h"
#include "runtime/devices/gpu/MarkedLaunch.h"
#include "runtime/devices/gpu/SimulatedMemory.h"
#include "runtime/launch/Launch.h"
#include "simulator/Simulator.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>

namespace nacre::cuda {

namespace {

struct SimulatedKernel : LoadedKernel {
  std::unique_ptr<simulator::Module> module;
  std::vector<simulator::ParameterInfo> parameters;
  TensorMaps maps;  // the last parameters
  RenewedLock lock; // a module runs one launch at a time
};

// "block (0, 0, 0), thread (5, 0, 0)"
std::string shown(const simulator::Dimensions &place) {
  return "(" + std::to_string(place.x) + ", " + std::to_string(place.y) + ", " + std::to_string(place.z) + ")";
}

std::string describe(const simulator::Finding &finding) {
  std::string text = std::string(simulator::nameOf(finding.kind)) + ": " + finding.message + "\n  at " +
                     finding.place.text() + ", in program " + shown(finding.block) + ", thread " +
                     shown(finding.thread) + ": " + finding.instruction;
  if (finding.other.ptxLine != 0)
    text += "\n  and " + finding.other.text();
  return text;
}

Diagnostic diagnosticOf(const std::string &kernel, const simulator::Finding &finding) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = "the kernel `" + kernel + "`: " + describe(finding);
  if (finding.place.line > 0) {
    auto source = std::make_shared<SourceText>();
    source->fileName = finding.place.file;
    int line = static_cast<int>(finding.place.line), column = std::max(static_cast<int>(finding.place.column) - 1, 0);
    diagnostic.location = {source, line, column, line, column};
  }
  return diagnostic;
}

// Appends what was found to a file, a line for each launch, for a tool that looks at this process from outside.
void write(const simulator::Report &report, const std::string &path) {
  std::string line = report.json();
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::ofstream file(path, std::ios::app);
  file << line + "\n" << std::flush;
  if (!file)
    throw std::runtime_error("what the simulator found cannot be written to " + path);
}

[[noreturn]] void raise(const std::string &kernel, const simulator::Report &report) {
  using simulator::FindingKind;
  const simulator::Finding &first = report.findings.front();
  const uint32_t program[3] = {first.block.x, first.block.y, first.block.z};
  switch (first.kind) {
  case FindingKind::AssertionFailed:
    throw DeviceAssertError(first.message, first.place.file, first.place.line, first.place.column, program);
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

simulator::TensorMap encoded(const simt::TensorMapRecipe &recipe, llvm::ArrayRef<uint64_t> arguments,
                             const std::string &kernel) {
  simt::TensorMapRecipe::Numbers numbers = TensorMaps::evaluate(recipe, arguments, kernel);
  simulator::TensorMapParameters parameters;
  parameters.type = static_cast<simulator::TensorMapParameters::Type>(recipe.element); // the numbers agree
  parameters.rank = recipe.rank();
  parameters.address = reinterpret_cast<void *>(numbers.address);
  parameters.sizes = numbers.sizes;
  parameters.strides = numbers.strides;
  parameters.box = numbers.box;
  parameters.swizzle = static_cast<simulator::TensorMapParameters::Swizzle>(TensorMaps::swizzleCode(recipe));
  parameters.fillNaN = recipe.fillsNaN;
  try {
    return simulator::encodeTensorMap(parameters);
  } catch (const simulator::Error &error) {
    throw DeviceError("the kernel `" + kernel + "`: " + error.what(), kernel);
  }
}

// The arrays of a launch; and all memory of this process, where it may access what is not among them.
std::vector<simulator::MemoryRange> memoryOf(const KnownArrays &arrays, bool accessesOthers) {
  std::vector<simulator::MemoryRange> ranges;
  auto add = [&](uint64_t begin, uint64_t end, const std::string &name, bool isWritable) {
    ranges.push_back({reinterpret_cast<void *>(begin), end - begin, name, isWritable});
  };
  for (const MemoryMap::Range &range : arrays.memory.all()) {
    add(range.begin, range.end, range.name, !range.isReadOnly);
    if (auto view = arrays.views.find(range.number); view != arrays.views.end()) {
      ranges.back().elementBytes = view->second.bytes;
      for (auto [stride, extent] : view->second.axes)
        ranges.back().axes.push_back({stride, extent});
    }
  }
  if (accessesOthers || !arrays.memory.isComplete)
    for (const ProcessMemory::Area &area : ProcessMemory::current())
      add(area.begin, area.end, "memory of the process", area.isWritable);
  return ranges;
}

class SimulatedDevice : public gpu::SimulatedMemory {
public:
  using SimulatedMemory::SimulatedMemory;

  const DeviceProperties &properties() override {
    // Of each GPU that was asked for: which one it is may change from launch to launch.
    static auto *known = new std::map<int, DeviceProperties>;
    static ProcessLock lock;
    const Architecture &architecture = simulated();
    std::lock_guard<ProcessLock> guard(lock);
    auto [place, isNew] = known->try_emplace(static_cast<int>(architecture.capability));
    if (isNew) {
      DeviceProperties *made = &place->second;
      made->name = "simulated " + std::string(architecture.name);
      made->architecture = std::to_string(architecture.capability);
      made->multiprocessors = 4;
      made->warpSize = cuda::warpSize;
      made->sharedBytes = architecture.sharedBytes;
      made->registers = 1 << 16;
      made->memoryBytes = int64_t(1) << 36;
    }
    return place->second;
  }

  static const Architecture &simulated() {
    std::string name = knobString(KnobId::OverrideArch);
    return architectureNamed(name.empty() ? "90" : name);
  }

  std::string whyNot(const TargetOptions &options) override {
    return options.assembles ? "it was assembled, and the simulator runs PTX" : "";
  }

  std::unique_ptr<LoadedKernel> load(const CompiledCode &code) override {
    auto made = std::make_unique<SimulatedKernel>();
    if (code.metadata.sharedBytes > static_cast<uint64_t>(properties().sharedBytes))
      throw OutOfResourcesError("shared memory", static_cast<int64_t>(code.metadata.sharedBytes),
                                properties().sharedBytes, "Reducing block sizes or `num_stages` may help.");
    try {
      made->module = simulator::load(code.object, code.symbol + ".ptx");
    } catch (const simulator::Error &error) {
      throw DeviceError("the simulator cannot run the kernel `" + code.symbol + "`: line " +
                            std::to_string(error.line) + " of its PTX: " + error.what(),
                        code.symbol);
    }
    for (const simulator::KernelInfo &kernel : made->module->kernels())
      if (kernel.name == code.symbol)
        made->parameters = kernel.parameters;
    made->maps = TensorMaps::of(code);
    made->function = reinterpret_cast<uint64_t>(made->module.get());
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
    std::optional<gpu::MarkedLaunch> marked;
    if (gpu::MarkedLaunch::isNeeded(request.code))
      arguments = marked.emplace(*this, request, arguments, 0, /*isCaptured=*/false).arguments();
    size_t taken = kernel.parameters.size() - kernel.maps.recipes.size();
    if (taken != arguments.size())
      throw DeviceError("the kernel `" + name + "` takes " + std::to_string(taken) + " arguments, and the launch has " +
                            std::to_string(arguments.size()),
                        name);
    simulator::Launch launch;
    launch.kernel = name;
    const auto ctas =
        std::max<uint32_t>(1, static_cast<uint32_t>(request.code.metadata.ctas)); // of a program: a cluster
    launch.grid = {request.grid[0] * ctas, request.grid[1], request.grid[2]};
    launch.block = {static_cast<uint32_t>(request.code.metadata.warps) * static_cast<uint32_t>(cuda::warpSize), 1, 1};
    launch.sharedBytes = static_cast<uint32_t>(request.code.metadata.sharedBytes);
    launch.counters = false;
    launch.cooperative = request.code.metadata.cooperative || request.options.cooperative;
    for (size_t i = 0; i < arguments.size(); ++i) // the low bytes of each slot are the argument
      launch.addBytes(&arguments[i], kernel.parameters[i].size);
    for (const simt::TensorMapRecipe &recipe : kernel.maps.recipes) {
      simulator::TensorMap map = encoded(recipe, arguments, name);
      launch.addBytes(map.data(), map.size());
    }
    if (request.options.arrays)
      launch.memory = memoryOf(*request.options.arrays, request.code.metadata.makesPointers);
    if (checked && checked->bytes() != 0)
      launch.memory.push_back(
          {reinterpret_cast<void *>(checked->address()), checked->bytes(), "the record of checked accesses", true});
    if (marked && marked->bytes() != 0)
      launch.memory.push_back(
          {reinterpret_cast<void *>(marked->address()), marked->bytes(), "the record of scopes", true});
    std::string printed;
    launch.print = [&](std::string_view text) { printed += text; };
    if (request.options.interrupted)
      launch.interrupted = *request.options.interrupted;
    simulator::Report report;
    uint64_t begin = events::now();
    try {
      std::lock_guard<RenewedLock> guard(kernel.lock);
      report = kernel.module->run(launch);
    } catch (const simulator::Interrupted &) {
      throw LaunchInterrupted();
    } catch (const simulator::Error &error) {
      throw DeviceError("the simulator cannot run the kernel `" + name + "`: " + error.what(), name);
    }
    if (request.event) { // as long as the simulation took
      uint64_t end = events::now();
      LaunchTimes times{request.event, begin, end, end - begin};
      events::tell(LaunchTimeEvents, [&](EventListener &listener) { listener.launchTimes(times); });
    }
    show(printed, request.options.print);
    if (!report.clean()) {
      if (!findingsFile.empty())
        write(report, findingsFile);
      raise(name, report);
    }
    if (marked)
      marked->finish();
    if (checked)
      checked->finish();
  }

private:
  const std::string findingsFile = knobString(KnobId::SimulatorFindings);

  static void show(const std::string &printed, const PrintSink *sink) {
    if (printed.empty())
      return;
    if (sink && *sink) {
      (*sink)(printed);
      return;
    }
    std::fwrite(printed.data(), 1, printed.size(), stdout);
    std::fflush(stdout);
  }
};

class SimulatedDriver : public Driver {
public:
  llvm::StringRef name() const override { return "simulate"; }
  const Target &target() const override { return cuda::target(); }
  int count() override { return 1; }
  std::string whyNone() override { return ""; }
  Device *device(int index) override {
    static auto *only = new SimulatedDevice(*this, 0);
    return index == 0 ? only : nullptr;
  }
  bool usesHostMemory() const override { return true; }
  void setArchitecture(TargetOptions &options, Device *) const override {
    options.architecture = std::to_string(SimulatedDevice::simulated().capability);
    options.features = knobString(KnobId::CudaFeatures);
    options.assembles = false;
    options.toolkit = knobString(KnobId::CudaHome);
    options.libdevice = knobString(KnobId::LibdevicePath);
  }
};

} // namespace

Driver &simulatedDriver() {
  static auto *instance = new SimulatedDriver;
  return *instance;
}

} // namespace nacre::cuda
