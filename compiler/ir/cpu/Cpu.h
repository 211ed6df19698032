// The cpu dialect's C++ face: operations and the names of its attributes on others.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "compiler/ir/cpu/CpuDialect.h.inc"
#include "compiler/ir/cpu/CpuEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/cpu/CpuAttributes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/cpu/Cpu.h.inc"

namespace nacre::cpu {

// A function that is a kernel as loops over its grid, and the types of its arguments in the language.
inline constexpr llvm::StringLiteral loopsAttribute = "cpu.kernel";
inline constexpr llvm::StringLiteral argumentTypeAttribute = "cpu.type";
// Of its loop over the grid: so many neighbouring programs may be interleaved, by steps of their outermost loop.
inline constexpr llvm::StringLiteral turnsAttribute = "cpu.turns";
// Of the module: the scratch memory of a thread; whether a program may wait for another (KernelMetadata::waits).
inline constexpr llvm::StringLiteral scratchAttribute = "cpu.scratch_bytes";
inline constexpr llvm::StringLiteral waitsAttribute = "cpu.waits";

} // namespace nacre::cpu
