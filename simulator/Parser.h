// The parser of PTX text; parse() in Syntax.h is its door.
#pragma once

#include "simulator/Lexer.h"
#include "simulator/Simulator.h"
#include "simulator/Syntax.h"
#include <tuple>

namespace nacre::simulator {

class Parser {
public:
  explicit Parser(SyntaxModule &module) : module(module), lexer(module.text) {}
  void parseModule();

private:
  SyntaxModule &module;
  Lexer lexer;
  Function *function = nullptr;
  uint32_t place = 0;                                                    // where we are, in module.places
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> placesOf; // of this function, by file, line, column
  uint32_t functionPlace = 0;                                            // the first one
  uint32_t scope = 0;
  int depth = 0;
  bool selectsParts = false; // operands of a video instruction: %r1.b0
  // Names of registers and variables, innermost scope last.
  struct Name {
    bool isRegister;
    uint32_t reg;
    Variable *variable;
  };
  std::vector<std::map<std::string_view, Name>> names;
  struct Range { // %r<100>: names are made only when used
    std::string_view prefix;
    uint32_t first, count;
  };
  std::vector<std::vector<Range>> ranges;

  [[noreturn]] void fail(const std::string &message) { throw Error(message, lexer.peek().line); }
  bool accept(std::string_view symbol);
  void expect(std::string_view symbol);
  std::string_view word(const char *what);
  uint64_t unsignedNumber(const char *what);

  // Declarations (ParseDeclarations.cpp)
  void parseFileDirective();
  void parseVariable(Space space, bool isExtern, std::deque<Variable> &into);
  void parseInitializer(Variable &variable);
  void initializerElement(Variable &variable, uint64_t &position);
  void parseFunction(bool isEntry, bool isExtern);
  void parseParameters(std::vector<Variable *> &into);
  void parseFunctionDirectives();
  void parseRegisters();
  void skipStatement();
  void dimensions(uint32_t (&into)[3]);

  // Statements (ParseStatements.cpp)
  void parseBody();
  void parseStatement();
  void parseDirective();
  void parseLocation();
  void parseInstruction();
  void parseCall(Instruction &instruction);
  Operand parseOperand();
  Operand parseAddress();
  Operand nameOperand(std::string_view name);
  Operand numberOperand(bool negative);
  int64_t constantExpression(int minimum = 0);
  int64_t constantFactor();
  const Name *lookup(std::string_view name);
  bool lookupRange(std::string_view name, uint32_t &reg);
};

bool parseInteger(std::string_view text, uint64_t &value);
// 0fXXXXXXXX, 0dXXXXXXXXXXXXXXXX or decimal; isSingle: bits are of a float
bool parseFloat(std::string_view text, uint64_t &bits, bool &isSingle);

} // namespace nacre::simulator
