// How many registers a kernel needs that streams memory: loops that load tiles and work on them at once, without matrix
// products. Where there are few, ptxas should be given a larger register budget than its default. By default it
// maximizes the threads of a multiprocessor, and so few loads of an iteration are in flight at once.
//
// Only a hint: correctness does not depend on it. It is dropped where registers were spilled.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nacre::simt {

// Of the busiest loop that loads tiles: those that it carries, loads, and uses from outside, of a thread. None: no loop
// does, or one has a product. Layouts are assigned.
std::optional<int64_t> streamedRegisters(mlir::func::FuncOp kernel);

// Of the busiest loop with products: the tiles that it carries, and twice those that products take from registers,
// since they are read ahead. None: no loop has one. Two blocks that share a multiprocessor fill each other's pauses:
// worth a few registers less where they nearly fit.
std::optional<int64_t> productRegisters(mlir::func::FuncOp kernel);

} // namespace nacre::simt
