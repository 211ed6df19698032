// lower-to-llvm: a kernel of simt IR, whose every tile has a layout, becomes the code of one thread.
//
//   func.func @add(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} { ... tensor<1024xf32, #layout> ... }
//     ==>  llvm.func ptx_kernelcc @add(%x: !llvm.ptr<1>, %n: i32) { ... eight f32 ... }
//
// Needs: layouts everywhere, legal (verifyLayouts); shared memory placed; calls inlined, descriptors and scaled
// products expanded. Gives: no tensor types; scalars of arith, math, scf and LLVM. Kernel parameters, in order, are the
// kernel's arguments: pointers to global memory, numbers in their form in memory (i1 and fp8 are bytes), f16 and bf16
// as f32. Shared memory is one external array, @shared_memory, aligned to 1024; its size is the module's attribute
// simt.shared.
#pragma once

#include "compiler/passes/gpu/Machine.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::simt {

// The machine outlives the pass.
std::unique_ptr<mlir::Pass> createLowerToLLVM(const Machine &machine);

} // namespace nacre::simt
