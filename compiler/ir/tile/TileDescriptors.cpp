// Verifiers, folds and effects of the operations on tensor descriptors.
#include "compiler/ir/tile/Tile.h"

using namespace mlir;
using namespace nacre::tile;

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

LogicalResult DescriptorType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType block) {
  if (!isTileType(block) || isPointerLike(block) || block.getRank() > 5)
    return emitError() << "a descriptor's blocks are tiles of numbers with at most 5 axes, not " << block;
  return success();
}

LogicalResult MakeDescriptorOp::verify() {
  size_t rank = getType().getRank();
  if (getShape().size() != rank || getStrides().size() != rank - 1)
    return emitOpError("needs one extent an axis, and one stride an axis but the last");
  if (getBase().getType().getPointee() != getType().getElementType())
    return emitOpError("the base addresses ")
           << getBase().getType().getPointee() << ", the blocks hold " << getType().getElementType();
  if (getPadding() == Padding::Nan && !isFloatLike(getType().getElementType()))
    return emitOpError("only floats are padded with NaN");
  return success();
}

// ---- Fields

LogicalResult DescriptorBaseOp::verify() {
  if (getType().getPointee() != getDescriptor().getType().getElementType())
    return emitOpError("the result must address the blocks' elements");
  return success();
}

static LogicalResult verifyAxis(Operation *op, int64_t axis, int64_t axes) {
  if (axis < 0 || axis >= axes)
    return op->emitOpError("has no axis ") << axis;
  return success();
}
LogicalResult DescriptorExtentOp::verify() { return verifyAxis(*this, getAxis(), getDescriptor().getType().getRank()); }
LogicalResult DescriptorStrideOp::verify() {
  return verifyAxis(*this, getAxis(), getDescriptor().getType().getRank() - 1);
}

OpFoldResult DescriptorBaseOp::fold(FoldAdaptor) {
  auto made = getDescriptor().getDefiningOp<MakeDescriptorOp>();
  return made && made.getBase().getType() == getType() ? OpFoldResult(made.getBase()) : OpFoldResult();
}
OpFoldResult DescriptorExtentOp::fold(FoldAdaptor) {
  auto made = getDescriptor().getDefiningOp<MakeDescriptorOp>();
  return made ? OpFoldResult(made.getShape()[getAxis()]) : OpFoldResult();
}
OpFoldResult DescriptorStrideOp::fold(FoldAdaptor) {
  auto made = getDescriptor().getDefiningOp<MakeDescriptorOp>();
  return made ? OpFoldResult(made.getStrides()[getAxis()]) : OpFoldResult();
}

// ---- Accesses

// A whole block, at one offset an axis.
static LogicalResult verifyBlock(Operation *op, DescriptorType descriptor, ValueRange offsets, Type value) {
  if (static_cast<int64_t>(offsets.size()) != descriptor.getRank())
    return op->emitOpError("needs one offset an axis");
  if (shapeOf(value) != descriptor.getBlock().getShape() || getElementTypeOrSelf(value) != descriptor.getElementType())
    return op->emitOpError("the blocks are ") << descriptor.getBlock() << ", not " << value;
  return success();
}

// Rows of an array of two axes.
static LogicalResult verifyRows(Operation *op, DescriptorType descriptor, RankedTensorType rows, Type value) {
  ArrayRef<int64_t> block = descriptor.getBlock().getShape();
  if (block.size() != 2 || block[0] != 1)
    return op->emitOpError("needs blocks of one row, not ") << descriptor.getBlock();
  if (rows.getRank() != 1)
    return op->emitOpError("the rows must have one axis");
  SmallVector<int64_t> expected{rows.getShape()[0], block[1]};
  if (shapeOf(value) != ArrayRef<int64_t>(expected) || getElementTypeOrSelf(value) != descriptor.getElementType())
    return op->emitOpError("the value must have a row of ") << descriptor.getBlock() << " for each of the rows";
  return success();
}

static LogicalResult verifyPadding(Operation *op, Padding padding, Type value) {
  if (padding == Padding::Nan && !isFloatLike(value))
    return op->emitOpError("only floats are padded with NaN");
  return success();
}

LogicalResult DescriptorLoadOp::verify() {
  if (failed(verifyPadding(*this, getPadding(), getType())))
    return failure();
  return verifyBlock(*this, getDescriptor().getType(), getOffsets(), getType());
}
LogicalResult DescriptorStoreOp::verify() {
  return verifyBlock(*this, getDescriptor().getType(), getOffsets(), getValue().getType());
}
LogicalResult DescriptorReduceOp::verify() {
  if (getKind() == AtomicKind::Exchange)
    return emitOpError("has no old value to exchange for");
  if (failed(verifyAtomicKind(*this, getKind(), getValue().getType())))
    return failure();
  return verifyBlock(*this, getDescriptor().getType(), getOffsets(), getValue().getType());
}
LogicalResult DescriptorGatherOp::verify() {
  if (failed(verifyPadding(*this, getPadding(), getType())))
    return failure();
  return verifyRows(*this, getDescriptor().getType(), getRows().getType(), getType());
}
LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, getDescriptor().getType(), getRows().getType(), getValue().getType());
}

static void reads(Effects &effects) { effects.emplace_back(MemoryEffects::Read::get()); }
static void writes(Effects &effects) { effects.emplace_back(MemoryEffects::Write::get()); }
void DescriptorLoadOp::getEffects(Effects &effects) { reads(effects); }
void DescriptorGatherOp::getEffects(Effects &effects) { reads(effects); }
void DescriptorStoreOp::getEffects(Effects &effects) { writes(effects); }
void DescriptorScatterOp::getEffects(Effects &effects) { writes(effects); }
void DescriptorReduceOp::getEffects(Effects &effects) {
  reads(effects);
  writes(effects);
}
