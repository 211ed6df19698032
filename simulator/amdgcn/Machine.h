// The state of a launch: work-groups of waves, their registers, and the memory they share.
//
// A wave has one program counter. Where lanes part, the code itself saves and narrows EXEC, so a wave is a loop over
// instructions, and an instruction a loop over lanes.
#pragma once

#include "simulator/amdgcn/Instruction.h"
#include "simulator/amdgcn/Simulator.h"
#include <bitset>
#include <cstring>
#include <map>
#include <unordered_map>

namespace nacre::simulator::amdgcn {

constexpr unsigned maxLanes = 64;
// Where flat addresses mean LDS and scratch memory.
constexpr uint64_t ldsAperture = 0x1000000000000000, scratchAperture = 0x2000000000000000;
constexpr uint64_t apertureMask = 0xffffffff00000000;

struct LaunchState;
struct WorkGroup;

enum class WaveState : uint8_t { Running, AtBarrier, Ended };

// An access of memory that a later one may race with: who, by which instruction, and when by the wave's own counter.
struct Access {
  uint32_t wave = 0, group = 0;
  uint32_t ticket = 0; // of its counter; 0: none
  Counter counter = LdsCounter;
  uint8_t bytes = 0; // of the word, a bit for each
  bool atomic = false;
  const Instruction *instruction = nullptr;
};

struct Wave {
  alignas(64) uint32_t vector[vectorCount][maxLanes];
  uint64_t undefinedLanes[vectorCount]; // lanes to which nobody has written a defined value
  const Instruction *undefinedSince[vectorCount];
  uint32_t scalar[ScalarCount];
  std::bitset<ScalarCount> undefinedScalars;
  bool condition = false; // SCC
  uint32_t mode = 0;      // the register MODE
  uint64_t pc = 0;        // in the code object
  unsigned lanes = 64;
  unsigned index = 0; // in its group
  WaveState state = WaveState::Running;
  WorkGroup *group = nullptr;
  LaunchState *launch = nullptr;
  std::vector<std::byte> scratch, scratchWritten; // [lane][bytes]
  uint32_t scratchBytes = 0;
  uint64_t executed = 0;
  bool signaled = false; // between s_barrier_signal and s_barrier_wait

  // Of the instruction that runs.
  uint64_t active = 0;      // lanes that it writes
  uint64_t tainted = 0;     // lanes whose sources are undefined
  uint64_t taintedHigh = 0; // those where only the upper word of a 64-bit integer is
  const Instruction *taintedBy = nullptr;
  const Instruction *current = nullptr;
  uint64_t nextPc = 0;

  // Memory instructions under way: tickets given out and tickets known to be done, by counter; and the ticket of the
  // last one that writes a register (scalar registers follow the vector registers).
  uint32_t issued[CounterCount] = {}, done[CounterCount] = {};
  uint32_t released[CounterCount] = {}; // done at the last barrier: what other waves of the group may rely on
  uint32_t arrived[CounterCount] = {};  // done at the barrier that it waits at
  uint32_t lastOutOfOrder = 0;          // ticket of the last scalar load on the counter of LDS
  std::vector<uint32_t> pending[CounterCount];

  uint64_t all() const { return lanes == 64 ? ~0ull : (1ull << lanes) - 1; }
  uint64_t exec() const { return pairAt(ExecLow) & all(); }
  void setExec(uint64_t value) { setPairAt(ExecLow, value & all()); }
  uint64_t pairAt(unsigned index) const { return scalar[index] | uint64_t(scalar[index + 1]) << 32; }
  void setPairAt(unsigned index, uint64_t value) {
    scalar[index] = static_cast<uint32_t>(value);
    scalar[index + 1] = static_cast<uint32_t>(value >> 32);
  }
  uint64_t vcc() const { return pairAt(VccLow) & all(); }
  bool flushes32() const { return (mode >> 4 & 3) != 3; }
  bool saturatesHalves() const { return mode >> 23 & 1; } // floats of 16 and 8 bits end at their largest number

  // Scalar operands. A 64-bit one that is a constant is sign-extended.
  uint32_t read(const Operand &operand);
  uint64_t readPair(const Operand &operand);
  uint64_t readMask(const Operand &operand) { return (lanes == 64 ? readPair(operand) : read(operand)) & all(); }
  void write(const Operand &operand, uint32_t value);
  void writePair(const Operand &operand, uint64_t value);
  void writeMask(const Operand &operand, uint64_t mask);
  void writeScalars(unsigned first, const uint32_t *values, unsigned count, bool defined = true);

  // Vector operands. A row has a word for each lane; `buffer` is used where the row is not a register as it stands.
  const uint32_t *row(const Instruction &instruction, unsigned operand, unsigned word, uint32_t (&buffer)[maxLanes]);
  // Stores the active lanes of a register.
  void setRow(unsigned index, const uint32_t *values);
  void setLane(unsigned index, unsigned lane, uint32_t value, bool defined = true);
  // A vector register is used: the load that writes it must have ended. Loads of one counter end in their order: one
  // may write what an earlier one of `inOrder` writes.
  void touch(unsigned index, bool writes, Counter inOrder = CounterCount);

  // Memory instructions: a ticket for one that begins, and the registers that it will write.
  uint32_t begin(Counter counter);
  void owe(Counter counter, uint32_t ticket, unsigned firstRegister, unsigned count);
  void waitUntil(Counter counter, uint32_t left);
  Counter storeCounter() const;
  Counter scalarCounter() const;

  void report(FindingKind kind, const std::string &message, int lane = -1);
  [[noreturn]] void refuse(const std::string &why) const;
  void useDefined(const char *what); // a finding where active lanes are tainted
};

// Who last wrote a word of memory, and who read it since.
struct WordHistory {
  Access write, read;
};

struct WorkGroup {
  LaunchState *launch = nullptr;
  uint32_t linear = 0;
  Dimensions id{0, 0, 0};
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<std::byte> lds;
  std::vector<uint8_t> ldsWritten;     // by byte
  std::vector<WordHistory> ldsHistory; // by word
  uint32_t ldsBytes = 0;
  bool synchronized = false; // it may know what other groups have written
};

struct Program; // the code object (CodeObject.cpp)

struct LaunchState {
  const Launch *launch = nullptr;
  const Processor *processor = nullptr;
  Report *report = nullptr;
  Program *program = nullptr;
  std::vector<MemoryRange> memory; // sorted by address; the kernel's own segments too
  size_t lastFound = 0;
  std::vector<WorkGroup *> groups;                         // those that run
  std::unordered_map<uint64_t, WordHistory> globalHistory; // by word
  std::map<std::pair<const Instruction *, FindingKind>, size_t> known;
  bool stopped = false;

  const MemoryRange *find(uint64_t address, uint64_t bytes);
};

// The instruction at an address of the code object; decoded when it is first reached. Throws Error.
const Instruction &instructionAt(Program &program, uint64_t address);
uint64_t hostAddress(const Program &program, uint64_t address); // of the code object's image
uint64_t codeAddress(const Program &program, uint64_t hostAddress);
std::string placeOf(Program &program, uint64_t address);

// Runs the instruction's handler, with the lanes that it may write prepared.
void execute(Wave &wave, const Instruction &instruction);

// Rows of the handler table, one function for each file of handlers.
struct HandlerRow {
  std::string_view mnemonic;
  Handler handler;
};
using HandlerTable = std::unordered_map<std::string_view, Handler>;
void addScalarHandlers(HandlerTable &);
void addScalarMemoryHandlers(HandlerTable &);
void addControlHandlers(HandlerTable &);
void addIntegerHandlers(HandlerTable &);
void addFloatHandlers(HandlerTable &);
void addCompareHandlers(HandlerTable &);
void addConvertHandlers(HandlerTable &);
void addPackedHandlers(HandlerTable &);
void addLaneHandlers(HandlerTable &);
void addGlobalHandlers(HandlerTable &);
void addLdsHandlers(HandlerTable &);
void addMatrixHandlers(HandlerTable &);

template <size_t count> void addRows(HandlerTable &table, const HandlerRow (&rows)[count]) {
  for (const HandlerRow &row : rows)
    table.emplace(row.mnemonic, row.handler);
}

} // namespace nacre::simulator::amdgcn
