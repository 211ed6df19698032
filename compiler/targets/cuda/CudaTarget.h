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

// KernelMetadata::details of this target has lines: what the assembler remarked, and, for each of the kernel's last
// parameters that are tensor maps, in order, this and its recipe (compiler/ir/simt/TensorMapRecipe.h).
inline constexpr llvm::StringLiteral tensorMapPrefix = "tensor map: ";

} // namespace nacre::cuda
