// How C calls kernels for NVIDIA's GPUs that were compiled ahead of time.
#pragma once

#include "runtime/api/ExportedCode.h"

namespace nacre::cuda {

const ExportedCode &exportedCode();

} // namespace nacre::cuda
