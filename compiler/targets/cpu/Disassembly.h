// The machine code of an object file as text, with the source line of each instruction where the object tells it.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace nacre::cpu {

struct DisassembledInstruction {
  uint64_t address = 0; // in its section
  std::string file;     // of the source; empty: not known
  int line = 0;
  std::string text; // with the names of what it refers to: "callq expf"
};

struct DisassembledFunction {
  std::string name;
  std::vector<DisassembledInstruction> instructions;
};

// Every function of an x86-64 object file, or the one named `symbol` when that is not empty. Returns what is wrong, or
// an empty text.
std::string disassemble(llvm::StringRef object, llvm::StringRef symbol, std::vector<DisassembledFunction> &functions);

// The source line of the instruction that lies `offset` bytes behind the first one of `symbol`, that of its call where
// it is part of the standard library; line 0 when the object does not tell.
struct SourceLine {
  std::string file;
  int line = 0;
};
SourceLine lineOf(llvm::StringRef object, llvm::StringRef symbol, int64_t offset);

} // namespace nacre::cpu
