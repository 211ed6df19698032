// The tile dialect's C++ face: types, enumerations, operations.
#pragma once

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
// `type`'s shape with other elements: a tile of `element`, or `element` itself for a scalar.
mlir::Type withElement(mlir::Type type, mlir::Type element);

// The unit attribute that marks a func.func as a kernel, and the i64 argument attribute for a known divisor.
inline constexpr llvm::StringLiteral kernelAttribute = "tile.kernel";
inline constexpr llvm::StringLiteral divisibilityAttribute = "tile.divisibility";
} // namespace nacre::tile

#include "compiler/ir/tile/TileDialect.h.inc"
#include "compiler/ir/tile/TileEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/tile/TileTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/tile/TileAttributes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/tile/Tile.h.inc"
