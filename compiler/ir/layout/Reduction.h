// How the elements along an axis are combined, planned from the layout alone: first within each thread, then over
// lanes, then over warps through shared memory. Every thread ends with the results of all rows that the layout without
// the axis gives it, copies included; no element is counted twice.
//
// Two places belong to one row if the map to coordinates, with the axis dropped, gives the same: if they differ by a
// member of that map's kernel. Members that do not move along the axis either lead to copies, and are left out. A
// member that moves lanes is one step: every lane combines its value with that of the lane at that distance, where the
// value may be in another register.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"

namespace nacre {

struct ReductionPlan {
  // The layout of the results, `layout.slice(axis)`.
  LinearLayout result;
  // For each register of the result the operand's registers to combine, in the order of the axis.
  llvm::SmallVector<llvm::SmallVector<uint32_t>> groups;
  // Afterwards, one step after the other: value r is combined with value r ^ registers of lane ^ lanes.
  struct LaneStep {
    uint32_t lanes, registers;
  };
  llvm::SmallVector<LaneStep> laneSteps;
  // Afterwards, if there are several parts of a row in different warps: a thread writes value r at offset write(r,
  // lane, warp), unless copies of it do, and reads all parts p at read(r, lane, warp) + (p << rowBits). Both have one
  // axis, the offset in elements. Where memory is short this goes in rounds, with some of the values in each.
  unsigned rowBits = 0, partBits = 0;
  LinearLayout write, read;
  uint32_t laneCopies = 0, warpCopies = 0; // bits of lane and warp that have to be 0 to write
  llvm::SmallVector<llvm::SmallVector<uint32_t>> rounds;

  uint32_t partCount() const { return uint32_t(1) << partBits; }
  uint32_t offsetCount() const { return partBits ? uint32_t(1) << (rowBits + partBits) : 0; }
};

// With no more elements in memory at once than `mostElements`, or all that threads alone tell apart where that is more.
ReductionPlan planReduction(const LinearLayout &layout, unsigned axis, uint64_t mostElements = ~uint64_t(0));

} // namespace nacre
