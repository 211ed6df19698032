// place-scratch: scratch memory gets its place in the arena that a thread has (KernelContext::scratch).
//
//   %p = cpu.scratch 4096
//   ...
//   cpu.release %p           ==>  %p is the arena's address and an offset
//
// Before: kernels as loops over their grid, `cpu.scratch` and `cpu.release` where memory is taken and given back.
// After: neither; the module attribute `cpu.scratch_bytes` says how much a thread needs.
//
// Memory that is stored to and never read (a tile that all its readers computed anew, in closed form) is left out with
// the stores: legal since nobody else has its address. The simplification that follows takes what computed it.
//
// Small memory that is only loaded and stored, at offsets known here, becomes a variable of the function in place of a
// part of the arena: LLVM keeps it in registers, so that a short running sum is not stored and loaded in each
// iteration.
//
// The others, in the order of the text, each take the first gap that is large enough and leave it at their release: two
// whose lifetimes overlap never share a byte, because a release stands in the block of what it ends, so that of two
// lifetimes in different blocks one lies within the other or before it. What is kept from program to program lies
// beyond all others.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::cpu {

std::unique_ptr<mlir::Pass> createPlaceScratch();
void registerPlaceScratch();

} // namespace nacre::cpu
