// lower-micro-kernels: cpu.micro_kernel becomes loops around register blocks.
//
// Before: what lower-to-loops gives. After: no cpu.micro_kernel; scratch memory that tile registers need is asked for
// by cpu.scratch, so place-scratch follows.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::cpu {

std::unique_ptr<mlir::Pass> createLowerMicroKernels();
void registerLowerMicroKernels();

} // namespace nacre::cpu
