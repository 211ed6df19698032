// What inline assembly is written in on a target (compiler/targets/Target.h): checked where it has a line.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nacre {

struct AssemblyNotation {
  llvm::StringRef machine;        // whose assembly it is, in messages: "x86"
  bool isPtx = false;             // NVIDIA's own; elsewhere PTX is translated (builtins/InlinePtx.h)
  llvm::StringRef operandLetters; // the kinds of registers, memory and constants that one letter stands for; empty: any
  llvm::StringRef operandHint;    // which to use, for whoever wrote another
};

} // namespace nacre
