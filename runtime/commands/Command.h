// The commands of the `nacre` program that need no Python; the Python package has them too.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace nacre {

// "compile", "simulate" or "info" and its arguments. Writes to standard output and standard error; returns the exit status.
int runCommand(llvm::ArrayRef<std::string> arguments);

} // namespace nacre
