// The order in which a thread runs the programs of a grid: which axis of it moves fastest.
//
// Programs are numbered with x fastest. Where x moves down the rows of a matrix and y along them, the programs that
// follow each other touch other rows each time, and what the machine fetched ahead is never used; with y fastest they
// walk along memory.
//
// Legal because programs run in no promised order, as long as none can tell: a kernel with atomics, barriers, volatile
// loads, prints, asserts, checks, clocks or code of other languages keeps the order of the numbers (one program may
// wait for another with a lower number). One with products keeps it too: packed operands are used again by programs
// that follow each other (OperandReuse.h).
#pragma once

#include "compiler/analysis/AccessForm.h"
#include <array>

namespace nacre::cpu {

using ProgramOrder = std::array<int, 3>; // axes of the grid, the fastest first

// The analysis is asked for where the grid has several axes.
ProgramOrder programOrder(mlir::func::FuncOp kernel, llvm::function_ref<AxisAnalysis &()> axes);

} // namespace nacre::cpu
