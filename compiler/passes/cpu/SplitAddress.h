// Loads whose neighbours lie side by side in memory, though nobody can prove it.
//
// The places of an image, numbered through, are found by // and %: place // W % H is the row, place % W the column, and
// row * W + column grows by one from place to place, but for where an image ends. Neither the quotient nor the
// remainder is a line; the address is a sum by axis all the same (AccessForm.h):
//
//   x + (C * H * W) * image[i0] + W * row[i0] + column[i0] + (H * W) * channel[i1] + W * dy[i1] + dx[i1]
//
// The part of one axis is computed for the lanes of a step; where it grows by one from lane to lane, which is asked at
// run time, the lanes are one vector access at the first one's address, whatever the other axes add; else they are
// gathered (Nest::loadSplit).
//
// Legal where the form says the address: it does, "where nothing wraps", of offsets of 32 or more bits (AccessForm.h).
// Profitability is estimated by evaluating the address with sample values: most adjacent lanes must be contiguous.
#pragma once

#include "compiler/passes/cpu/Lowering.h"

namespace nacre::cpu {

// The load that `source` is computed from element by element, and its address by axis, where lanes along `axis` are
// likely to be neighbours in memory and those along `other` less so. Null where there is no such load.
struct SplitLoad {
  mlir::Operation *load = nullptr;
  const AccessForm *form = nullptr;
};
SplitLoad findSplitLoad(Lowering &lowering, mlir::Value source, int axis, int other);

} // namespace nacre::cpu
