// See Clusters.h.
#include "compiler/passes/gpu/Clusters.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "compiler/passes/gpu/Exchange.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static bool isSplit(Value value) {
  return isa<RankedTensorType>(value.getType()) && layoutOf(value).isSplitOverBlocks();
}

// What one thread of the cluster has read or done goes to all that hold copies.
static bool hasCopiesInOtherBlocks(Value result) {
  if (result.use_empty())
    return false;
  return !isa<RankedTensorType>(result.getType()) || layoutOf(result).copies(Place::Block);
}

LinearLayout nacre::simt::planningLayout(const LinearLayout &layout, unsigned axis) {
  if (!layout.isSplitOverBlocks(axis))
    if (std::optional<LinearLayout> own = layout.ofOneBlock())
      return *own;
  return layout.withBlocksAsWarps();
}

static bool combinesAcrossBlocks(const LinearLayout &layout, unsigned axis) {
  return layout.isSplitOverBlocks(axis) || !layout.ofOneBlock();
}

// Whether an index may lead to an element that only another block has.
static bool gathersAcrossBlocks(tile::GatherOp op) {
  const LinearLayout &source = layoutOf(op.getSource()), &index = layoutOf(op.getIndex());
  for (auto [from, to] : llvm::zip_equal(source.basesOf(Place::Block), index.basesOf(Place::Block)))
    if (from && (from & source.maskOf(op.getAxis()) || source.unpack(from) != index.unpack(to)))
      return true;
  return false;
}

bool nacre::simt::reachesAcrossBlocks(Operation *op, int64_t ctas) {
  if (ctas == 1 || isOfElements(op))
    return false;
  if (auto convert = dyn_cast<ConvertOp>(op))
    return planFor(getElementTypeOrSelf(convert.getType()), layoutOf(convert.getSource()), layoutOf(convert))
        .reachesAcrossBlocks;
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return combinesAcrossBlocks(layoutOf(reduce.getOperands().front()), reduce.getAxis());
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    return combinesAcrossBlocks(layoutOf(scan.getOperands().front()), scan.getAxis());
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return gathersAcrossBlocks(gather);
  if (isa<tile::AtomicRmwOp, tile::AtomicCasOp, tile::ClockOp>(op))
    return hasCopiesInOtherBlocks(op->getResult(0));
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return load.getIsVolatile() && hasCopiesInOtherBlocks(load.getResult());
  // Functions of single elements are called once for each pack, whatever they do.
  if (isa<tile::MapOp, tile::InlineAsmOp>(op))
    return !isElementwise(op) && !runsOnRegisters(op);
  // A function of what all blocks have needs no other block.
  if (isa<tile::ExtractOp, tile::HistogramOp, tile::DotOp>(op) ||
      (isa<tile::SplitOp, tile::ReshapeOp, tile::ConcatenateOp>(op) && !isShapeOperation(op)))
    return llvm::any_of(op->getOperands(), isSplit);
  return false;
}

// ---- Parts

LinearLayout nacre::simt::partsOfOperand(const LinearLayout &result, unsigned operand) {
  LinearLayout parts = result.parts();
  unsigned k = operand == 0 ? parts.rank() - 1 : parts.rank() - 2; // in the place of the other operand's axis
  SmallVector<unsigned> taken(parts.axisBits());
  taken[k] = 0;
  LinearLayout own(taken);
  for (uint32_t basis : parts.basesOf(Place::Block)) {
    SmallVector<uint32_t> coordinates = parts.unpack(basis);
    coordinates[k] = 0;
    own.add(Place::Block, own.pack(coordinates));
  }
  return own;
}

SmallVector<unsigned> nacre::simt::ownBits(ArrayRef<unsigned> axisBits, const LinearLayout &parts) {
  SmallVector<unsigned> own(axisBits);
  for (unsigned axis = 0; axis < own.size(); ++axis)
    own[axis] -= parts.axisBits(axis);
  return own;
}

LinearLayout nacre::simt::blockParts(ArrayRef<unsigned> bits, ArrayRef<unsigned> axes, unsigned fastest, int64_t count,
                                     int64_t ctas) {
  SmallVector<unsigned> left(bits), taken(bits.size());
  left[fastest] -= std::min(left[fastest], llvm::Log2_64(count));
  SmallVector<std::pair<unsigned, uint32_t>> bases;
  for (unsigned bit = 0; bit < llvm::Log2_64(ctas); ++bit) {
    const unsigned *axis = llvm::find_if(axes, [&](unsigned axis) { return left[axis] > taken[axis]; });
    if (axis == axes.end())
      break;
    bases.emplace_back(*axis, uint32_t(1) << taken[*axis]++);
  }
  LinearLayout parts(taken);
  for (auto [axis, basis] : bases)
    parts.add(Place::Block, axis, basis);
  while (parts.bits(Place::Block) < llvm::Log2_64(ctas))
    parts.add(Place::Block, 0);
  return parts;
}
