// The gpu dialect's C++ face: the layout attribute, types, operations, and the names of its attributes on others.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"
#include "compiler/ir/tile/Tile.h"

#include "compiler/ir/gpu/GpuDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/gpu/GpuAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/gpu/GpuTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/gpu/Gpu.h.inc"

namespace nacre::gpu {

inline constexpr llvm::StringLiteral numWarpsAttribute = "gpu.num_warps";
inline constexpr llvm::StringLiteral lanesAttribute = "gpu.lanes";
inline constexpr llvm::StringLiteral vectorAttribute = "gpu.vector";
inline constexpr llvm::StringLiteral scratchAttribute = "gpu.scratch";
inline constexpr llvm::StringLiteral offsetAttribute = "gpu.offset";
inline constexpr llvm::StringLiteral orderedAttribute = "gpu.ordered";
inline constexpr llvm::StringLiteral sharedAttribute = "gpu.shared";
inline constexpr llvm::StringLiteral planAttribute = "gpu.plan";
inline constexpr llvm::StringLiteral recipeAttribute = "gpu.recipe";
inline constexpr llvm::StringLiteral pointersAttribute = "gpu.pointers";

// Of an element in memory: i1 takes a byte, a pointer eight.
int64_t elementBytes(mlir::Type element);

// The threads of a block, both powers of two.
struct BlockShape {
  int64_t warps = 4, lanes = 32;
  static BlockShape of(mlir::ModuleOp module);
  void attachTo(mlir::ModuleOp module) const;
  int64_t threads() const { return warps * lanes; }
};

// The layout of a tile that has one.
const LinearLayout &layoutOf(mlir::Type type);
inline const LinearLayout &layoutOf(mlir::Value value) { return layoutOf(value.getType()); }
// The tile's type in that layout.
mlir::RankedTensorType withLayout(mlir::Type type, const LinearLayout &layout);

// Whether every tile has a layout that covers it, and every operation's operands and results have the layouts that the
// operation asks for; reports the first that has not. What passes after assign-layouts may rely on.
mlir::LogicalResult verifyLayouts(mlir::func::FuncOp kernel);

} // namespace nacre::gpu
