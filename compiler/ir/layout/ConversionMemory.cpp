// Conversions through shared memory.
//
// Within a warp: if both layouts give each warp the same elements, a warp uses a part of the scratch memory of its own,
// and offsets tell apart only what one warp holds. Rounds: a linear function of the coordinates that no thread's number
// changes splits the tile into parts of which every thread holds equally many registers on both sides, the same
// registers in all threads.
#include "compiler/ir/layout/Conversion.h"
#include "compiler/ir/layout/ConversionLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

namespace nacre {
namespace {

using Vectors = llvm::SmallVector<uint32_t>;

// The accesses of one side in one round: its registers whose elements belong to the round, by vectors.
llvm::SmallVector<MemoryPlan::Access> accesses(const DistinctLayout &side, const BitMatrix &roundOf, uint32_t round,
                                               const Swizzle &swizzle, llvm::ArrayRef<uint32_t> vector) {
  BitMatrix registers(side.layout.outputBits(), side.layout.basesOf(Place::Register));
  Vectors steps;
  for (uint32_t direction : vector)
    steps.push_back(*registers.solve(direction));
  BitMatrix neighbours(registers.inputBits(), steps);
  uint32_t within = (uint32_t(1) << steps.size()) - 1;
  llvm::SmallVector<MemoryPlan::Access> result;
  for (uint32_t reg = 0; reg < side.layout.count(Place::Register); ++reg) {
    uint32_t element = registers.apply(reg), offset = swizzle.address.apply(element);
    if (roundOf.apply(element) != round || offset & within)
      continue;
    MemoryPlan::Access access{{}, offset};
    for (uint32_t i = 0; i <= within; ++i)
      access.registers.push_back(side.full(reg ^ neighbours.apply(i)));
    result.push_back(std::move(access));
  }
  return result;
}

} // namespace

MemoryPlan planMemory(const LinearLayout &fullSource, const LinearLayout &fullDestination, unsigned elementBits,
                      const ConversionLimits &limits) {
  DistinctLayout source(fullSource), destination(fullDestination);
  const LinearLayout &s = source.layout, &d = destination.layout;
  unsigned bits = s.outputBits();
  auto basesOf = [](const LinearLayout &layout, Place place) { return Vectors(layout.basesOf(place)); };
  AccessPattern write{basesOf(s, Place::Register), basesOf(s, Place::Lane), basesOf(s, Place::Warp)};
  AccessPattern read{basesOf(d, Place::Register), basesOf(d, Place::Lane), basesOf(d, Place::Warp)};

  MemoryPlan plan;
  // The elements of warp 0, and whether every warp's are these, moved as the source moves them.
  Span ofWarp(write.registers);
  ofWarp.insert(write.lanes);
  Vectors moved;
  for (auto [from, to] : llvm::zip_equal(write.warps, read.warps))
    moved.push_back(from ^ to);
  auto inWarp = [&](uint32_t direction) { return ofWarp.contains(direction); };
  plan.withinWarp =
      llvm::all_of(read.registers, inWarp) && llvm::all_of(read.lanes, inWarp) && llvm::all_of(moved, inWarp);
  Vectors held;
  if (plan.withinWarp) {
    held = ofWarp.basis();
    write.warps.assign(write.warps.size(), 0);
    read.warps = moved;
    Vectors ofThread = write.registers;
    llvm::append_range(ofThread, write.lanes);
    plan.laneCopies = BitMatrix(bits, ofThread).freeInputs() >> write.registers.size();
  } else {
    held = Vectors(BitMatrix::identity(bits).images());
    plan.laneCopies = s.copies(Place::Lane);
    plan.warpCopies = s.copies(Place::Warp);
  }

  // What is in memory at once: all that threads move along, then what keeps vectors wide, then the rest, until it is
  // full.
  unsigned warpBits = plan.withinWarp ? s.bits(Place::Warp) : 0;
  Span atOnce;
  for (const AccessPattern *side : {&write, &read}) {
    atOnce.insert(side->lanes);
    atOnce.insert(side->warps);
  }
  auto hasRoom = [&] { return uint64_t(2) << (atOnce.dimension() + warpBits + elementBits) <= limits.scratchBytes; };
  Vectors later, candidates = intersection(write.registers, read.registers);
  llvm::append_range(candidates, held);
  Span counted = atOnce;
  for (uint32_t direction : candidates) {
    if (!counted.insert(direction))
      continue;
    if (hasRoom())
      atOnce.insert(direction);
    else
      later.push_back(direction);
  }
  Swizzle swizzle = chooseSwizzle(bits, atOnce.basis(), write, read, elementBits, limits.model);

  // The round of an element: its coordinates along what is left for later.
  Vectors basis = later;
  llvm::append_range(basis, atOnce.basis());
  Span all(basis);
  for (unsigned bit = 0; bit < bits; ++bit)
    if (all.insert(uint32_t(1) << bit))
      basis.push_back(uint32_t(1) << bit);
  uint32_t roundMask = (uint32_t(1) << later.size()) - 1;
  Vectors roundColumns;
  BitMatrix coordinates = *BitMatrix(bits, basis).inverse();
  for (uint32_t column : coordinates.images())
    roundColumns.push_back(column & roundMask);
  BitMatrix roundOf(static_cast<unsigned>(later.size()), roundColumns);

  for (uint32_t round = 0; round <= roundMask; ++round)
    plan.rounds.push_back({accesses(source, roundOf, round, swizzle, swizzle.writeVector),
                           accesses(destination, roundOf, round, swizzle, swizzle.readVector)});
  unsigned inner = swizzle.address.outputBits();
  plan.offsetBits = inner + warpBits;
  auto addresses = [&](llvm::ArrayRef<uint32_t> directions, bool ofWarp) {
    Vectors columns;
    for (auto [bit, direction] : llvm::enumerate(directions)) {
      uint32_t own = ofWarp && plan.withinWarp ? uint32_t(1) << (inner + bit) : 0;
      columns.push_back(swizzle.address.apply(direction) | own);
    }
    return BitMatrix(plan.offsetBits, columns);
  };
  plan.writeLane = addresses(write.lanes, false);
  plan.readLane = addresses(read.lanes, false);
  plan.writeWarp = addresses(write.warps, true);
  plan.readWarp = addresses(read.warps, true);
  for (uint32_t reg = 0; reg < fullDestination.count(Place::Register); ++reg)
    if (uint32_t of = destination.full(destination.distinct(reg)); of != reg)
      plan.copies.push_back({reg, of});
  return plan;
}

} // namespace nacre
