// The simulator of AMD's machine code: load a code object, run one of its kernels on host memory, read the report.
//
//   auto code = nacre::simulator::amdgcn::load(bytes);
//   nacre::simulator::amdgcn::Launch launch{.kernel = "add", .groups = {4}, .groupSize = {256}};
//   launch.memory = {{x.data(), x.size() * 4, "x"}};
//   launch.addPointer(x.data()).add<int32_t>(1000);
//   nacre::simulator::amdgcn::Report report = code->run(launch);
//
// A code object is the ELF file that lld links for amdgcn-amd-amdhsa. Pointers that a kernel gets are host addresses;
// memory that it may touch is registered in `memory`, everything else is out of bounds. LLVM decodes the instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::simulator::amdgcn {

// A code object that cannot be read, or an instruction that is not simulated: what is wrong, and where.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
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
};

struct Launch {
  std::string kernel; // may be empty where the code object has one kernel
  Dimensions groups, groupSize;
  uint32_t dynamicLdsBytes = 0;
  std::vector<std::vector<std::byte>> arguments; // the explicit ones; those left out are zeros
  std::vector<MemoryRange> memory;
  bool checks = true;            // waits, races, initialization; bounds and alignment are always checked
  uint64_t instructionLimit = 0; // instructions of waves that a work-group may execute; 0: no limit
  unsigned findingLimit = 100;   // different findings kept; more of them are counted

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
  ReadOnlyStore,
  Misaligned,
  Uninitialized,
  MissingWait,
  LdsRace,
  GlobalRace,
  BarrierMismatch,
  Trap,
  LimitReached,
};
const char *nameOf(FindingKind);

struct Finding {
  FindingKind kind;
  std::string message;
  std::string place;       // file:line of the source, or the address of the instruction
  std::string instruction; // its text
  Dimensions group;
  uint32_t wave = 0, lane = 0; // of the first occurrence
  uint64_t count = 1;
};

struct Counters {
  uint64_t waveInstructions = 0;
  uint64_t scalar = 0, vector = 0, matrix = 0, memory = 0, lds = 0; // instructions of waves
  uint64_t globalAccesses = 0, globalLines = 0, idealLines = 0;     // cache lines of 128 bytes
  uint64_t ldsAccesses = 0, ldsCycles = 0, idealLdsCycles = 0;
  uint64_t barriers = 0;
  uint64_t bankConflicts() const { return ldsCycles - idealLdsCycles; }
};

struct Report {
  std::string kernel;
  std::vector<Finding> findings;
  uint64_t moreFindings = 0; // different ones past the limit
  Counters counters;
  bool completed = true; // false: a trap, a wait without end or a limit ended it early
  bool clean() const { return findings.empty() && moreFindings == 0; }
  std::string text() const;
};

struct ArgumentInfo {
  uint32_t offset = 0, size = 0;
  std::string kind; // "by_value", "global_buffer", "hidden_block_count_x", ...
  bool hidden() const { return kind.starts_with("hidden_"); }
};
struct KernelInfo {
  std::string name;
  std::vector<ArgumentInfo> arguments;
  uint32_t ldsBytes = 0, scratchBytes = 0, kernargBytes = 0; // LDS of a group, scratch memory of a lane
};

class CodeObject {
public:
  virtual ~CodeObject() = default;
  virtual std::string processor() const = 0; // "gfx942"
  virtual std::vector<KernelInfo> kernels() const = 0;
  // Throws Error for an instruction that is not simulated, before anything runs where it can be seen.
  virtual Report run(const Launch &launch) = 0;
};

// Throws Error for what is not a code object of a processor that is simulated.
std::unique_ptr<CodeObject> load(std::string_view bytes);

} // namespace nacre::simulator::amdgcn
