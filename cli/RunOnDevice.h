// --engine=DEVICE of nacre-opt's --run: the kernel compiled by a target and launched on a device of it, instead of
// evaluated, for comparing the two.
#pragma once

#include "compiler/reference/IRWalker.h"

namespace nacre {

struct DeviceRun {
  std::string device;       // a driver's name (runtime/Device.h) whose kernels use host memory: "cpu", "simulate"
  std::string architecture; // as the target names it; empty: the device's
  std::string shownStage;   // whose text is printed first; empty: none
};

// The names that DeviceRun::device may have: "cpu, simulate".
std::string devicesToRunOn();

// As runTileIR. Programs run one after another; what the device objects to is a CompileError. The module is not
// changed.
void runOnDevice(mlir::func::FuncOp kernel, llvm::ArrayRef<uint64_t> arguments, const RunOptions &options,
                 const DeviceRun &how);

} // namespace nacre
