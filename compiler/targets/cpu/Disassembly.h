// The machine code of an object file as text, with the source line of each instruction where the object tells it.
#pragma once

#include "compiler/targets/Disassembly.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace nacre::cpu {

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
// The same of many, one for each offset.
std::vector<SourceLine> linesOf(llvm::StringRef object, llvm::StringRef symbol, llvm::ArrayRef<int64_t> offsets);

} // namespace nacre::cpu
