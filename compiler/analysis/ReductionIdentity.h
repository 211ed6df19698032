// The value that changes nothing when a reduction combines it with another: what lanes beyond a tile's end are filled
// with, and what accumulators start from.
#pragma once

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Region.h"

namespace nacre {

// Of the combine region of a tile.reduce or tile.scan that is one known operation on its two arguments; null otherwise.
// For floats the identity keeps the other's bits, but for those of a NaN: -0.0 for sums, NaN for maxnum and minnum.
mlir::TypedAttr reductionIdentity(mlir::Region &combine);

} // namespace nacre
