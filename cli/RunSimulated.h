// --engine=simulate of nacre-opt's --run: the kernel compiled by the CUDA target, its PTX executed by the simulator.
#pragma once

#include "compiler/reference/IRWalker.h"

namespace nacre {

struct SimulatedRun {
  std::string architecture; // as the CUDA target names it
  std::string shownStage;   // whose text is printed first; empty: none
};

// As runTileIR, through the CUDA target; everything that the simulator finds is an error. The module is not changed.
void runSimulated(mlir::func::FuncOp kernel, llvm::ArrayRef<uint64_t> arguments, const RunOptions &options,
                  const SimulatedRun &how);

} // namespace nacre
