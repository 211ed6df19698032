// The code of one thread of a GPU, before and after it is LLVM IR: what the GPU targets do with it alike.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Target/TargetMachine.h"

namespace nacre {

// fp16 and bf16 arguments arrive as fp32 (runtime/Device.h).
void widenHalfArguments(mlir::func::FuncOp kernel);

// What is left after them is LLVM's dialect alone.
void addConversionsToLLVM(mlir::OpPassManager &passes);

// Optimizes in place by a short list of passes: tiles are scalars already, in the order in which they are to run, so
// that nothing is to be unrolled or vectorized. `callbacks`, when there are any, watch the passes. `first` and `last` are
// passes of the target's own around them, as text, with a comma where they meet the others.
void optimizeThreadCode(llvm::Module &module, llvm::TargetMachine &machine,
                        llvm::PassInstrumentationCallbacks *callbacks, llvm::StringRef first,
                        llvm::StringRef last = "");

// What comes of the standard library gets the line of its caller.
void nameCallersOfLibrary(llvm::Module &module);

} // namespace nacre
