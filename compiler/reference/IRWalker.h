// Runs tile IR by walking it over the eager evaluator, so that a pass is tested by equal results before and after.
//
// Understands every tile operation and the arith, math, scf, ub and func operations that the front end and the tile
// passes emit, on scalars and tiles; anything else is an error that names the operation.
#pragma once

#include "compiler/builder/IRBuilder.h"
#include "compiler/reference/EagerBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nacre {

struct RunOptions {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  const MemoryMap *memory = nullptr;
  std::function<void(llvm::StringRef text)> print;
};

// Runs every program of the grid, x fastest, one after another. `arguments` holds one 8-byte slot an argument (a
// descriptor: each of its fields that arrives) as in compiler/passes/cpu/KernelABI.h: pointers, integers extended, floats
// as their bits (narrow floats as those of a float). Throws CompileError.
void runTileIR(mlir::func::FuncOp kernel, llvm::ArrayRef<uint64_t> arguments, const RunOptions &options);

} // namespace nacre
