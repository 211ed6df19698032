// The tile dialect's C++ face: types, enumerations, operations.
#pragma once

#include "compiler/ir/tile/KernelAttributes.h"
#include "compiler/ir/tile/ToldKind.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nacre::tile {
bool isScalarType(mlir::Type type);  // a number of the language (signless integer, float) or a pointer
bool isTileType(mlir::Type type);    // a ranked, static tensor of scalars, of rank 1 or more, neither empty nor huge
bool isPointerLike(mlir::Type type); // a pointer or a tile of pointers
bool isIntegerLike(mlir::Type type); // an integer or a tile of integers
bool isMaskLike(mlir::Type type);    // an i1 or a tile of i1
bool isFloatLike(mlir::Type type);   // a float or a tile of floats, fp8 of every kind included

// The shape of a tile; empty for a scalar.
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);
// `type`'s shape and encoding with other elements: a tile of `element`, or `element` itself for a scalar.
mlir::Type withElement(mlir::Type type, mlir::Type element);

// Whether the operation, or one inside it, may write memory, or stands for an order that accesses must keep (a barrier,
// a print, a volatile load): no load may be moved past it. The operations' own effects say so, and nothing else.
bool writesMemory(mlir::Operation *op);

// What tile.assume acts on: it is no memory, so an assumption orders no access, and is still not removed.
struct Assumptions : mlir::SideEffects::Resource::Base<Assumptions> {
  llvm::StringRef getName() final { return "assumptions"; }
};
} // namespace nacre::tile

#include "compiler/ir/tile/TileDialect.h.inc"
#include "compiler/ir/tile/TileEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/tile/TileTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/tile/TileAttributes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/tile/Tile.h.inc"

namespace nacre::tile {
// Whether an atomic of this kind has a meaning for elements of the value; reports it otherwise.
mlir::LogicalResult verifyAtomicKind(mlir::Operation *op, AtomicKind kind, mlir::Type value);
} // namespace nacre::tile
