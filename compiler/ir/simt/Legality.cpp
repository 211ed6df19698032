// The verifier of layouts: what every pass after assign-layouts may rely on.
#include "compiler/ir/simt/ShapeLayouts.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// A tile without a layout, or with one of another shape, or one that leaves elements out.
static LogicalResult verifyTile(Operation *op, Type type, const BlockShape &block) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  auto encoding = dyn_cast_or_null<LayoutAttr>(tensor.getEncoding());
  if (!encoding)
    return op->emitOpError("has a tile without a layout: ") << type;
  const LinearLayout &layout = encoding.getValue();
  if (LinearLayout::paddedBits(tensor.getShape()) != SmallVector<unsigned>(layout.axisBits()))
    return op->emitOpError("has a tile whose layout is of another shape: ") << type;
  if (!layout.isSurjective())
    return op->emitOpError("has a tile whose layout leaves elements out: ") << type;
  if (layout.count(Place::Lane) != block.lanes || layout.count(Place::Warp) != block.warps ||
      layout.count(Place::Block) != block.ctas)
    return op->emitOpError("has a tile whose layout is for other threads: ") << type;
  return success();
}

// Operands and results that have to be in one layout.
static SmallVector<Value> valuesInOneLayout(Operation *op) {
  SmallVector<Value> values;
  if (isElementwise(op) || isa<tile::ScanOp, tile::LoadOp, tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op) ||
      isa<tile::CheckAccessOp>(op)) {
    llvm::append_range(values, op->getOperands());
    llvm::append_range(values, op->getResults());
  } else if (isa<tile::MapOp, tile::InlineAsmOp>(op) && runsOnRegisters(op)) {
    llvm::append_range(values, op->getOperands());
    llvm::append_range(values, op->getResults());
  } else if (isa<tile::ReduceOp, tile::HistogramOp>(op)) {
    llvm::append_range(values, op->getOperands());
  } else if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    values = {gather.getIndex(), gather.getResult()};
  } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
    values = {dot.getAccumulator(), dot.getResult()};
  }
  llvm::erase_if(values, [](Value value) { return !isa<RankedTensorType>(value.getType()); });
  return values;
}

static LogicalResult verifyOperation(Operation *op, const BlockShape &block) {
  for (Type type : op->getOperandTypes())
    if (failed(verifyTile(op, type, block)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(verifyTile(op, type, block)))
      return failure();
  SmallVector<Value> equal = valuesInOneLayout(op);
  for (Value value : equal)
    if (layoutOf(value) != layoutOf(equal.front()))
      return op->emitOpError("needs its tiles in one layout, but has ")
             << equal.front().getType() << " and " << value.getType();
  if (isShapeOperation(op))
    for (unsigned result = 0; result < op->getNumResults(); ++result)
      if (!cast<LayoutOpInterface>(op).sourceRegisters(result))
        return op->emitOpError("cannot be done in place: ")
               << op->getOperand(0).getType() << " to " << op->getResult(result).getType();
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    for (Value result : reduce.getResults())
      if (isa<RankedTensorType>(result.getType()) &&
          layoutOf(result) != *resultLayout(op, layoutOf(reduce.getOperands().front())))
        return op->emitOpError("needs the layout of its operands without the axis, not ") << result.getType();
  return success();
}

LogicalResult nacre::simt::verifyLayouts(func::FuncOp kernel) {
  BlockShape block = BlockShape::of(kernel->getParentOfType<ModuleOp>());
  WalkResult result = kernel.walk([&](Operation *op) {
    return failed(verifyOperation(op, block)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
