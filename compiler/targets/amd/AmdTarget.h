// The HIP target: tile IR to code for a GPU of AMD's. Its whole pipeline is Pipeline.cpp; the instructions that it chooses
// are Instructions.h's.
#pragma once

#include "compiler/targets/Target.h"

namespace nacre::amd {

// Its architectures are processors ("gfx942"), its binary a code object, as HIP loads it.
const Target &target();

} // namespace nacre::amd
