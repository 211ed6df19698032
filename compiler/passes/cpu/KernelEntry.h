// kernel-entry: a kernel as loops over its grid becomes a function with the CPU's calling convention (KernelABI.h),
// which runs a range of the grid's programs one after another.
//
//   func.func @k(%x: !llvm.ptr, %n: i32, %context: !llvm.ptr) attributes {cpu.kernel} {
//     ... what is the same for every program ...
//     scf.forall (%i, %j, %k) in (%width, %height, %depth) { ... one program ... }
//     return
//   }
//     ==>  func.func @k(%args: !llvm.ptr, %begin: i64, %end: i64, %context: !llvm.ptr) -> i32, with a loop from %begin
//     to %end
//
// With `cpu.turns = N` (ProgramOrder.h) on the scf.forall, and programs that are one loop with constant bounds and
// arithmetic: the loop over runs of at most N programs of one row of the grid, in it the programs' loop, and innermost
// the one over the programs of the run.
//
// Before: what place-scratch leaves. An argument whose type in the language is not that of its register has it as the
// attribute `cpu.type`. After: no scf.forall.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::cpu {

std::unique_ptr<mlir::Pass> createKernelEntry(bool convertsHalf);
void registerKernelEntry();

} // namespace nacre::cpu
