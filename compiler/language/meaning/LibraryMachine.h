// Whether a library's code in LLVM IR is made for the machine that a kernel is compiled for.
#pragma once

#include "compiler/language/meaning/ExternalLibrary.h"

namespace nacre {

// Why it cannot become part of a kernel for this target ("cpu", "cuda:90"); empty: nothing is in its way, or it is no
// IR.
std::string problemWithMachine(const ExternalLibrary &library, llvm::StringRef target);

} // namespace nacre
