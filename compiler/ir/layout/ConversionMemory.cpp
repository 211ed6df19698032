// Conversions through shared memory.
//
// Within a warp: if both layouts give each warp the same elements, a warp uses a part of the scratch memory of its own,
// and offsets tell apart only what one warp holds. Rounds: a linear function of the coordinates that no thread's number
// changes splits the tile into parts of which every thread holds equally many registers on both sides, the same
// registers in all threads. Where threads move along too much for that, the function changes with the writer's number,
// if possible with that of its warp alone, and never with the reader's.
#include "compiler/ir/layout/Conversion.h"
#include "compiler/ir/layout/ConversionLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

namespace nacre {
namespace {

using Vectors = llvm::SmallVector<uint32_t>;

// The accesses of one side in one round, by vectors: its registers whose elements belong to the round, in some of the
// threads, whose share of the round spans `parts`.
llvm::SmallVector<MemoryPlan::Access> accesses(const DistinctLayout &side, const BitMatrix &roundOf, uint32_t round,
                                               const Span &parts, const BitMatrix &address,
                                               llvm::ArrayRef<uint32_t> vector) {
  BitMatrix registers(side.layout.outputBits(), side.layout.basesOf(Place::Register));
  Vectors steps;
  for (uint32_t direction : vector)
    steps.push_back(*registers.solve(direction));
  BitMatrix neighbours(registers.inputBits(), steps);
  uint32_t within = (uint32_t(1) << steps.size()) - 1;
  llvm::SmallVector<MemoryPlan::Access> result;
  for (uint32_t reg = 0; reg < side.layout.count(Place::Register); ++reg) {
    uint32_t element = registers.apply(reg), offset = address.apply(element);
    uint32_t part = roundOf.apply(element) ^ round;
    if (!parts.contains(part) || offset & within)
      continue;
    MemoryPlan::Access access{{}, offset, part};
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
  Span ofReaders(read.lanes);
  ofReaders.insert(moved);
  bool warpsHaveRoom =
      uint64_t(1) << (ofReaders.dimension() + s.bits(Place::Warp) + elementBits) <= limits.mostBytes;
  plan.withinWarp = llvm::all_of(read.registers, inWarp) && llvm::all_of(read.lanes, inWarp) &&
                    llvm::all_of(moved, inWarp) && warpsHaveRoom;
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

  // What is in memory at once: all that readers and writers move along, then what keeps vectors wide, then the rest,
  // until it is full.
  unsigned warpBits = plan.withinWarp ? s.bits(Place::Warp) : 0;
  Span atOnce(read.lanes);
  atOnce.insert(read.warps);
  Span counted = atOnce;
  Vectors later;
  auto take = [&](llvm::ArrayRef<uint32_t> directions, uint64_t mostBytes) {
    for (uint32_t direction : directions) {
      if (!counted.insert(direction))
        continue;
      if (uint64_t(2) << (atOnce.dimension() + warpBits + elementBits) <= mostBytes)
        atOnce.insert(direction);
      else
        later.push_back(direction);
    }
  };
  take(write.lanes, limits.mostBytes);
  take(write.warps, limits.mostBytes);
  uint64_t aim = std::min(limits.scratchBytes, limits.mostBytes);
  take(intersection(write.registers, read.registers), aim);
  take(held, aim);

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

  // What is in memory of an element: the same element of round 0. Threads that write in one round differ by such alone.
  Vectors inMemory;
  for (unsigned bit = 0; bit < bits; ++bit) {
    uint32_t element = uint32_t(1) << bit, round = roundColumns[bit];
    for (auto [number, direction] : llvm::enumerate(later))
      if (round >> number & 1)
        element ^= direction;
    inMemory.push_back(element);
  }
  BitMatrix inRound(bits, inMemory);
  auto imagesOf = [](const BitMatrix &map, llvm::ArrayRef<uint32_t> directions) {
    return map.compose(BitMatrix(map.inputBits(), directions));
  };
  plan.partLane = imagesOf(roundOf, write.lanes);
  plan.partWarp = imagesOf(roundOf, write.warps);
  Span parts(plan.partLane.images());
  parts.insert(plan.partWarp.images());
  plan.partBits = parts.dimension() ? roundOf.outputBits() : 0;
  AccessPattern writeInRound{write.registers, Vectors(imagesOf(inRound, write.lanes).images()),
                             Vectors(imagesOf(inRound, write.warps).images())};
  Swizzle swizzle = chooseSwizzle(bits, atOnce.basis(), writeInRound, read, elementBits, limits.model);
  BitMatrix address = swizzle.address.compose(inRound);
  for (uint32_t round = 0; round <= roundMask; ++round)
    plan.rounds.push_back({accesses(source, roundOf, round, parts, address, swizzle.writeVector),
                           accesses(destination, roundOf, round, Span(), address, swizzle.readVector)});
  unsigned inner = address.outputBits();
  plan.offsetBits = inner + warpBits;
  auto addresses = [&](llvm::ArrayRef<uint32_t> directions, bool ofWarp) {
    Vectors columns;
    for (auto [bit, direction] : llvm::enumerate(directions)) {
      uint32_t own = ofWarp && plan.withinWarp ? uint32_t(1) << (inner + bit) : 0;
      columns.push_back(address.apply(direction) | own);
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
