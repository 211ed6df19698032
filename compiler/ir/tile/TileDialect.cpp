// Registration of the dialect, its types and attributes, and the questions asked of types.
#include "compiler/ir/tile/Tile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nacre::tile;

#include "compiler/ir/tile/TileDialect.cpp.inc"
#include "compiler/ir/tile/TileEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/tile/TileTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/tile/TileAttributes.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/tile/TileAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/tile/Tile.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  return arith::ConstantOp::materialize(builder, value, type, location);
}

bool nacre::tile::isFloatLike(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType, Float8E4B15Type>(element);
}

bool nacre::tile::isScalarType(Type type) {
  return type.isSignlessInteger() || isa<FloatType, Float8E4B15Type, PointerType>(type);
}

bool nacre::tile::isTileType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getRank() >= 1 && isScalarType(tensor.getElementType());
}

bool nacre::tile::isPointerLike(Type type) { return isa<PointerType>(getElementTypeOrSelf(type)); }

ArrayRef<int64_t> nacre::tile::shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

Type nacre::tile::withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? RankedTensorType::get(tensor.getShape(), element) : element;
}
