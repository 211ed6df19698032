// Libraries of users in kernels: LLVM bitcode or IR for NVPTX, libdevice among them, becomes part of the kernel's
// module.
#pragma once

#include "compiler/targets/Libraries.h"

namespace nacre::cuda {

// Links them (nacre::linkIR). Throws CompileError: code of another kind than IR cannot run on a GPU.
void linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses);

} // namespace nacre::cuda
