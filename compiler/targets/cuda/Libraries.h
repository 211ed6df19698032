// Libraries of users in kernels: LLVM bitcode or IR for NVPTX, libdevice among them, becomes part of the kernel's
// module.
#pragma once

#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/language/meaning/ExternalLibrary.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace nacre::cuda {

// A function that the kernel calls, and where it does.
struct ExternalUse {
  ExternalFunction function;
  Diagnostic place; // its location and calls alone
};

// The functions of libraries that the kernel calls, each once.
std::vector<ExternalUse> externalUses(mlir::ModuleOp module);

// Links them, and what they need, into the module under their link names. Throws CompileError: code of another kind
// than IR cannot run on a GPU.
void linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses);

} // namespace nacre::cuda
