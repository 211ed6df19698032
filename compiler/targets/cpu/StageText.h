// Stages as text that comes from outside: parsing what a user wrote in place of what the compiler made. Every function
// throws CompileError, with the line of the text, on what it cannot read.
#pragma once

#include "compiler/targets/cpu/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace nacre::cpu {

// Puts what `text` says, the tile IR or the loops, in the place of all that is in `module`. Its lines are those of its
// file from now on. The kernel keeps its name and the types of its arguments: those who launch it go by them.
void replaceModule(mlir::ModuleOp module, const std::string &stage, const StageText &text);

// LLVM IR; it must define `symbol`.
std::unique_ptr<llvm::Module> parseLLVM(const std::string &text, llvm::LLVMContext &context, const std::string &symbol);

// Assembly to an object file.
std::string assemble(const std::string &text, const llvm::TargetMachine &machine);

} // namespace nacre::cpu
