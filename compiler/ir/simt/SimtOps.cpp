// The operations of the simt dialect.
#include "compiler/ir/simt/Simt.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

#define GET_OP_CLASSES
#include "compiler/ir/simt/Simt.cpp.inc"

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  // There and back again, or on from somewhere between.
  if (auto before = getSource().getDefiningOp<ConvertOp>()) {
    if (before.getSource().getType() == getType())
      return before.getSource();
    getSourceMutable().assign(before.getSource());
    return getResult();
  }
  return {};
}

// ---- Tiles in shared memory

LogicalResult SlotOp::verify() {
  if (getResult().getType() != getRing().getType().withStages(1))
    return emitOpError("gives one stage of ") << getRing().getType() << ", not " << getResult().getType();
  return success();
}

SharedType PermuteOp::typeOf(SharedType source, ArrayRef<int32_t> order) {
  SmallVector<int64_t> shape;
  for (int32_t axis : order)
    shape.push_back(source.getShape()[axis]);
  LinearLayout layout = source.getLayout().getValue().permute(SmallVector<unsigned>(order.begin(), order.end()));
  return SharedType::get(source.getContext(), shape, source.getElementType(),
                         LayoutAttr::get(source.getContext(), layout), source.getStages());
}

LogicalResult PermuteOp::verify() {
  SmallVector<int32_t> sorted(getOrder());
  llvm::sort(sorted);
  for (auto [axis, number] : llvm::enumerate(sorted))
    if (number != static_cast<int32_t>(axis))
      return emitOpError("needs every axis once in its order");
  if (sorted.size() != getSource().getType().getShape().size())
    return emitOpError("needs every axis once in its order");
  if (SharedType wanted = typeOf(getSource().getType(), getOrder()); getResult().getType() != wanted)
    return emitOpError("gives ") << wanted << ", not " << getResult().getType();
  return success();
}

static LogicalResult verifyMove(Operation *op, RankedTensorType tile, SharedType shared) {
  if (shared.getStages() != 1)
    return op->emitOpError("needs one stage of a ring, not ") << shared;
  if (tile.getShape() != shared.getShape() || tile.getElementType() != shared.getElementType())
    return op->emitOpError("needs equal tiles, not ") << tile << " and " << shared;
  // A block reads what it has, and writes all of it.
  auto layout = dyn_cast_or_null<LayoutAttr>(tile.getEncoding());
  const LinearLayout &memory = shared.getLayout().getValue();
  if (layout && layout.getValue().isSplitOverBlocks() != memory.isSplitOverBlocks() &&
      (isa<WriteOp>(op) || memory.isSplitOverBlocks()))
    return op->emitOpError("needs tiles that blocks have the same parts of, not ") << tile << " and " << shared;
  return success();
}

LogicalResult WriteOp::verify() {
  return verifyMove(*this, cast<RankedTensorType>(getSource().getType()), getTarget().getType());
}

LogicalResult ReadOp::verify() { return verifyMove(*this, cast<RankedTensorType>(getType()), getSource().getType()); }

// ---- Products

static ArrayRef<int64_t> operandShape(Type type) {
  if (auto shared = dyn_cast<SharedType>(type))
    return shared.getShape();
  return cast<RankedTensorType>(type).getShape();
}

LogicalResult DotOp::verify() {
  ArrayRef<int64_t> a = operandShape(getA().getType()), b = operandShape(getB().getType());
  ArrayRef<int64_t> c = cast<RankedTensorType>(getType()).getShape();
  size_t rank = c.size();
  if (a.size() != rank || b.size() != rank || rank < 2)
    return emitOpError("needs tiles of equal rank, two at least");
  if (a[rank - 1] != b[rank - 2] || a[rank - 2] != c[rank - 2] || b[rank - 1] != c[rank - 1] ||
      a.drop_back(2) != c.drop_back(2) || b.drop_back(2) != c.drop_back(2))
    return emitOpError("has shapes that do not go together: ")
           << getA().getType() << ", " << getB().getType() << " and " << getType();
  for (Type type : {getA().getType(), getB().getType()})
    if (auto shared = dyn_cast<SharedType>(type); shared && shared.getStages() != 1)
      return emitOpError("needs one stage of a ring, not ") << type;
  return success();
}

void DotOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand *operand : {&getAMutable(), &getBMutable()})
    if (isa<SharedType>(operand->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), operand, AsyncSharedMemory::get());
  if (getAsync())
    effects.emplace_back(MemoryEffects::Write::get()); // which group it is, is counted from here
}
