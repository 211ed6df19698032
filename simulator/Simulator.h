// The PTX simulator's public interface: load PTX text, run one of its kernels on host memory, read the report.
//
//   auto module = nacre::simulator::load(ptxText, "kernel.ptx");
//   nacre::simulator::Launch launch{.kernel = "add", .grid = {4}, .block = {256}};
//   launch.memory = {{x.data(), x.size() * 4, "x"}, {y.data(), y.size() * 4, "y"}};
//   launch.addPointer(x.data()).addPointer(y.data()).add<int32_t>(1000);
//   nacre::simulator::Report report = module->run(launch);
//   if (!report.clean()) std::cerr << report.text();
//
// Pointers that a kernel gets are host addresses. Memory it may touch is registered in `memory`; everything else is out
// of bounds. One module may run several launches, one after another; its .global variables keep their values between
// them. No part of it needs LLVM, Python or a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::simulator {

// PTX that cannot be read or run: what is wrong, with its line in the PTX text.
class Error : public std::runtime_error {
public:
  Error(std::string message, uint32_t line = 0) : std::runtime_error(std::move(message)), line(line) {}
  uint32_t line;
};

// Launch::interrupted said that the launch is to end.
class Interrupted : public std::runtime_error {
public:
  Interrupted() : std::runtime_error("the simulated launch was interrupted") {}
};

struct Dimensions {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

// Memory that a kernel may access.
struct MemoryRange {
  void *data = nullptr;
  size_t bytes = 0;
  std::string name;
  bool writable = true;
  // Of a view that leaves memory out: the bytes of an element, and the stride and the extent of each axis, outermost
  // first. Without axes every byte may be accessed.
  struct Axis {
    uint64_t stride, extent;
  };
  uint32_t elementBytes = 0;
  std::vector<Axis> axes{};
};

enum class Schedule : uint8_t { Fixed, Random };

struct Launch {
  std::string kernel; // may be empty where the module has one kernel
  Dimensions grid, block;
  Dimensions cluster = {0, 0, 0}; // 0: as the kernel's directives say
  uint32_t sharedBytes = 0;       // dynamic shared memory
  bool cooperative = false;       // all blocks at once, with what cooperative_groups::this_grid().sync() needs
  std::vector<std::vector<std::byte>> arguments;
  std::vector<MemoryRange> memory;
  Schedule schedule = Schedule::Fixed;
  uint64_t seed = 0;
  bool checks = true;            // races, initialization, protocols; bounds and alignment are always checked
  bool counters = true;          // transactions, bank conflicts
  unsigned threads = 0;          // host threads; 0: all cores, or one where the order of blocks may show in the results
  uint64_t instructionLimit = 0; // warp instructions a cluster (a block, without clusters) may execute; 0: no limit
  unsigned findingLimit = 100;   // different findings kept; more of them are counted
  std::function<void(std::string_view)> print; // the kernel's printf; empty: standard output
  // Asked by the thread that called `run`, some times a second; where it says so, `run` throws Interrupted. What the
  // kernel stored before stays. Empty: nobody interrupts.
  std::function<bool()> interrupted;

  Launch &addBytes(const void *data, size_t size) {
    auto *bytes = static_cast<const std::byte *>(data);
    arguments.emplace_back(bytes, bytes + size);
    return *this;
  }
  template <typename T> Launch &add(T value) { return addBytes(&value, sizeof value); }
  Launch &addPointer(const void *pointer) { return add(reinterpret_cast<uint64_t>(pointer)); }
};

enum class FindingKind : uint8_t {
  OutOfBounds,
  Misaligned,
  SharedRace,
  ProxyRace,
  GlobalRace,
  Uninitialized,
  BarrierMismatch,
  DivergentBarrier,
  Deadlock,
  MbarrierMisuse,
  WgmmaInFlight,
  WgmmaFence,
  DescriptorError,
  TensorMapError,
  Trap,
  AssertionFailed,
  ReadOnlyStore,
  SynchronizationMisuse,
  RegisterPool,
  LimitReached,
};
const char *nameOf(FindingKind);

// A line of the kernel's source (from .loc) and of the PTX text.
struct SourcePlace {
  std::string file; // empty where the PTX has no .loc
  uint32_t line = 0, column = 0;
  uint32_t ptxLine = 0;
  std::string innerFile; // the library's line that the user's line called; empty: the instruction is the user's own
  uint32_t innerLine = 0;
  std::string text() const;
};

struct Finding {
  FindingKind kind;
  std::string message;
  SourcePlace place;
  SourcePlace other; // the conflicting access of a race; ptxLine 0: none
  std::string instruction;
  Dimensions block, thread; // of the first occurrence
  bool hasThread = false;   // it is of one thread
  uint64_t count = 1;
};

struct LineCounters {
  SourcePlace place;
  uint64_t warpInstructions = 0, threadInstructions = 0;
  uint64_t globalAccesses = 0, globalSectors = 0, idealSectors = 0;
  uint64_t sharedAccesses = 0, sharedWavefronts = 0, idealWavefronts = 0;
};

struct Counters {
  uint64_t warpInstructions = 0, threadInstructions = 0;
  uint64_t globalAccesses = 0, globalSectors = 0, idealSectors = 0;
  uint64_t sharedAccesses = 0, sharedWavefronts = 0, idealWavefronts = 0;
  uint64_t bulkBytes = 0; // moved by bulk and tensor copies
  uint64_t barriers = 0;
  std::vector<std::pair<std::string, uint64_t>> byClass; // warp instructions by class
  std::vector<LineCounters> lines;
  uint64_t bankConflicts() const { return sharedWavefronts - idealWavefronts; }
};

struct Report {
  std::string kernel;
  std::vector<Finding> findings;
  uint64_t moreFindings = 0; // different ones past the limit
  Counters counters;
  bool completed = true; // false: a trap, a deadlock or a limit ended it early
  double seconds = 0;
  bool clean() const { return findings.empty() && moreFindings == 0; }
  std::string text() const;
  std::string json() const;
};

struct ParameterInfo {
  std::string name;
  std::string type; // "u64", "f32", "b8"
  uint32_t size = 0, alignment = 1;
};
struct KernelInfo {
  std::string name;
  std::vector<ParameterInfo> parameters;
  uint32_t staticSharedBytes = 0;
  Dimensions requiredThreads = {0, 0, 0}; // .reqntid; 0: none
  Dimensions requiredCluster = {0, 0, 0};
  std::string refusal; // why it cannot be run; empty: it can
};

class Module {
public:
  virtual ~Module() = default;
  virtual std::vector<KernelInfo> kernels() const = 0;
  virtual Report run(const Launch &launch) = 0;
  // A variable of the module (.global, .const), for reading and writing between launches; data is null if there is
  // none.
  virtual MemoryRange variable(std::string_view name) = 0;
};

// Throws Error for text that is not PTX. A kernel with an instruction that is not simulated is refused when it is run.
std::unique_ptr<Module> load(std::string_view ptx, std::string_view fileName = "");

// The parameters of cuTensorMapEncodeTiled, with the same values for the enumerations.
struct TensorMapParameters {
  enum class Type : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Flush, TF32, TF32Flush };
  enum class Swizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };
  Type type = Type::U8;
  uint32_t rank = 1;
  void *address = nullptr;
  std::array<uint64_t, 5> sizes{};   // innermost first
  std::array<uint64_t, 4> strides{}; // bytes; of dimension 1 and up
  std::array<uint32_t, 5> box{};
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1};
  uint8_t interleave = 0; // none only
  Swizzle swizzle = Swizzle::None;
  bool fillNaN = false;
};
using TensorMap = std::array<std::byte, 128>;
// The 128-byte object that a kernel takes as its tensor map. Its bits are the simulator's own. Throws Error for what
// the hardware would refuse, naming the rule.
TensorMap encodeTensorMap(const TensorMapParameters &parameters);

} // namespace nacre::simulator
