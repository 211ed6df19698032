// Libraries of users in kernels: what is LLVM IR becomes part of the kernel's module; the rest is left to the loader.
#pragma once

#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/language/meaning/ExternalLibrary.h"
#include "llvm/IR/Module.h"

namespace nacre::cpu {

// A function that the kernel calls, and where it does.
struct ExternalUse {
  ExternalFunction function;
  Diagnostic place; // its location and calls alone
};

// `uses` names each function once. Links the functions whose libraries are IR, and what they need, into the module
// under their link names; the whole is then the kernel's own. Gives the functions that are left. Throws CompileError.
std::vector<ExternalFunction> linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses);

} // namespace nacre::cpu
