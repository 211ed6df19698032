#include "compiler/passes/gpu/Scratch.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "compiler/passes/gpu/DistanceGather.h"
#include "compiler/passes/gpu/Exchange.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static int64_t countOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getNumElements() : 1;
}

// All elements of a tile, or the one of a scalar.
static int64_t sizeOf(Value value) {
  return llvm::alignTo(countOf(value) * Lowering::byteSize(getElementTypeOrSelf(value.getType())), 16);
}

// The most of them that lie in memory at once.
static int64_t sizeOfPart(Value value) {
  int64_t bytes = Lowering::byteSize(getElementTypeOrSelf(value.getType()));
  return llvm::alignTo(elementsAtOnce(countOf(value), bytes) * bytes, 16);
}

// What one thread read or found goes from the threads that act to those that hold copies.
static int64_t sharedBytes(Value old) {
  if (old.use_empty())
    return 0;
  bool hasCopies = true;
  if (isa<RankedTensorType>(old.getType()))
    hasCopies =
        layoutOf(old).copies(Place::Lane) || layoutOf(old).copies(Place::Warp) || layoutOf(old).copies(Place::Block);
  return hasCopies ? sizeOfPart(old) : 0;
}

// ---- What each operation uses

template <typename Op> static ScratchUse scratchOfAtomic(Op op) { return {sharedBytes(op.getResult())}; }
static ScratchUse scratchOfLoad(tile::LoadOp op) { return {op.getIsVolatile() ? sharedBytes(op.getResult()) : 0}; }
static ScratchUse scratchOfDot(tile::DotOp op) { return {sizeOf(op.getA()) + sizeOf(op.getB())}; }
template <typename Op> static ScratchUse scratchOfScalar(Op op) { return {sizeOf(op.getResult())}; }
static ScratchUse scratchOfSplit(tile::SplitOp op) {
  return isShapeOperation(op) ? ScratchUse() : ScratchUse{sizeOf(op.getSource())}; // a pair
}
template <typename Op> static ScratchUse scratchOfRearrangement(Op op) {
  return isShapeOperation(op) ? ScratchUse() : ScratchUse{sizeOfPart(op.getResult())};
}

template <typename Op> static ScratchUse scratchOfPacks(Op op) {
  if (runsOnRegisters(op))
    return {};
  int64_t bytes = 0;
  for (Value value : op->getOperands())
    bytes += sizeOf(value);
  for (Value value : op->getResults())
    bytes += sizeOf(value);
  return {bytes};
}

static ScratchUse scratchOfReduce(tile::ReduceOp op) { return {reduceScratch(op)}; }
static ScratchUse scratchOfScan(tile::ScanOp op) { return {scanScratch(op)}; }
static ScratchUse scratchOfHistogram(tile::HistogramOp op) { return {histogramScratch(op)}; }
static ScratchUse scratchOfGather(tile::GatherOp op) {
  if (std::optional<DistanceGather> atDistance = matchDistanceGather(op))
    return {atDistance->scratchBytes(getElementTypeOrSelf(op.getType())), true, /*mayBeIdle=*/true};
  return {gatherScratch(op)};
}

static ScratchUse scratchOfConvert(ConvertOp op) {
  Type element = getElementTypeOrSelf(op.getType());
  ClusterConversion plan = planFor(element, layoutOf(op.getSource()), layoutOf(op.getResult()));
  return {static_cast<int64_t>(plan.scratchBytes(llvm::Log2_64(Lowering::byteSize(element)))), !plan.memory.withinWarp};
}

namespace {
template <typename Op, ScratchUse (*use)(Op)>
struct ScratchRule : ScratchOpInterface::ExternalModel<ScratchRule<Op, use>, Op> {
  ScratchUse scratch(Operation *op) const { return use(cast<Op>(op)); }
};
} // namespace

template <typename Op, ScratchUse (*use)(Op)> static void attach(MLIRContext *context) {
  Op::template attachInterface<ScratchRule<Op, use>>(*context);
}

void nacre::simt::registerScratchRules(DialectRegistry &registry) {
  registry.insert<SimtDialect>();
  registry.addExtension(+[](MLIRContext *context, SimtDialect *) { // it has loaded the tile dialect
    attach<tile::AtomicRmwOp, scratchOfAtomic>(context);
    attach<tile::AtomicCasOp, scratchOfAtomic>(context);
    attach<tile::LoadOp, scratchOfLoad>(context);
    attach<tile::DotOp, scratchOfDot>(context);
    attach<tile::ClockOp, scratchOfScalar>(context);
    attach<tile::ExtractOp, scratchOfScalar>(context);
    attach<tile::SplitOp, scratchOfSplit>(context);
    attach<tile::ReshapeOp, scratchOfRearrangement>(context);
    attach<tile::ConcatenateOp, scratchOfRearrangement>(context);
    attach<tile::MapOp, scratchOfPacks>(context);
    attach<tile::InlineAsmOp, scratchOfPacks>(context);
    attach<tile::ReduceOp, scratchOfReduce>(context);
    attach<tile::ScanOp, scratchOfScan>(context);
    attach<tile::GatherOp, scratchOfGather>(context);
    attach<tile::HistogramOp, scratchOfHistogram>(context);
    attach<ConvertOp, scratchOfConvert>(context);
  });
}

ScratchUse nacre::simt::scratchOf(Operation *op) {
  auto rule = dyn_cast<ScratchOpInterface>(op);
  assert((rule || !isa<ConvertOp>(op)) && "the pass depends on registerScratchRules");
  return rule ? rule.scratch() : ScratchUse();
}
