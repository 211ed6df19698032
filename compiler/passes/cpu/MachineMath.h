// What the machine's own instructions do for elementary functions (see MathTarget), for the pass expand-math.
#pragma once

#include "compiler/passes/cpu/VectorTarget.h"
#include "compiler/passes/tile/ExpandMath.h"

namespace nacre::cpu {

MathTarget machineMath(const VectorTarget &target);

} // namespace nacre::cpu
