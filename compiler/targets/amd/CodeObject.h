// LLVM IR to a code object for one GPU: the ELF file that HIP and the simulator load.
//
// The code generator writes assembly, which is the stage "amdgcn"; LLVM's assembler and Link.h make the file of it. So
// what a user writes in the stage's place is all that the file has.
#pragma once

#include "compiler/targets/Target.h"
#include "compiler/targets/amd/Architectures.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace nacre::amd {

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Architecture &architecture, const TargetOptions &options);

// Makes the kernel's shared memory, which the lowering has as an array without a size, so many bytes long: the code
// object asks for them, a launch need not. And says which version of code objects it is to be, and that
// atomics are of the GPU's own memory.
void prepare(llvm::Module &module, uint64_t sharedBytes);

std::string emitAssembly(llvm::Module &module, llvm::TargetMachine &machine);

// What the code object says of the kernel, in its notes.
struct KernelFacts {
  uint64_t registers = 0;    // vector registers of a thread
  uint64_t spilledBytes = 0; // of a thread, vector registers that did not fit
  uint64_t sharedBytes = 0;  // of a work-group
};

struct CodeObject {
  std::string bytes;
  KernelFacts facts;
};

// Throws CompileError where the assembly is wrong, which a user may have written.
CodeObject assemble(const std::string &assembly, const std::string &symbol, const llvm::TargetMachine &machine);

} // namespace nacre::amd
