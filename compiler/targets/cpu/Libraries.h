// Libraries of users in kernels: what is LLVM IR becomes part of the kernel's module; the rest is left to the loader.
#pragma once

#include "compiler/targets/Libraries.h"

namespace nacre::cpu {

// `uses` names each function once. Links the functions whose libraries are IR (nacre::linkIR). Gives the functions that
// are left. Throws CompileError.
std::vector<ExternalFunction> linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses);

} // namespace nacre::cpu
