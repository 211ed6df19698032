// PTX as parsed: names resolved to registers, variables and labels; instructions still as words.
#pragma once

#include "simulator/Types.h"
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::simulator {

struct Register {
  ScalarType type = ScalarType::B32;
  std::string name;
};

struct Function;

// A .global, .const, .shared, .local or .param variable.
struct Variable {
  std::string name;
  Space space = Space::Global;
  ScalarType type = ScalarType::B8;
  uint32_t alignment = 1;
  uint64_t bytes = 0;
  bool isExtern = false; // dynamic shared memory
  std::vector<std::byte> initial;
  struct Reference {
    uint64_t offset;
    std::string symbol;
    int64_t addend;
  };
  std::vector<Reference> references; // addresses in the initial value
  uint64_t address = 0;              // an offset in its space; of .global and .const the host address
  uint32_t line = 0;
};

enum class OperandKind : uint8_t {
  Register,
  Special,
  Integer,
  Float,
  Variable,
  Label,
  Function,
  Vector,
  Address,
  Sink,
  Table
};

struct Operand {
  OperandKind kind = OperandKind::Sink;
  bool negated = false;      // !%p
  uint32_t reg = 0;          // Register: index in its function
  std::string_view name;     // Special, Label, unresolved names
  std::string_view selector; // of a video instruction: the parts of a register, `b0` or `h10`
  uint64_t bits = 0;         // Integer: value; Float: bits of the double or of the float
  bool isSingle = false;     // Float written as 0fXXXXXXXX
  Variable *variable = nullptr;
  Function *function = nullptr;
  int64_t offset = 0;              // Address: added to base; Variable: added to the address
  std::vector<Operand> elements;   // Vector; Address: [base, further parts]
  std::unique_ptr<Operand> second; // d|p
  uint32_t scope = 0;              // Label: where it is looked up
  Operand() = default;
  Operand(Operand &&) = default;
  Operand &operator=(Operand &&) = default;
};

// A place of the source, from .loc, and the place of the call that it was inlined at.
struct Place {
  uint32_t file = 0, line = 0, column = 0;
  uint32_t inlinedAt = 0; // index in SyntaxModule::places; 0: none
};

struct Instruction {
  std::string_view opcode;             // with all modifiers, as written
  std::vector<std::string_view> words; // split at the points
  bool guarded = false, guardNegated = false;
  uint32_t guard = 0;
  std::vector<Operand> operands;
  uint32_t line = 0;
  uint32_t place = 0; // index in SyntaxModule::places
  std::string_view text;
};

struct Function {
  std::string name;
  bool isEntry = false, isDefined = false;
  std::vector<Register> registers;
  std::deque<Variable> variables; // .param, .local and .shared ones of the body; addresses of them stay
  std::vector<Variable *> parameters, results;
  std::vector<Instruction> instructions;
  struct Scope {
    uint32_t parent = 0;
    std::map<std::string_view, uint32_t> labels;             // to instruction indices
    std::map<std::string_view, std::vector<Operand>> tables; // .branchtargets
  };
  std::vector<Scope> scopes;
  uint32_t requiredThreads[3] = {0, 0, 0}, maximumThreads[3] = {0, 0, 0}, requiredCluster[3] = {0, 0, 0};
  uint32_t leastBlocks = 1; // .minnctapersm: that share a multiprocessor
  uint32_t line = 0;
};

struct SyntaxModule {
  std::string text; // owns all views
  std::string fileName;
  std::string target;   // sm_90a
  unsigned version = 0; // 86 for 8.6
  std::vector<std::unique_ptr<Function>> functions;
  std::deque<Variable> variables;
  std::map<uint32_t, std::string> files;
  std::vector<Place> places = {Place()}; // the first: not known

  // The innermost place of a chain that is the user's own: not in a header of the CUDA toolkit nor in a compiler's
  // standard library. 0: none.
  std::vector<uint32_t> ownPlaces; // by place; made when the module is complete
  void findOwnPlaces();
  uint32_t ownPlace(uint32_t place) const { return ownPlaces[place]; }
  Function *findFunction(std::string_view name) const;
  Variable *findVariable(std::string_view name);
};

// Throws Error with the line.
std::unique_ptr<SyntaxModule> parse(std::string_view text, std::string_view fileName);

} // namespace nacre::simulator
