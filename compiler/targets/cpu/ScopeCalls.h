// The marks of scopes in the code of the CPU: calls through the kernel's context, where somebody watches.
#pragma once

#include "compiler/targets/MovedLines.h"

namespace nacre::cpu {

MarksInCode scopeCalls();

} // namespace nacre::cpu
