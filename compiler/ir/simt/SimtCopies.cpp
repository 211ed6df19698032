// The operations of SimtCopies.td: verifiers.
#include "compiler/ir/simt/Simt.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static LogicalResult verifyBox(Operation *op, TensorMapType map, OperandRange coordinates, ArrayRef<int64_t> shape,
                               Type element) {
  if (static_cast<int64_t>(coordinates.size()) != map.getRank())
    return op->emitOpError("needs one coordinate an axis");
  if (shape != map.getBlock().getShape() || element != map.getElementType())
    return op->emitOpError("needs tiles like those of the map, ") << map.getBlock();
  return success();
}

static LogicalResult verifyBox(Operation *op, TensorMapType map, OperandRange coordinates, Type tile) {
  auto tensor = cast<RankedTensorType>(tile);
  return verifyBox(op, map, coordinates, tensor.getShape(), tensor.getElementType());
}

static LogicalResult verifyBox(Operation *op, TensorMapType map, OperandRange coordinates, SharedType tile) {
  if (tile.getStages() != 1)
    return op->emitOpError("needs one stage of a ring, not ") << tile;
  return verifyBox(op, map, coordinates, tile.getShape(), tile.getElementType());
}

LogicalResult LoadBoxOp::verify() { return verifyBox(*this, getMap().getType(), getCoordinates(), getType()); }
LogicalResult StoreBoxOp::verify() {
  return verifyBox(*this, getMap().getType(), getCoordinates(), getValue().getType());
}
LogicalResult CopyBoxOp::verify() {
  return verifyBox(*this, getMap().getType(), getCoordinates(), getTarget().getType());
}
LogicalResult CopyOutOp::verify() {
  return verifyBox(*this, getMap().getType(), getCoordinates(), getSource().getType());
}

LogicalResult CopyOp::verify() {
  auto pointers = cast<RankedTensorType>(getPointer().getType());
  auto pointer = dyn_cast<tile::PointerType>(pointers.getElementType());
  SharedType target = getTarget().getType();
  if (target.getStages() != 1)
    return emitOpError("needs one stage of a ring, not ") << target;
  if (!pointer || pointers.getShape() != target.getShape() || pointer.getPointee() != target.getElementType())
    return emitOpError("needs the addresses of the tile's elements, not ") << pointers;
  if (getMask() && cast<RankedTensorType>(getMask().getType()).getEncoding() != pointers.getEncoding())
    return emitOpError("needs the mask in the layout of the addresses");
  return success();
}

LogicalResult ProducerOp::verify() {
  if (getRegisters() && getRegisters()->size() != 2)
    return emitOpError("needs the producer's registers and the others'");
  return success();
}
