// Gathers: the source lies in shared memory, and every thread reads what its indices name; those at one distance have a
// way of their own (DistanceGather.h). Histograms: counters in shared memory, one atomic for each element.
#include "compiler/passes/gpu/DistanceGather.h"
#include "compiler/passes/gpu/Exchange.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// Elements lie at their packed coordinates: axes are padded to powers of two.
int64_t nacre::simt::gatherScratch(tile::GatherOp op) {
  Type type = op.getSource().getType();
  int64_t bytes = Lowering::byteSize(getElementTypeOrSelf(type));
  return elementsAtOnce(int64_t(1) << layoutOf(type).outputBits(), bytes) * bytes;
}

LogicalResult Lowering::lowerGather(tile::GatherOp op) {
  if (std::optional<DistanceGather> gather = matchDistanceGather(op)) {
    define(op, lowerDistanceGather(*this, op, *gather));
    return success();
  }
  auto sourceType = cast<RankedTensorType>(op.getSource().getType());
  Type element = sourceType.getElementType(), resultType = op.getType();
  const LinearLayout &source = layoutOf(sourceType), &result = layoutOf(resultType);
  int64_t size = byteSize(element);
  unsigned axis = op.getAxis();
  Value base = scratch(op);

  LinearLayout flat = source.reshape({source.outputBits()});
  SharedAddresses writes(*this, base, flat, size);
  uint32_t blockCopies = acrossBlocks ? source.copies(Place::Block) << source.bits(Place::Warp) : 0;
  Value isWriter = bitsAreZero(*this, source.copies(Place::Lane), source.copies(Place::Warp) | blockCopies);
  auto write = [&](ScratchPart part) {
    for (auto [number, value] : llvm::enumerate(registers(op.getSource()))) {
      auto reg = static_cast<uint32_t>(number);
      if (!part.count) {
        writeShared(*this, value, element, writes.at(source.apply(Position{.reg = reg})), isWriter);
        continue;
      }
      Value index = coordinate(flat, reg, 0), isHere = isOfPart(index, part);
      storeShared(value, base, element, index, both(isWriter, isHere));
    }
  };
  SmallVector<Value> offsets;
  for (auto [reg, indexValue] : llvm::enumerate(registers(op.getIndex()))) {
    Value offset;
    for (unsigned i = 0; i < source.rank(); ++i) {
      Value place = coordinate(result, reg, i);
      if (i == axis) {
        place = indexValue;
        unsigned width = place.getType().getIntOrFloatBitWidth();
        if (width > 32)
          place = LLVM::TruncOp::create(b, b.getI32Type(), place);
        else if (width < 32)
          place = LLVM::SExtOp::create(b, b.getI32Type(), place);
      }
      if (source.axisBits(i) == 0)
        continue;
      if (source.shiftOf(i))
        place = LLVM::ShlOp::create(b, place, i32(source.shiftOf(i)));
      offset = offset ? Value(LLVM::AddOp::create(b, offset, place)) : place;
    }
    offsets.push_back(offset ? offset : i32(0));
  }
  SmallVector<Value> results(offsets.size());
  for (auto [number, part] : llvm::enumerate(scratchParts(int64_t(1) << source.outputBits(), size))) {
    number ? barrier() : barrierBefore(op);
    write(part);
    if (!planted(PlantedBug::GatherBarrier))
      barrier();
    for (auto [reg, value] : llvm::enumerate(results)) {
      Value index = offsets[reg], isHere = isOfPart(index, part);
      value = loadShared(base, element, index, both(isInside(resultType, reg), isHere), value);
    }
  }
  define(op, results);
  return success();
}

int64_t nacre::simt::histogramScratch(tile::HistogramOp op) {
  int64_t bytes = Lowering::byteSize(getElementTypeOrSelf(op.getType()));
  return elementsAtOnce(cast<RankedTensorType>(op.getType()).getNumElements(), bytes) * bytes;
}

// Bins are cleared, counted and read; some after the others where there are too many for scratch memory.
LogicalResult Lowering::lowerHistogram(tile::HistogramOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Type sourceType = op.getSource().getType(), count = type.getElementType();
  int64_t allBins = type.getNumElements(), size = byteSize(count), threads = block.threads();
  const LinearLayout &layout = layoutOf(type);
  Value base = scratch(op), holder = isScratchHolder(layoutOf(sourceType));
  if (holder && planted(PlantedBug::HistogramOfCopies))
    holder = Value();
  SmallVector<Value> results(layout.count(Place::Register));
  auto addressOf = [&](Value index) { return byteOffset(base, LLVM::MulOp::create(b, index, i32(size))); };

  for (auto [number, part] : llvm::enumerate(scratchParts(allBins, size))) {
    int64_t bins = part.count ? part.count : allBins;
    number ? barrier() : barrierBefore(op);
    auto clear = [&](Value index) {
      Value inside = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, index, i32(bins));
      if (acrossBlocks) // the first block's own
        inside = both(inside, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, blockRank(), i32(0)));
      writeShared(*this, constant(count, 0), count, addressOf(index), inside);
    };
    if (bins <= 4 * threads) {
      for (int64_t first = 0; first < bins; first += threads)
        clear(first ? Value(LLVM::AddOp::create(b, threadId(), i32(first))) : threadId());
    } else {
      auto loop = scf::ForOp::create(b, i32(0), i32(bins), i32(threads));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      clear(LLVM::AddOp::create(b, loop.getInductionVar(), threadId()));
    }
    barrier();

    for (auto [reg, value] : llvm::enumerate(registers(op.getSource()))) {
      Type wide = b.getI64Type();
      Value bin = value.getType() == wide ? value : Value(LLVM::ZExtOp::create(b, wide, value));
      if (part.first)
        bin = LLVM::SubOp::create(b, bin, constant(wide, part.first));
      Value counted = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, bin, constant(wide, bins));
      counted = both(both(counted, holder), isInside(sourceType, reg));
      if (op.getMask()) {
        ArrayRef<Value> mask = registers(op.getMask());
        counted = both(counted, mask.size() == 1 ? mask.front() : mask[reg]);
      }
      AtomicAccess access{tile::AtomicKind::AddI, tile::MemoryOrder::Relaxed,
                          acrossBlocks ? tile::MemoryScope::GPU : tile::MemoryScope::CTA, /*wantsResult=*/false};
      machine.atomic(b, count, addressOf(LLVM::TruncOp::create(b, b.getI32Type(), bin)), constant(count, 1), counted,
                     access);
    }
    barrier();

    for (auto [reg, value] : llvm::enumerate(results)) {
      Value index = coordinate(layout, reg, 0), isHere = isOfPart(index, part);
      value = loadShared(base, count, index, both(isInside(type, reg), isHere), value);
    }
  }
  define(op, results);
  return success();
}
