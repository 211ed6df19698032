// See DescribeAccesses.h.
#include "compiler/passes/gpu/DescribeAccesses.h"
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/support/PlantedBugs.h"
#include <bit>

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static int64_t powerOfTwoBelow(int64_t number) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, number))));
}

// The largest power of two such that groups of it never straddle groups of `number`.
static int64_t powerOfTwoIn(int64_t number, int64_t extent) {
  if (number >= extent) // one group
    return powerOfTwoBelow(extent) == extent ? extent : powerOfTwoBelow(extent & -extent);
  return number & -number;
}

// A tile that goes through shared memory, where pieces of 16 bytes of its rows lie together.
static AccessDescription describeBox(Operation *op, RankedTensorType type) {
  AccessDescription access;
  access.op = op;
  access.type = type;
  access.isStore = isa<StoreBoxOp>(op);
  access.elementBytes = Lowering::byteSize(type.getElementType());
  size_t rank = type.getShape().size();
  access.contiguity.assign(rank, 1);
  access.constancy.assign(rank, 1);
  access.wide.assign(rank, 1);
  access.contiguity.back() = type.getShape().back();
  access.wide.back() = std::min(type.getShape().back(), 16 / access.elementBytes);
  return access;
}

std::optional<AccessDescription> nacre::simt::describeAccess(Operation *op, AxisAnalysis &analysis) {
  if (auto load = dyn_cast<LoadBoxOp>(op))
    return describeBox(op, cast<RankedTensorType>(load.getType()));
  if (auto store = dyn_cast<StoreBoxOp>(op))
    return describeBox(op, cast<RankedTensorType>(store.getValue().getType()));
  AccessDescription access;
  access.op = op;
  Value pointer, mask, value;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    pointer = load.getPointer(), mask = load.getMask(), value = load.getResult();
  } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
    pointer = store.getPointer(), mask = store.getMask(), value = store.getValue();
    access.isStore = true;
  } else if (auto rmw = dyn_cast<tile::AtomicRmwOp>(op)) {
    pointer = rmw.getPointer(), value = rmw.getResult();
  } else if (auto cas = dyn_cast<tile::AtomicCasOp>(op)) {
    pointer = cas.getPointer(), value = cas.getResult();
  }
  if (!pointer || !isa<RankedTensorType>(value.getType()))
    return std::nullopt;
  bool isAtomic = !isa<tile::LoadOp, tile::StoreOp>(op);
  access.type = cast<RankedTensorType>(value.getType());
  access.elementBytes = Lowering::byteSize(access.type.getElementType());
  const AxisInfo &address = analysis.info(pointer);
  const AxisInfo *guard = mask ? &analysis.info(mask) : nullptr;
  for (auto [axis, extent] : llvm::enumerate(access.type.getShape())) {
    const AxisFacts &facts = address.axis(axis);
    int64_t run = powerOfTwoIn(facts.contiguity, extent);
    access.contiguity.push_back(run);
    access.constancy.push_back(powerOfTwoIn(facts.constancy, extent));
    int64_t count = isAtomic ? 1 : std::min(run, 16 / access.elementBytes);
    if (guard && !planted(PlantedBug::VectorUnderMask))
      count = std::min(count, powerOfTwoIn(guard->axis(axis).constancy, extent));
    if (!planted(PlantedBug::VectorIntoPad))
      count = std::min<int64_t>(count, extent & -extent); // padding begins at a whole access
    while (count > 1 && address.divisibilityAt(axis, count) % (count * access.elementBytes) != 0)
      count /= 2;
    access.wide.push_back(std::max<int64_t>(1, count));
  }
  return access;
}

AccessDescription::Vector AccessDescription::vectorIn(const LinearLayout &layout) const {
  Vector best;
  for (unsigned axis = 0; axis < wide.size(); ++axis) {
    int64_t count = std::min<int64_t>(wide[axis], layout.contiguity(axis));
    if (count > best.count)
      best = {axis, count};
  }
  return best;
}
