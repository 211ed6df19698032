// --engine=cpu of nacre-opt's --run: the kernel compiled by the CPU target instead of evaluated, for comparing the two.
#pragma once

#include "compiler/reference/IRWalker.h"

namespace nacre {

// As runTileIR, through the CPU target; accesses are not checked, and programs run one after another. The module is not
// changed.
void runCompiled(mlir::func::FuncOp kernel, llvm::ArrayRef<uint64_t> arguments, const RunOptions &options);

// Puts the bodies of called functions in place of the calls, as targets expect, and leaves nothing but the kernel.
void leaveOneFunction(mlir::ModuleOp module, llvm::StringRef name);

} // namespace nacre
