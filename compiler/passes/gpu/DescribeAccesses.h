// What the layout of an access to memory is chosen by, and how many neighbours it takes at once: for each axis of the
// tile how long the runs of neighbouring addresses are, how they are aligned, and how long the mask stays the same.
// A side table over axis information; the IR is not changed.
#pragma once

#include "compiler/analysis/AxisInfo.h"
#include "compiler/ir/simt/Simt.h"

namespace nacre::simt {

struct AccessDescription {
  mlir::Operation *op = nullptr;
  mlir::RankedTensorType type; // of the value
  bool isStore = false;
  int64_t elementBytes = 4;
  // One an axis; each a count of elements, a power of two.
  llvm::SmallVector<int64_t> contiguity; // neighbours in memory, from a multiple of it on
  llvm::SmallVector<int64_t> wide; // of those, how many may be one access: aligned, under one mask, at most 16 bytes
  llvm::SmallVector<int64_t> constancy; // elements at one address

  // How many elements one access has in a layout, and along which axis.
  struct Vector {
    unsigned axis = 0;
    int64_t count = 1;
  };
  Vector vectorIn(const LinearLayout &layout) const;
};

// Of a load, store or atomic on a tile, or a box; none of anything else.
std::optional<AccessDescription> describeAccess(mlir::Operation *op, AxisAnalysis &analysis);

} // namespace nacre::simt
