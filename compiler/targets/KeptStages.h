// Stages as they are kept beside a kernel's binary, so that they can be shown later without compiling: IR of MLIR is
// bytecode and IR of LLVM bitcode, which are written in a fraction of the time that their texts take; anything else is
// its text. A stage that the code generator writes beside the binary, as the CPU's assembly is, would cost a second run
// of it: it is not kept, and made from the LLVM IR on request (Target::generatedText).
#pragma once

#include "compiler/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace nacre {

std::string keptForm(mlir::ModuleOp module);
std::string keptForm(const llvm::Module &module);

// The texts of all stages, as the compile that kept them would have shown them. `dialects` has those of the target.
// Empty when something is not what keptForm wrote.
StageTexts textsOfKept(const Target &target, const TargetOptions &options, const KeptStages &kept,
                       const mlir::DialectRegistry &dialects);

} // namespace nacre
