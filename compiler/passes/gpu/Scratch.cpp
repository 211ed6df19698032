#include "compiler/passes/gpu/Scratch.h"
#include "compiler/passes/gpu/DistanceGather.h"
#include "compiler/passes/gpu/Exchange.h"
#include "llvm/ADT/TypeSwitch.h"

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
    hasCopies = layoutOf(old).copies(Place::Lane) || layoutOf(old).copies(Place::Warp);
  return hasCopies ? sizeOfPart(old) : 0;
}

static int64_t bytesOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<tile::AtomicRmwOp, tile::AtomicCasOp>([](auto op) { return sharedBytes(op.getResult()); })
      .Case([](tile::ClockOp op) { return sizeOf(op.getResult()); })
      .Case([](tile::LoadOp op) -> int64_t { return op.getIsVolatile() ? sharedBytes(op.getResult()) : 0; })
      .Case([](tile::ExtractOp op) { return sizeOf(op.getResult()); })
      .Case([](tile::SplitOp op) { return sizeOf(op.getSource()); }) // a pair
      .Case<tile::ReshapeOp, tile::ConcatenateOp>([](auto op) { return sizeOfPart(op.getResult()); })
      .Case([](tile::DotOp op) { return sizeOf(op.getA()) + sizeOf(op.getB()); })
      .Case<tile::MapOp, tile::InlineAsmOp>([](auto op) -> int64_t {
        if (runsOnRegisters(op))
          return 0;
        int64_t bytes = 0;
        for (Value value : op->getOperands())
          bytes += sizeOf(value);
        for (Value value : op->getResults())
          bytes += sizeOf(value);
        return bytes;
      })
      .Case([](tile::ReduceOp op) { return reduceScratch(op); })
      .Case([](tile::ScanOp op) { return scanScratch(op); })
      .Case([](tile::GatherOp op) { return gatherScratch(op); })
      .Case([](tile::HistogramOp op) { return histogramScratch(op); })
      .Default([](Operation *) { return 0; });
}

ScratchUse nacre::simt::scratchOf(Operation *op) {
  if (isShapeOperation(op))
    return {};
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    Type element = getElementTypeOrSelf(convert.getType());
    Conversion plan = planFor(element, layoutOf(convert.getSource()), layoutOf(convert.getResult()));
    return {static_cast<int64_t>(plan.scratchBytes(llvm::Log2_64(Lowering::byteSize(element)))),
            !plan.memory.withinWarp};
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    if (std::optional<DistanceGather> atDistance = matchDistanceGather(gather))
      return {atDistance->scratchBytes(getElementTypeOrSelf(gather.getType())), true, /*mayBeIdle=*/true};
  return {bytesOf(op)};
}
