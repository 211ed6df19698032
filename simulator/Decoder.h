// Turns one parsed instruction into operations. Each group of instructions registers its decoders by the first word.
//
// A decoder takes the modifiers it knows; one that is left over is an error that names the instruction: a form is
// executed as the ISA defines it or refused, never guessed.
#pragma once

#include "simulator/Program.h"
#include "simulator/Simulator.h"
#include <functional>
#include <initializer_list>

namespace nacre::simulator {

class Decoder;
using DecodeFunction = void (*)(Decoder &);

class Decoder {
public:
  Decoder(Program &program, uint32_t functionIndex);
  void decodeFunction();

  // The instruction at hand.
  const Instruction *instruction = nullptr;
  Op op;
  Program &program;
  DecodedFunction &decoded;
  const Function &source;
  uint32_t functionIndex;

  [[noreturn]] void refuse(const std::string &why) const;

  // Modifiers
  bool take(std::string_view word); // present: taken out
  bool has(std::string_view word) const;
  std::string_view takeOneOf(std::initializer_list<std::string_view> words); // empty if none
  std::string_view takePrefixed(std::string_view prefix); // the first modifier that begins with it; empty if none
  ScalarType takeType();                                  // the next modifier that is a type; refuses if none
  ScalarType takeTypeOr(ScalarType fallback);
  bool onlyTypesLeft() const;
  std::string_view nextWord();  // the next modifier not taken; taken out; empty at the end
  void finishModifiers() const; // refuses if something is left

  // Operands
  size_t operandCount() const { return instruction->operands.size(); }
  const Operand &operand(size_t index) const;
  void expectOperands(size_t least, size_t most) const;
  ScalarType registerType(const Operand &operand) const;
  Slot destination(const Operand &operand, unsigned bytes); // a register of that row width, or the scratch row
  Slot source32(const Operand &operand, ScalarType type);   // a row of 32-bit elements
  Slot valueOf(const Operand &operand, ScalarType type);    // a row as wide as the type's registers
  Slot predicate(const Operand &operand);                   // a mask; `negated` is left to the caller
  Slot constant(uint64_t bits, unsigned rowBytes);
  Slot predicateConstant(bool value);
  uint64_t immediate(const Operand &operand) const; // an integer constant; refuses registers
  bool isImmediate(const Operand &operand) const { return operand.kind == OperandKind::Integer; }
  Part part(const Operand &operand, bool written);     // any register, by its own width
  void addParts(const Operand &operand, bool written); // a vector's elements, or the one operand
  uint64_t floatBits(const Operand &operand, ScalarType type) const;
  void noteRead(const Operand &operand);
  void noteWrite(const Operand &operand);

  // Address operands: fills op.a, op.offset, op.lanes32 for [register+offset] or a variable.
  void address(const Operand &operand, Space space);
  void addressInto(const Operand &operand, Space space, Slot &base, int64_t &offset, uint8_t &narrow);
  Space takeSpace(Space fallback);
  uint32_t labelTarget(const Operand &operand) const; // the instruction's index; refuses unknown labels

  void emit(Handler handler, InstructionClass kind);
  template <typename T> T *plan() {
    auto made = std::make_shared<T>();
    program.plans.push_back(made);
    return made.get();
  }
  void branchTo(uint32_t opIndex, uint32_t instructionIndex) {
    patches.push_back({opIndex, instructionIndex, nullptr});
  }
  void patchLater(uint32_t *where, uint32_t instructionIndex) { patches.push_back({0, instructionIndex, where}); }
  uint32_t currentOp() const { return static_cast<uint32_t>(program.ops.size()); }

  std::vector<uint32_t> registerOffsets;

private:
  void layoutRegisters();
  void decodeInstruction(const Instruction &instruction);
  struct Patch {
    uint32_t op, instruction;
    uint32_t *where;
  };
  std::vector<Patch> patches;
  uint64_t taken = 0; // bits of instruction->words
  std::vector<uint32_t> reads, writes;
  bool refreshClock = false;
};

// A parameter of a kernel lies in the launch's buffer; every other .param variable in a frame.
bool isKernelParameter(const Function &function, const Variable &variable);
int64_t sumOf(int64_t offset, uint64_t address);
// Layout.cpp
void layoutVariables(DecodedFunction &decoded, Function &source);
void layoutModule(Program &program);

struct DecoderEntry {
  const char *name;
  DecodeFunction function;
};
// One table a group.
extern const std::vector<DecoderEntry> arithmeticDecoders, mathDecoders, compareDecoders, convertDecoders,
    logicDecoders, videoDecoders, moveDecoders, memoryDecoders, atomicDecoders, controlDecoders, warpDecoders,
    barrierDecoders, copyDecoders, tensorDecoders, matrixDecoders, warpgroupDecoders;

unsigned rowBytesOf(ScalarType type); // 4, 8 or 16; 0: a predicate

} // namespace nacre::simulator
