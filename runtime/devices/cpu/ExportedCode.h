// How C calls kernels for the host that were compiled ahead of time.
#pragma once

#include "runtime/api/ExportedCode.h"

namespace nacre::cpu {

const ExportedCode &exportedCode();

} // namespace nacre::cpu
