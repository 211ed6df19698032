// Registration of the dialect, its types and attributes, and the questions asked of types.
#include "compiler/ir/tile/Tile.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nacre::tile;

// `, 3`, `, const`, or both: what differs from an ordinary pointer.
static ParseResult parsePointerQualifiers(AsmParser &parser, int &addressSpace, bool &isConst) {
  addressSpace = 1;
  isConst = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("const")))
      isConst = true;
    else if (parser.parseInteger(addressSpace))
      return failure();
  }
  return success();
}

static void printPointerQualifiers(AsmPrinter &printer, int addressSpace, bool isConst) {
  if (addressSpace != 1)
    printer << ", " << addressSpace;
  if (isConst)
    printer << ", const";
}

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

// The type itself of a scalar, the elements' of a tile; null for what is neither, as a vector or a tile of unknown
// shape.
static Type elementOf(Type type) {
  if (isTileType(type))
    return cast<RankedTensorType>(type).getElementType();
  return isScalarType(type) ? type : Type();
}

bool nacre::tile::isFloatLike(Type type) { return isa_and_nonnull<FloatType, Float8E4B15Type>(elementOf(type)); }

bool nacre::tile::isIntegerLike(Type type) { return isa_and_nonnull<IntegerType>(elementOf(type)); }

bool nacre::tile::isMaskLike(Type type) { return isIntegerLike(type) && elementOf(type).isInteger(1); }

bool nacre::tile::isScalarType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isa<PointerType, Float8E4B15Type, Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType,
             Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

bool nacre::tile::isTileType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getRank() < 1 || !isScalarType(tensor.getElementType()))
    return false;
  constexpr int64_t mostElements = int64_t(1) << 30; // far more than the language allows
  int64_t elements = 1;
  for (int64_t extent : tensor.getShape()) {
    if (extent < 1 || extent > mostElements / elements)
      return false;
    elements *= extent;
  }
  return true;
}

LogicalResult PointerType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Type pointee, int addressSpace,
                                  bool isConst) {
  if (!isScalarType(pointee))
    return emitError() << "a pointer addresses numbers or pointers, not " << pointee;
  return success();
}

bool nacre::tile::isPointerLike(Type type) { return isa_and_nonnull<PointerType>(elementOf(type)); }

ArrayRef<int64_t> nacre::tile::shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

Type nacre::tile::withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding()) : element;
}
