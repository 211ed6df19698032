// See CandidateLayouts.h.
#include "compiler/passes/gpu/CandidateLayouts.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "compiler/passes/gpu/Clusters.h"
#include <bit>
#include <numeric>
#include <set>

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static LinearLayout spreadOverBlock(ArrayRef<unsigned> bits, ArrayRef<unsigned> order, int64_t count, bool warpsOutside,
                                    const BlockShape &block);

LinearLayout nacre::simt::spreadOverParts(ArrayRef<unsigned> bits, const LinearLayout &parts, ArrayRef<unsigned> order,
                                          int64_t count, bool warpsOutside, const BlockShape &block) {
  return spreadOverBlock(ownBits(bits, parts), order, count, warpsOutside, block).product(parts);
}

LinearLayout nacre::simt::spreadLayout(ArrayRef<int64_t> shape, ArrayRef<unsigned> order, int64_t count,
                                       bool warpsOutside, const BlockShape &block) {
  SmallVector<unsigned> bits = LinearLayout::paddedBits(shape);
  if (block.ctas == 1)
    return spreadOverBlock(bits, order, count, warpsOutside, block);
  LinearLayout parts = blockParts(bits, llvm::to_vector(llvm::reverse(order)), order.front(), count, block.ctas);
  return spreadOverParts(bits, parts, order, count, warpsOutside, block);
}

static LinearLayout spreadOverBlock(ArrayRef<unsigned> bits, ArrayRef<unsigned> order, int64_t count, bool warpsOutside,
                                    const BlockShape &block) {
  LinearLayout layout(bits);
  SmallVector<unsigned> next(bits.size()); // the lowest bit of each axis that is not given out
  auto take = [&](Place place, unsigned axis, unsigned most) {
    unsigned taken = 0;
    for (; taken < most && next[axis] < bits[axis]; ++taken)
      layout.add(place, axis, uint32_t(1) << next[axis]++);
    return taken;
  };
  take(Place::Register, order.front(), llvm::Log2_64(count));
  auto spread = [&](Place place, unsigned left, bool backwards) {
    for (unsigned i = 0; i < order.size(); ++i)
      left -= take(place, order[backwards ? order.size() - 1 - i : i], left);
    for (; left > 0; --left)
      layout.add(place, 0);
  };
  spread(Place::Lane, llvm::Log2_64(block.lanes), false);
  // Warps from the top of an axis, so that what one warp has stays together.
  if (warpsOutside) {
    unsigned left = llvm::Log2_64(block.warps);
    SmallVector<unsigned> top(bits.begin(), bits.end());
    SmallVector<std::pair<unsigned, uint32_t>> bases;
    for (unsigned axis : llvm::reverse(order))
      while (left > 0 && top[axis] > next[axis]) {
        bases.emplace_back(axis, uint32_t(1) << --top[axis]);
        --left;
      }
    for (auto [axis, basis] : llvm::reverse(bases))
      layout.add(Place::Warp, axis, basis);
    for (; left > 0; --left)
      layout.add(Place::Warp, 0);
    for (unsigned axis : order)
      while (next[axis] < top[axis])
        layout.add(Place::Register, axis, uint32_t(1) << next[axis]++);
    return layout;
  }
  spread(Place::Warp, llvm::Log2_64(block.warps), false);
  for (unsigned axis : order)
    take(Place::Register, axis, 32);
  return layout;
}

static int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (unsigned bits : LinearLayout::paddedBits(shape))
    elements <<= bits;
  return elements;
}

// Whether a load is for nothing but products, through shared memory or in layouts of their own. Its threads then best
// take one piece after the other, all warps side by side: where these go differs by constants.
static bool isOnlyMultiplied(Operation *op) {
  if (!isa<tile::LoadOp, LoadBoxOp>(op))
    return false;
  SmallVector<Value> open{op->getResult(0)};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      if (auto permute = dyn_cast<tile::PermuteOp>(use.getOwner()))
        open.push_back(permute.getResult());
      else if (!isa<tile::DotOp>(use.getOwner()) || use.getOperandNumber() > 1)
        return false;
    }
  return true;
}

// The parts that the product wants of what is loaded for it, maybe with its axes exchanged.
static std::optional<LinearLayout> partsForProducts(Operation *op) {
  Value value = op->getResult(0);
  SmallVector<unsigned> order(cast<RankedTensorType>(value.getType()).getRank()); // its axes, as the product has them
  std::iota(order.begin(), order.end(), 0);
  while (!value.use_empty()) {
    OpOperand &use = *value.use_begin();
    if (auto permute = dyn_cast<tile::PermuteOp>(use.getOwner())) {
      order = llvm::map_to_vector(permute.getOrder(), [&](int32_t axis) { return order[axis]; });
      value = permute.getResult();
      continue;
    }
    auto plan = use.getOwner()->getAttrOfType<DotPlanAttr>(planAttribute);
    if (!plan || use.getOperandNumber() > 1)
      return std::nullopt;
    SmallVector<unsigned> back(order.size());
    for (auto [axis, source] : llvm::enumerate(order))
      back[source] = axis;
    return partsOfOperand(plan.getResult().getValue(), use.getOperandNumber()).permute(back);
  }
  return std::nullopt;
}

// The parts that the blocks of a cluster may have of an access's tile: any axis may be the one that they share out, the
// slowest one preferred. What is for products alone is shared out as these ask for it.
static SmallVector<LinearLayout> partsToChooseFrom(Operation *op, ArrayRef<unsigned> bits, ArrayRef<unsigned> order,
                                                   int64_t count, const BlockShape &block) {
  if (isOnlyMultiplied(op))
    if (std::optional<LinearLayout> parts = partsForProducts(op))
      return {*parts};
  SmallVector<LinearLayout> choice;
  SmallVector<unsigned> slowest = llvm::to_vector(llvm::reverse(order));
  for (unsigned first : slowest) {
    SmallVector<unsigned> axes{first};
    llvm::copy_if(slowest, std::back_inserter(axes), [&](unsigned axis) { return axis != first; });
    LinearLayout parts = blockParts(bits, axes, order.front(), count, block.ctas);
    if (!llvm::is_contained(choice, parts))
      choice.push_back(std::move(parts));
  }
  return choice;
}

// Whether an access takes masked elements one by one: rows that begin anywhere, and so end anywhere. Warps side by side
// then have about as many elements each; those on top of each other would leave the last ones without any.
static bool endsAnywhere(Operation *op, int64_t count) {
  auto load = dyn_cast<tile::LoadOp>(op);
  auto store = dyn_cast<tile::StoreOp>(op);
  return count == 1 && ((load && load.getMask()) || (store && store.getMask()));
}

SmallVector<LinearLayout> nacre::simt::candidatesFor(const AccessDescription &access, const BlockShape &block) {
  ArrayRef<int64_t> shape = access.type.getShape();
  // The axis with the longest runs first; the last axis among equals.
  SmallVector<unsigned> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  llvm::sort(order, [&](unsigned left, unsigned right) {
    return std::pair(access.contiguity[left], left) > std::pair(access.contiguity[right], right);
  });
  int64_t count = access.wide[order.front()];
  count = std::min(count, std::max<int64_t>(1, elementsOf(shape) / (block.threads() * block.ctas)));
  SmallVector<LinearLayout> candidates;
  auto add = [&](LinearLayout layout) {
    if (!llvm::is_contained(candidates, layout))
      candidates.push_back(std::move(layout));
  };
  bool warpsOutside = !isOnlyMultiplied(access.op) && !endsAnywhere(access.op, count);
  if (block.ctas == 1) {
    add(spreadLayout(shape, order, count, warpsOutside, block));
    add(spreadLayout(shape, order, count, !warpsOutside, block));
    return candidates;
  }
  SmallVector<unsigned> bits = LinearLayout::paddedBits(shape);
  for (const LinearLayout &parts : partsToChooseFrom(access.op, bits, order, count, block))
    for (bool outside : {warpsOutside, !warpsOutside})
      add(spreadOverParts(bits, parts, order, count, outside, block));
  return candidates;
}

LinearLayout nacre::simt::defaultLayout(RankedTensorType type, const BlockShape &block, int64_t pack) {
  SmallVector<unsigned> order(type.getRank());
  std::iota(order.rbegin(), order.rend(), 0);
  // A pack may go on from the last axis to those before it.
  LinearLayout layout(LinearLayout::paddedBits(type.getShape()));
  unsigned lastBits = layout.axisBits(layout.rank() - 1), packBits = llvm::Log2_64(pack);
  if (packBits <= lastBits || layout.rank() == 1)
    return spreadLayout(type.getShape(), order, pack, /*warpsOutside=*/true, block);
  LinearLayout flat = spreadLayout({int64_t(1) << layout.outputBits()}, {0}, pack, true, block);
  return flat.reshape(layout.axisBits());
}

double nacre::simt::accessCost(const AccessDescription &access, const LinearLayout &layout) {
  AccessDescription::Vector vector = access.vectorIn(layout);
  // What several registers have from one address is loaded once.
  std::set<std::vector<uint32_t>> addresses;
  for (uint32_t reg = 0; reg < layout.count(Place::Register); ++reg) {
    uint32_t packed = layout.apply(Position{.reg = reg});
    std::vector<uint32_t> place;
    for (unsigned axis = 0; axis < layout.rank(); ++axis)
      place.push_back(layout.coordinate(packed, axis) / (access.isStore ? 1 : access.constancy[axis]));
    addresses.insert(place);
  }
  double instructions = static_cast<double>(addresses.size()) / vector.count;
  // The memory sectors that the lanes of one instruction touch: a lane's element, by axis, is at an offset within its
  // run of neighbours, and runs are apart from each other.
  std::set<std::vector<uint32_t>> sectors, elements;
  for (uint32_t lane = 0; lane < layout.count(Place::Lane); ++lane) {
    uint32_t packed = layout.apply(Position{.lane = lane});
    std::vector<uint32_t> place, sector;
    for (unsigned axis = 0; axis < layout.rank(); ++axis) {
      uint32_t at = layout.coordinate(packed, axis) / access.constancy[axis];
      place.push_back(at);
      uint32_t run = access.contiguity[axis];
      sector.push_back(at / run);
      sector.push_back(run > 1 ? at % run * access.elementBytes / 32 : 0);
    }
    elements.insert(place);
    sectors.insert(sector);
  }
  double ideal = std::max(1.0, elements.size() * vector.count * access.elementBytes / 32.0);
  double excess = std::max(0.0, sectors.size() * std::max(1.0, vector.count * access.elementBytes / 32.0) - ideal);
  // Parts of sectors that are written go to the L2 one by one.
  double penalty = access.isStore ? 6 : 4;
  return layout.count(Place::Warp) * instructions * (1 + penalty * excess / 8);
}

double nacre::simt::reduceCost(const LinearLayout &layout, unsigned axis) {
  uint32_t mask = layout.maskOf(axis);
  auto along = [&](Place place) {
    return llvm::count_if(layout.basesOf(place), [&](uint32_t basis) { return basis & mask; });
  };
  double rows = layout.slice(axis).count(Place::Register), warps = layout.count(Place::Warp);
  double cost = layout.count(Place::Register) + 2.0 * rows * along(Place::Lane);
  if (along(Place::Warp))
    cost += 4 * rows + 30;
  if (along(Place::Block))
    cost += 16 * rows + 500;
  return warps * cost;
}

double nacre::simt::convertCost(const LinearLayout &from, const LinearLayout &to, int64_t elementBytes) {
  if (sourceRegisters(from, to, [](uint32_t packed) { return packed; }))
    return 0;
  double words = (from.count(Place::Register) + to.count(Place::Register)) * elementBytes / 4.0;
  // Between blocks all goes through the memory of one, and the cluster meets.
  if (from.isSplitOverBlocks() && from.basesOf(Place::Block) != to.basesOf(Place::Block))
    return from.count(Place::Warp) * (8 * words + 500.0);
  return from.count(Place::Warp) * (words + 30.0);
}
