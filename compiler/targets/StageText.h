// Stages as text: as they are shown, and as they come from outside, what a user wrote in place of what the compiler
// made. What cannot be read is a CompileError with the line of the text.
#pragma once

#include "compiler/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace nacre {

// Says what is wrong with the text that was given for a stage.
[[noreturn]] void failStage(const std::string &stage, const std::string &message);

// Puts what `text` says, IR of the stage, in the place of all that is in `module`. Its lines are those of its
// file from now on. The kernel keeps its name and the types of its arguments: those who launch it go by them.
void replaceModule(mlir::ModuleOp module, const std::string &stage, const StageText &text);

std::string printed(mlir::ModuleOp module);
std::string printed(const llvm::Module &module);
// LLVM IR; it must define `symbol`.
std::unique_ptr<llvm::Module> parseLLVM(const std::string &text, llvm::LLVMContext &context, const std::string &symbol);

} // namespace nacre
