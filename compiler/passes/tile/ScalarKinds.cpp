// See ScalarKinds.h.
#include "compiler/passes/tile/ScalarKinds.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/language/meaning/Type.h"

using nacre::ScalarKind;

static ScalarKind kindOf(mlir::Type element, bool isSigned) {
  if (mlir::isa<nacre::tile::Float8E4B15Type>(element))
    return ScalarKind::Float8E4B15;
  if (mlir::isa<mlir::Float8E4M3FNType>(element))
    return ScalarKind::Float8E4NV;
  if (mlir::isa<mlir::Float8E5M2Type>(element))
    return ScalarKind::Float8E5;
  if (mlir::isa<mlir::Float8E4M3FNUZType>(element))
    return ScalarKind::Float8E4B8;
  if (mlir::isa<mlir::Float8E5M2FNUZType>(element))
    return ScalarKind::Float8E5B16;
  if (element.isBF16())
    return ScalarKind::BFloat16;
  if (element.isF16())
    return ScalarKind::Float16;
  if (element.isF32())
    return ScalarKind::Float32;
  if (element.isF64())
    return ScalarKind::Float64;
  if (element.isInteger(1))
    return ScalarKind::Int1;
  if (mlir::isa<nacre::tile::PointerType>(element))
    return ScalarKind::UInt64;
  switch (element.getIntOrFloatBitWidth()) {
  case 8:
    return isSigned ? ScalarKind::Int8 : ScalarKind::UInt8;
  case 16:
    return isSigned ? ScalarKind::Int16 : ScalarKind::UInt16;
  case 32:
    return isSigned ? ScalarKind::Int32 : ScalarKind::UInt32;
  default:
    return isSigned ? ScalarKind::Int64 : ScalarKind::UInt64;
  }
}

uint8_t nacre::scalarKindOf(mlir::Type element, bool isSigned) {
  return static_cast<uint8_t>(kindOf(element, isSigned));
}
