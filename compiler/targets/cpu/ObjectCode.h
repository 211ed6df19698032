// LLVM IR to object code for one x86-64 CPU.
#pragma once

#include "compiler/targets/cpu/CpuTarget.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Target/TargetMachine.h"

namespace nacre::cpu {

// The CPU and the features that code is for: this machine's, unless an architecture is named, with what is added and
// taken away.
struct Machine {
  std::string cpu, features;
};
Machine meantMachine(const TargetOptions &options);
// Throws CompileError when LLVM does not know the CPU or a feature.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const TargetOptions &options);
// Optimizes in place. Tiles are already vectors, so LLVM's own vectorizers stay off, but for loops over single elements
// around the functions of a user's library. `callbacks`, when there are any, watch the passes.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, llvm::PassInstrumentationCallbacks *callbacks,
              bool hasElementLoops);
// Every access is checked by LLVM's AddressSanitizer, whose runtime the process must have.
void addAddressChecks(llvm::Module &module, llvm::TargetMachine &machine);
// Whether this process may use tile registers (AMX). Linux wants to be asked; what is granted lasts.
bool mayUseTileRegisters();
std::string emitObject(llvm::Module &module, llvm::TargetMachine &machine);
std::string emitAssembly(llvm::Module &module, llvm::TargetMachine &machine);
// Assembly to an object file. Throws CompileError, with the line of the text, on what it cannot read.
std::string assemble(const std::string &text, const llvm::TargetMachine &machine);

} // namespace nacre::cpu
