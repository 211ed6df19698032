// lower-to-loops: a kernel of tile operations becomes loops over its grid, its tiles loops over vectors.
//
//   func.func @k(%p: !tile.ptr<f32>) attributes {tile.kernel}
//     ==>  func.func @k(%p: !llvm.ptr, %context: !llvm.ptr) attributes {cpu.kernel} { ... scf.forall over the grid ...
//     }
//
// Before: the tile, arith, math and scf dialects, no arithmetic on floats under 32 bits (widen-small-floats), products
// with packed operands (pack-dots). After: arith, math, scf, vector and llvm on scalars and vectors alone, the
// arguments in registers, and the runtime's KernelContext (KernelABI.h) as the last one; products as cpu.micro_kernel,
// scratch memory as cpu.scratch and cpu.release. The passes lower-micro-kernels, place-scratch, expand-math and
// kernel-entry follow.
#pragma once

#include "compiler/passes/cpu/Lowering.h"
#include "mlir/Pass/Pass.h"

namespace nacre::cpu {

// Whether a kernel meets "Before"; reports the first operation that does not.
mlir::LogicalResult checkIsLowerable(mlir::func::FuncOp kernel);
std::unique_ptr<mlir::Pass> createLowerToLoops(const VectorTarget &target);
void registerCpuPasses();

} // namespace nacre::cpu
