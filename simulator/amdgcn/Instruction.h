// A decoded instruction: what the handlers read, made once from LLVM's text of it.
//
// The text is the form that all processors share: v_add_f32 is one mnemonic with a different encoding on each of them.
// Suffixes of encodings (_e32, _e64, _dpp, _sdwa) become fields here, so one handler serves them all.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::simulator::amdgcn {

struct Wave;
struct Instruction;
using Handler = void (*)(Wave &, const Instruction &);

// Numbers of scalar registers beyond s0 to s105.
enum ScalarNumber : uint16_t {
  VccLow = 106,
  TrapTemporaries = 108, // ttmp0 to ttmp15
  M0 = 124,
  NullRegister = 125,
  ExecLow = 126,
  FlatScratchLow = 128,
  XnackMaskLow = 130,
  ScalarCount = 132
};
constexpr unsigned accumulatorBase = 256; // a0 in the file of vector registers
constexpr unsigned vectorCount = 512;

struct Operand {
  enum Kind : uint8_t { Missing, Vector, Scalar, Integer, Real, SharedBase, PrivateBase, Condition, Symbol };
  enum Part : uint8_t { Whole, Low, High, Byte0, Byte1, Byte2, Byte3 };
  Kind kind = Missing;
  Part part = Whole;
  bool negative = false, absolute = false, signExtended = false;
  bool hexadecimal = false; // an integer that was written so: a literal of 32 bits
  uint16_t index = 0;       // the first register
  uint8_t words = 1;        // registers
  int64_t integer = 0;
  double real = 0;
  std::string symbol; // `off`, `hwreg(...)`, `sendmsg(...)`

  bool is(Kind wanted) const { return kind == wanted; }
  bool isOff() const { return kind == Symbol && symbol == "off"; }
};

// Where a lane's first source comes from under DPP: a lane, or nothing.
struct LaneMove {
  std::array<uint8_t, 64> source{};
  uint64_t valid = 0;       // lanes whose source lies in the wave
  uint64_t written = ~0ull; // row_mask and bank_mask
  bool zeroOutside = false; // bound_ctrl: an invalid source reads 0; otherwise the lane is not written
  bool fetchInactive = false;
};

// What a wave counts down as its memory instructions end. Before gfx10 stores count as loads, before gfx12 scalar loads
// as LDS.
enum Counter : uint8_t { LoadCounter, StoreCounter, LdsCounter, ScalarCounter, CounterCount };
constexpr uint32_t noWait = ~0u;

enum class InstructionGroup : uint8_t { Scalar, Vector, Matrix, Memory, Lds, Control };

struct Instruction {
  std::string text, mnemonic; // the mnemonic without suffixes
  uint64_t address = 0;       // in the code object
  uint32_t bytes = 0;
  Handler handler = nullptr;
  InstructionGroup group = InstructionGroup::Scalar;
  std::vector<Operand> operands;

  bool clamp = false;
  float outputScale = 1; // mul:2, mul:4, div:2
  int64_t offset = 0, offset0 = 0, offset1 = 0;
  bool returnsOld = false;                          // sc0 or glc of an atomic
  bool isCoherent = false;                          // a load past the caches that others do not see: an atomic one
  bool offsetEnabled = false, indexEnabled = false; // offen, idxen
  bool toLds = false;
  uint32_t broadcastSize = 0, broadcastBlock = 0, permutation = 0;        // cbsz, abid, blgp
  uint32_t truthTable = 0;                                                // bitop3
  uint8_t opSel = 0, opSelHigh = 0xff, negativeLow = 0, negativeHigh = 0; // a bit for each operand
  bool hasOpSel = false;
  std::array<uint32_t, CounterCount> waitFor{noWait, noWait, noWait, noWait}; // how many may still be under way
  std::string swizzle;                                                        // offset:swizzle(...)

  std::unique_ptr<LaneMove> move; // of operand `moved`
  uint8_t moved = 1;
  Operand::Part destinationPart = Operand::Whole; // SDWA: dst_sel
  bool preserveRest = false, extendRest = false;  // SDWA: dst_unused
  std::unique_ptr<Instruction> second;            // the other half of a v_dual instruction

  uint64_t next() const { return address + bytes; }
};

// What a processor does differently.
struct Processor {
  std::string name;
  unsigned generation = 9;        // gfx9, gfx11, gfx12
  bool packedWorkItems = true;    // all three work-item ids in v0
  bool architectedScratch = true; // scratch needs no set-up by the kernel
  bool groupIdsInTemporaries = false;
  bool zeroesHighHalf = true; // a 16-bit result clears the upper half of its register
  unsigned ldsBytes = 65536;
  unsigned ldsBanks = 32;
};

// Parses one instruction as LLVM prints it. Throws Error.
void parse(std::string_view text, const Processor &processor, unsigned lanes, Instruction &instruction);
// The handler of a mnemonic; null: it is not simulated.
Handler handlerOf(std::string_view mnemonic);

} // namespace nacre::simulator::amdgcn
