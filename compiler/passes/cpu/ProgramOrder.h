// The order in which a thread runs the programs of a grid: which axis of it moves fastest, and whether the rows
// of neighbouring programs are interleaved.
//
// Programs are numbered with x fastest. Where x moves down the rows of a matrix and y along them, the programs that
// follow each other touch other rows each time, and what the machine fetched ahead is never used; with y fastest they
// walk along memory.
//
// A program whose tile has many short rows touches many places of memory at once, which neither the caches (rows a
// power of two apart share their sets) nor what fetches ahead are made for. Where a program is one nest of loops, its
// neighbours are interleaved: the first row of each of them, then the second row, ... Memory is then accessed in rows
// as long as all of their tiles together. It is done by kernel-entry (KernelEntry.h), for grids whose fastest axis
// moves along memory.
//
// Legal because the order of programs is not specified, where it is unobservable: a kernel with atomics,
// barriers, volatile loads, prints, asserts, checks, clocks or code of other languages keeps the order of the numbers
// (one program may wait for another with a lower number). One with products keeps it too: packed operands are used
// again by programs that follow each other (OperandReuse.h). What a program computes before its rows is computed anew
// for each of them, and so may not look at memory.
#pragma once

#include "compiler/analysis/AccessForm.h"
#include "compiler/passes/cpu/Plan.h"
#include <array>

namespace nacre::cpu {

struct ProgramOrder {
  std::array<int, 3> axes{0, 1, 2}; // of the grid, the fastest first
  // At most so many neighbours are interleaved, where the loops of the program turn out to be one nest; 1: none do.
  int64_t mostTurns = 1;
};

// The analysis is asked for where the grid has several axes or tiles have rows.
ProgramOrder programOrder(mlir::func::FuncOp kernel, const Plan &plan, llvm::function_ref<AxisAnalysis &()> axes);

} // namespace nacre::cpu
