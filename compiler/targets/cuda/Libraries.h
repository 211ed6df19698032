// Libraries of users in kernels: LLVM bitcode or IR for NVPTX becomes part of the kernel's module; so does what they
// need of NVIDIA's libdevice, which is looked for only then. (The language's own functions need none of it.)
#pragma once

#include "compiler/targets/Libraries.h"
#include "compiler/targets/Target.h"

namespace nacre::cuda {

// What libdevice holds, as a digest; empty: there is none. The file is read once for each content
// (ExternalLibrary::find).
std::string libdeviceDigest(const TargetOptions &options);
// Links them (nacre::linkIR). Throws CompileError: code of another kind than IR cannot run on a GPU.
void linkLibraries(llvm::Module &module, llvm::ArrayRef<ExternalUse> uses, const TargetOptions &options);

} // namespace nacre::cuda
