// The simt dialect's C++ face: the layout attribute, types, operations, and the names of its attributes on others.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"
#include "compiler/ir/simt/SimtInterfaces.h"
#include "compiler/ir/tile/Tile.h"

namespace nacre::simt {
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "shared memory"; }
};
struct AsyncSharedMemory : mlir::SideEffects::Resource::Base<AsyncSharedMemory> {
  llvm::StringRef getName() final { return "shared memory, through the async proxy"; }
};
} // namespace nacre::simt

#include "compiler/ir/simt/SimtDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/simt/SimtAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/simt/SimtTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/simt/Simt.h.inc"

namespace nacre::simt {

inline constexpr llvm::StringLiteral numWarpsAttribute = "simt.num_warps";
inline constexpr llvm::StringLiteral lanesAttribute = "simt.lanes";
inline constexpr llvm::StringLiteral numCtasAttribute = "simt.num_ctas";
inline constexpr llvm::StringLiteral vectorAttribute = "simt.vector";
inline constexpr llvm::StringLiteral scratchAttribute = "simt.scratch";
inline constexpr llvm::StringLiteral offsetAttribute = "simt.offset";
inline constexpr llvm::StringLiteral orderedAttribute = "simt.ordered";
inline constexpr llvm::StringLiteral sharedAttribute = "simt.shared";
inline constexpr llvm::StringLiteral planAttribute = "simt.plan";
inline constexpr llvm::StringLiteral recipeAttribute = "simt.recipe";
inline constexpr llvm::StringLiteral pointersAttribute = "simt.pointers";
inline constexpr llvm::StringLiteral togetherAttribute = "simt.together";
inline constexpr llvm::StringLiteral producerWarpsAttribute = "simt.producer_warps";

// Of an element in memory: i1 takes a byte, a pointer eight.
int64_t elementBytes(mlir::Type element);

// The threads of a block, and the blocks of the cluster that runs a program; all powers of two.
struct BlockShape {
  int64_t warps = 4, lanes = 32, ctas = 1;
  static BlockShape of(mlir::ModuleOp module);
  void attachTo(mlir::ModuleOp module) const;
  int64_t threads() const { return warps * lanes; }
};

// The warps of a block that do what stands in simt.producer, after those of the kernel; 0: there is none.
int64_t producerWarps(mlir::ModuleOp module);

// The layout of a tile that has one.
const LinearLayout &layoutOf(mlir::Type type);
inline const LinearLayout &layoutOf(mlir::Value value) { return layoutOf(value.getType()); }
// The tile's type in that layout.
mlir::RankedTensorType withLayout(mlir::Type type, const LinearLayout &layout);

// Whether every tile has a layout that covers it, and every operation's operands and results have the layouts that the
// operation asks for; reports the first that has not. What passes after assign-layouts may rely on.
mlir::LogicalResult verifyLayouts(mlir::func::FuncOp kernel);

} // namespace nacre::simt
