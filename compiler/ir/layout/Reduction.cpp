#include "compiler/ir/layout/Reduction.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

namespace nacre {

using Vectors = llvm::SmallVector<uint32_t>;

ReductionPlan planReduction(const LinearLayout &full, unsigned axis, uint64_t mostElements) {
  ReductionPlan plan;
  plan.result = full.slice(axis);
  const LinearLayout &result = plan.result;
  llvm::SmallVector<unsigned> distinct = full.distinctRegisters();
  LinearLayout layout = full.withoutDuplicateRegisters();
  // Of collapse: each axis bit is dropped, registers that then repeat others too.
  LinearLayout rows = layout;
  uint32_t axisMask = layout.maskOf(axis);
  for (Place place : allPlaces)
    for (unsigned bit = 0; bit < rows.bits(place); ++bit)
      rows.setBasis(place, bit, rows.basesOf(place)[bit] & ~axisMask);
  llvm::SmallVector<unsigned> kept = rows.distinctRegisters();
  auto lifted = [&](uint32_t resultRegister) {
    uint32_t reg = 0;
    for (auto [i, bit] : llvm::enumerate(kept))
      reg |= (resultRegister >> i & 1) << bit;
    return reg;
  };
  auto fullRegister = [&](uint32_t reg) {
    uint32_t number = 0;
    for (auto [i, bit] : llvm::enumerate(distinct))
      number |= (reg >> i & 1) << bit;
    return number;
  };

  // Within a thread.
  for (uint32_t to = 0; to < result.count(Place::Register); ++to) {
    Vectors group;
    uint32_t row = rows.apply(Position{.reg = lifted(to)});
    for (uint32_t reg = 0; reg < layout.count(Place::Register); ++reg)
      if (rows.apply(Position{.reg = reg}) == row)
        group.push_back(reg);
    llvm::sort(group, [&](uint32_t left, uint32_t right) {
      return layout.apply(Position{.reg = left}) < layout.apply(Position{.reg = right});
    });
    for (uint32_t &reg : group)
      reg = fullRegister(reg);
    plan.groups.push_back(std::move(group));
  }
  Span combined; // the directions along the axis that are done
  Vectors done;
  for (uint32_t member : BitMatrix(rows.outputBits(), rows.basesOf(Place::Register)).kernel()) {
    uint32_t direction = layout.apply(Position{.reg = member});
    if (combined.insert(direction))
      done.push_back(direction);
  }

  // Between threads: members of the kernel in the order of their highest bit, lanes before warps.
  Vectors warpDirections;
  for (uint32_t member : result.matrix().kernel()) {
    Position at = result.unpackInput(member);
    uint32_t direction = layout.apply(Position{.reg = lifted(at.reg), .lane = at.lane, .warp = at.warp});
    assert((direction & ~axisMask) == 0);
    if (!combined.insert(direction))
      continue;
    if (at.warp == 0) {
      plan.laneSteps.push_back({at.lane, at.reg});
      done.push_back(direction);
    } else {
      warpDirections.push_back(direction);
    }
  }
  plan.rowBits = result.outputBits();
  plan.partBits = static_cast<unsigned>(warpDirections.size());
  if (!plan.partBits)
    return plan;

  // The part of a row that an element belongs to: its coordinates along the directions that are left.
  unsigned bits = layout.outputBits();
  Vectors basis = warpDirections;
  llvm::append_range(basis, done);
  Span span(basis);
  for (unsigned bit = 0; bit < bits; ++bit)
    if (span.insert(uint32_t(1) << bit))
      basis.push_back(uint32_t(1) << bit);
  BitMatrix coordinates = *BitMatrix(bits, basis).inverse();
  uint32_t partMask = (uint32_t(1) << plan.partBits) - 1;
  // Rows by number, those of neighbouring lanes first: no bank conflicts. If they are too many at once, those that only
  // registers tell apart come last, and what is over of their numbers are rounds.
  bool isOneRound = uint64_t(1) << (plan.rowBits + plan.partBits) <= mostElements;
  Vectors rowBasis;
  Span rowSpan;
  auto number = [&](std::initializer_list<Place> places) {
    for (Place place : places)
      for (uint32_t direction : result.basesOf(place))
        if (rowSpan.insert(direction))
          rowBasis.push_back(direction);
  };
  unsigned allRowBits = plan.rowBits;
  if (isOneRound) {
    number({Place::Lane, Place::Register, Place::Warp});
  } else {
    number({Place::Lane, Place::Warp});
    unsigned ofThreads = static_cast<unsigned>(rowBasis.size());
    number({Place::Register});
    while (plan.rowBits > ofThreads && uint64_t(1) << (plan.rowBits + plan.partBits) > mostElements)
      --plan.rowBits;
  }
  BitMatrix rowNumber = *BitMatrix(allRowBits, rowBasis).inverse();
  uint32_t rowMask = (uint32_t(1) << plan.rowBits) - 1;
  plan.rounds.resize(size_t(1) << (allRowBits - plan.rowBits));
  for (uint32_t reg = 0; reg < result.count(Place::Register); ++reg)
    plan.rounds[rowNumber.apply(result.apply(Position{.reg = reg})) >> plan.rowBits].push_back(reg);
  plan.write = LinearLayout({plan.rowBits + plan.partBits});
  plan.read = plan.write;
  LinearLayout places({allRowBits + plan.partBits});
  for (Place place : {Place::Register, Place::Lane, Place::Warp})
    for (auto [bit, direction] : llvm::enumerate(result.basesOf(place))) {
      Position at;
      (place == Place::Register ? at.reg : place == Place::Lane ? at.lane : at.warp) = uint32_t(1) << bit;
      uint32_t row = rowNumber.apply(direction);
      at.reg = lifted(at.reg);
      uint32_t part = coordinates.apply(layout.apply(at)) & partMask;
      places.add(place, row | part << allRowBits);
      plan.write.add(place, (row & rowMask) | part << plan.rowBits);
      plan.read.add(place, row & rowMask);
    }
  plan.laneCopies = places.copies(Place::Lane);
  plan.warpCopies = places.copies(Place::Warp);
  return plan;
}

} // namespace nacre
