// PTX to machine code by NVIDIA's assembler, ptxas, run as a program; and what it tells of the code.
#pragma once

#include "compiler/targets/Target.h"
#include "compiler/targets/cuda/Architectures.h"
#include <optional>

namespace nacre::cuda {

// What ptxas says of a kernel.
struct AssemblerReport {
  uint32_t registers = 0;    // of a thread
  uint32_t stackBytes = 0;   // of a thread, in local memory
  uint32_t spilledBytes = 0; // of those that it writes because registers did not suffice
  // Its remarks with a number, "(C7510) Potential Performance Loss: ...", each once.
  std::vector<std::string> remarks;

  static AssemblerReport parse(llvm::StringRef text);
};

// Where the assembler is: what the options say; on the PATH; in the toolkit; among the packages of Python beside which
// this library lies. None where there is none: the driver assembles then. Throws CompileError when what the options say
// is no program.
std::optional<std::string> findAssembler(const TargetOptions &options);

struct AssembledCode {
  std::string cubin;
  AssemblerReport report;
};
// Throws CompileError, with the place in the kernel, for what it does not take.
AssembledCode assemble(const std::string &ptx, const std::string &assembler, const Architecture &architecture,
                       const TargetOptions &options);

// The place in the user's file of a line of PTX (from 1), by the .loc before it. Line 0: not known.
struct PtxPlace {
  std::string file;
  int line = 0, column = 0;
};
PtxPlace placeOfPtxLine(llvm::StringRef ptx, unsigned line);

} // namespace nacre::cuda
