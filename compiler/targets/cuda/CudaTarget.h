// The CUDA target: tile IR to code for an NVIDIA GPU. Its whole pipeline is Pipeline.cpp; the instructions that it
// chooses are Instructions.h's.
#pragma once

#include "compiler/targets/Target.h"

namespace nacre::cuda {

// Its architectures are compute capabilities ("90"), its binary a cubin, or PTX text where there is no assembler or
// none is wanted (isPtx).
const Target &target();

// Whether a binary of this target is PTX text: the driver assembles it, the simulator runs it.
bool isPtx(llvm::StringRef binary);

} // namespace nacre::cuda
