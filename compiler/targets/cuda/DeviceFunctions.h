// Functions that CUDA's driver gives every kernel.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nacre::cuda {

inline constexpr llvm::StringLiteral printFunction = "vprintf", assertFunction = "__assertfail";

} // namespace nacre::cuda
