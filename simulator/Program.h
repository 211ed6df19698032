// PTX decoded for execution: an array of operations, each a handler with its operands resolved.
//
// A register is a row of 32 values, one a lane: 4 bytes each for types of up to 32 bits, 8 for 64 bits, 16 for 128
// bits. A predicate is one 32-bit mask. An operand is a slot: where its row begins, in the registers of the frame, in
// the pool of constants (immediates are rows too, so handlers need not care), or among the warp's special registers.
#pragma once

#include "simulator/Simulator.h"
#include "simulator/Syntax.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace nacre::simulator {

struct Warp;
struct Frame;
struct Op;

constexpr unsigned laneCount = 32;
constexpr uint32_t allLanes = 0xFFFFFFFFu;

enum class Status : uint8_t {
  Next,    // go on with the next operation
  Jumped,  // the handler has set where the lanes go
  Blocked, // the operation has not happened: try it again when something has changed
  Poll     // done, but it only looked at something that others must change: let others run
};
using Handler = Status (*)(Warp &, const Op &, uint32_t mask);

enum SlotBase : uint32_t { FrameBase = 0, ConstantBase = 1, SpecialBase = 2 };
struct Slot {
  uint32_t value = SpecialBase << 30; // the warp's scratch row
  static Slot make(SlotBase base, uint32_t offset) { return {uint32_t(base) << 30 | offset}; }
  uint32_t base() const { return value >> 30; }
  uint32_t offset() const { return value & 0x3FFFFFFF; }
  bool operator==(const Slot &) const = default;
};
constexpr uint32_t noGuard = ~0u;

enum class InstructionClass : uint8_t {
  Integer,
  Float,
  Half,
  Double,
  Convert,
  Move,
  Compare,
  Logic,
  Special,
  Memory,
  SharedMemory,
  Atomic,
  Branch,
  Shuffle,
  Barrier,
  AsyncCopy,
  TensorCopy,
  Matrix,
  WarpgroupMatrix,
  Other,
  Count
};
const char *nameOf(InstructionClass);

enum class MemoryOrder : uint8_t { Weak, Volatile, Relaxed, Acquire, Release, AcquireRelease };
enum class Scope : uint8_t { Cta, Cluster, Gpu, System };

// A decoded operand of an instruction that takes many: its slot and width of the row's elements.
struct Part {
  Slot slot;
  uint8_t bytes = 4; // 1, 2, 4, 8, 16 in its row; 0: a predicate
  bool sink = false; // `_`
};

struct Op {
  Handler handler = nullptr;
  uint32_t guard = noGuard; // offset of the predicate in the frame
  bool guardNegated = false;
  InstructionClass kind = InstructionClass::Other;
  Space space = Space::Generic;
  ScalarType type = ScalarType::None;
  Slot d, a, b, c, e;            // destination and sources, as the handler means them
  int64_t offset = 0;            // added to an address; or an immediate
  uint32_t target = 0;           // where a branch goes
  uint32_t first = 0, count = 0; // a range of Program::parts
  uint8_t bytes = 0;             // of one element in memory
  uint8_t lanes32 = 0;           // addresses are 32 bits wide
  MemoryOrder order = MemoryOrder::Weak;
  Scope scope = Scope::Gpu;
  uint32_t flags = 0, extra = 0; // as the handler means them
  const void *plan = nullptr;    // what an instruction with much to know keeps, owned by the program
};

// What reports need of an op.
struct OpInfo {
  const Instruction *instruction = nullptr;
  uint32_t functionIndex = 0;
  uint32_t firstRead = 0, readCount = 0, firstWrite = 0,
           writeCount = 0; // ranges of Program::touched: registers by offset
};

// Where a register's row lies in a frame, and the bytes of one of its elements; 0: a predicate.
struct RegisterRow {
  uint32_t offset;
  uint8_t bytes;
};

struct DecodedFunction {
  const Function *source = nullptr;
  std::shared_ptr<const Error> refusal; // why it cannot be run; null: it can
  uint32_t entry = 0, end = 0;          // ops
  uint32_t registerBytes = 0;
  std::vector<RegisterRow> rows;
  std::vector<uint32_t> callees; // functions it calls by name
  uint32_t localBytes = 0, localAlignment = 16;
  uint32_t parameterBytes = 0;    // of one lane: all .param variables of its body, parameters and results included
  uint32_t staticSharedBytes = 0; // as the kernel declares them
  uint32_t laidSharedBytes = 0;   // as they lie here, with gaps
  struct Gap {
    uint32_t offset, bytes; // from the start of the block's memory
  };
  std::vector<Gap> sharedGaps; // between variables, which nobody may touch
  bool usesWgmma = false;
  bool callsIndirectly = false;
  bool asksForGrid = false; // for the workspace that a cooperative launch gives
};

struct CallPlan {
  enum class Builtin : uint8_t { None, Print, AssertFail, Malloc, Free } builtin = Builtin::None;
  uint32_t function = 0;
  bool indirect = false;
  Slot pointer;
  struct Copy {
    uint32_t caller, callee, bytes;
  };
  std::vector<Copy> arguments, results; // of a direct call
  std::vector<std::pair<uint32_t, uint32_t>> argumentPlaces,
      resultPlaces; // (offset, bytes) in the caller, for indirect calls
};

struct AlignedBytes {
  std::unique_ptr<std::byte[]> storage;
  std::byte *data = nullptr;
  size_t size = 0;
  void allocate(size_t bytes, size_t alignment = 64, bool zero = true) {
    storage.reset(zero ? new std::byte[bytes + alignment]() : new std::byte[bytes + alignment]);
    data =
        reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(storage.get()) + alignment - 1) & ~(alignment - 1));
    size = bytes;
  }
};

struct Program {
  std::unique_ptr<SyntaxModule> syntax;
  std::vector<Op> ops;
  std::vector<OpInfo> infos;
  std::vector<Part> parts;
  std::vector<uint32_t> touched;
  std::vector<DecodedFunction> functions; // index as in syntax->functions
  std::vector<std::shared_ptr<void>> plans;
  AlignedBytes constants;
  std::vector<std::byte> constantRows; // while decoding; then moved to `constants`
  std::map<std::pair<uint64_t, unsigned>, uint32_t> constantOffsets;
  struct Module {
    Variable *variable;
    AlignedBytes memory;
  };
  std::vector<Module> variables; // .global and .const, with their memory
  uint32_t dynamicSharedAlignment = 16;
  bool usesReservedShared = false; // the system's part of shared memory
  bool usesStack = false;          // alloca
  unsigned smVersion = 90;
  bool hasGlobalAtomics = false; // the order of blocks may show
  bool usesWgmma = false;
  uint32_t sharedGranule = 4, globalGranule = 4; // bytes: the smallest access of each memory, 4 at most

  uint32_t functionIndex(const Function *function) const;

  // The user's source lines, and which of them each op belongs to: made when they are first asked for.
  std::vector<SourcePlace> lines;
  std::vector<uint32_t> lineOf;
  SourcePlace place(uint32_t op, const Frame *frame = nullptr) const;
  void findLines();
  uint32_t raceKey(uint32_t op) const;       // the same for all ops of one place of the source
  mutable std::vector<uint32_t> firstPlaces; // for it; a launch has one report at a time
};

// Where shared memory begins in its space, and the windows of generic addresses. Global, constant and kernel parameter
// memory have their host addresses.
constexpr uint32_t sharedStart = 1024;
constexpr uint64_t sharedWindow = uint64_t(0xF1) << 56;
constexpr uint64_t localWindow = uint64_t(0xF2) << 56;
constexpr uint64_t functionWindow = uint64_t(0xF3) << 56;
constexpr uint32_t clusterShift = 24; // shared::cluster addresses: (rank + 1) << 24 | offset; below 1 << 24: one's own
constexpr uint32_t localStart = 16;
constexpr uint32_t reservedSharedBytes = 1024;
constexpr uint32_t mostSharedBytes = 232448; // of a block
constexpr uint32_t sharedGap = 16;           // bytes between variables, which catch what runs past the end of one
constexpr uint32_t multiprocessors = 132;    // of an H200
constexpr uint32_t stackBytes = 1 << 16;     // of a thread, for what alloca and recursive calls take

// The warp's special registers, each a row of 256 bytes in SpecialBase. Row 0 and 1 take what nobody reads.
enum SpecialRow : uint32_t {
  ScratchRow = 0,
  TidX = 2,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NClusterIdX,
  NClusterIdY,
  NClusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtaRank,
  ClusterNctaRank,
  IsExplicitCluster,
  DynamicSmemSize,
  TotalSmemSize,
  ClockLow,
  Clock64,
  ClockHigh,
  GlobalTimer,
  GlobalTimerLow,
  GlobalTimerHigh,
  Environment1, // the workspace of a cooperative launch, its upper half
  Environment2,
  ReservedSharedBegin,
  ReservedSharedEnd,
  ReservedSharedSize,
  ParameterBase,
  DynamicShared32,
  DynamicShared64,
  ZeroRow,
  SpecialRowCount
};
constexpr uint32_t specialRowBytes = 256;

// The first rows of every frame: where its local memory begins, as 64-bit and as 32-bit addresses.
constexpr uint32_t frameLocal64 = 0, frameLocal32 = 256, frameHeaderBytes = 384;

// Throws Error.
std::unique_ptr<Program> decode(std::unique_ptr<SyntaxModule> syntax);

} // namespace nacre::simulator
