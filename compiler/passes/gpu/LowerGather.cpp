// Gathers: the source lies in shared memory, and every thread reads what its indices name; those at one distance have a
// way of their own (DistanceGather.h). Histograms: counters in shared memory, one atomic for each element.
#include "compiler/passes/gpu/DistanceGather.h"
#include "compiler/passes/gpu/Exchange.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

// Elements lie at their packed coordinates: axes are padded to powers of two.
int64_t nacre::gpu::gatherScratch(tile::GatherOp op) {
  Type type = op.getSource().getType();
  return (int64_t(1) << layoutOf(type).outputBits()) * Lowering::byteSize(getElementTypeOrSelf(type));
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
  barrierBefore(op);
  Value base = scratch(op);

  SmallVector<unsigned> flat{source.outputBits()};
  SharedAddresses writes(*this, base, source.reshape(flat), size);
  Value isWriter = bitsAreZero(*this, source.copies(Place::Lane), source.copies(Place::Warp));
  for (auto [reg, value] : llvm::enumerate(registers(op.getSource())))
    writeShared(*this, value, element, writes.at(source.apply(Position{.reg = static_cast<uint32_t>(reg)})), isWriter);
  if (!planted(PlantedBug::GatherBarrier))
    barrier();

  SmallVector<Value> results;
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
    Value address = offset ? byteOffset(base, LLVM::MulOp::create(b, offset, i32(size))) : base;
    results.push_back(readShared(*this, element, 1, address, isInside(resultType, reg)).front());
  }
  define(op, results);
  return success();
}

int64_t nacre::gpu::histogramScratch(tile::HistogramOp op) {
  return cast<RankedTensorType>(op.getType()).getNumElements() * Lowering::byteSize(getElementTypeOrSelf(op.getType()));
}

LogicalResult Lowering::lowerHistogram(tile::HistogramOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Type sourceType = op.getSource().getType(), count = type.getElementType();
  int64_t bins = type.getNumElements(), size = byteSize(count), threads = block.threads();
  barrierBefore(op);
  Value base = scratch(op);

  auto addressOf = [&](Value index) { return byteOffset(base, LLVM::MulOp::create(b, index, i32(size))); };
  auto clear = [&](Value index) {
    Value inside = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, index, i32(bins));
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

  Value holder = isHolder(layoutOf(sourceType));
  if (holder && planted(PlantedBug::HistogramOfCopies))
    holder = Value();
  for (auto [reg, value] : llvm::enumerate(registers(op.getSource()))) {
    Type wide = b.getI64Type();
    Value number = value.getType() == wide ? value : Value(LLVM::ZExtOp::create(b, wide, value));
    Value counted = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, number, constant(wide, bins));
    counted = both(both(counted, holder), isInside(sourceType, reg));
    if (op.getMask()) {
      ArrayRef<Value> mask = registers(op.getMask());
      counted = both(counted, mask.size() == 1 ? mask.front() : mask[reg]);
    }
    AtomicAccess access{tile::AtomicKind::AddI, tile::MemoryOrder::Relaxed, tile::MemoryScope::CTA,
                        /*wantsResult=*/false};
    machine.atomic(b, count, addressOf(LLVM::TruncOp::create(b, b.getI32Type(), number)), constant(count, 1), counted,
                   access);
  }
  barrier();

  SmallVector<Value> results;
  const LinearLayout &layout = layoutOf(type);
  for (uint32_t reg = 0; reg < layout.count(Place::Register); ++reg)
    results.push_back(readShared(*this, count, 1, addressOf(coordinate(layout, reg, 0)), isInside(type, reg)).front());
  define(op, results);
  return success();
}
