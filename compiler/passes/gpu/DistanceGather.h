// Gathers whose every element comes from a fixed distance along the axis, `x[i ^ distance]` with one distance for all:
// the steps of sorting networks. The distance may be known at run time only.
#pragma once

#include "compiler/ir/layout/Scan.h"
#include "compiler/passes/gpu/Lowering.h"

namespace nacre::simt {

struct DistanceGather {
  mlir::Value distance;            // the kernel's scalar; null where it is known
  std::optional<int64_t> constant; // the distance, where it is known
  ScanPlan axis;                   // which input bit is which bit of the axis

  // Bytes that an exchange between warps needs; 0 if the axis lies within each warp.
  int64_t scratchBytes(mlir::Type element) const;
  // How many registers of each thread lie in scratch memory at once.
  int64_t registersAtOnce(mlir::Type element) const;
};

// None where the gather is another one, or its source lies in another layout than its result.
std::optional<DistanceGather> matchDistanceGather(tile::GatherOp op);

// The registers of the result. Registers change places, then lanes, then warps, each as far as the distance asks for
// it.
llvm::SmallVector<mlir::Value> lowerDistanceGather(Lowering &lowering, tile::GatherOp op, const DistanceGather &gather);

} // namespace nacre::simt
