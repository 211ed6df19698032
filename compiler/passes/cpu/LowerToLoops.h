// lower-to-loops: a kernel of tile operations becomes a function with the CPU calling convention
// (compiler/passes/cpu/KernelABI.h), its tiles loops over vectors.
//
//   func.func @k(%p: !tile.ptr<f32>) attributes {tile.kernel}
//     ==>  func.func @k(%args: !llvm.ptr, %begin: i64, %end: i64, %context: !llvm.ptr) -> i32
//
// Before: the tile, arith, math and scf dialects. After: arith, math, scf, vector and llvm on scalars and vectors
// alone; the module attribute `cpu.scratch_bytes` says how much scratch memory a program needs.
#pragma once

#include "compiler/passes/cpu/Lowering.h"
#include "mlir/Pass/Pass.h"

namespace nacre::cpu {

inline constexpr llvm::StringLiteral scratchAttribute = "cpu.scratch_bytes";
// The module attribute that says that a program may wait for another (KernelMetadata::waits).
inline constexpr llvm::StringLiteral waitsAttribute = "cpu.waits";

std::unique_ptr<mlir::Pass> createLowerToLoops(const VectorTarget &target);
void registerCpuPasses();

} // namespace nacre::cpu
