// Machine code for the interpreter: inline assembly and functions of a user's library are compiled as small kernels of
// their own, by the same target that compiles kernels, so that both modes give the same results.
#pragma once

#include "compiler/reference/NativeCode.h"

namespace nacre {

// What was compiled once is kept for the process.
NativeCode &hostCode();

} // namespace nacre
