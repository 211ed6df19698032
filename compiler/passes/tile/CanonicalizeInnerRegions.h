// canonicalize-inner-regions: MLIR's canonicalizations inside the regions of loops and branches, the innermost first,
// where those are long; `canonicalize` after it finds little left to do.
//
// MLIR's pass looks anew at all that stands around an operation whenever that changes, and whether a loop is dead it
// finds out by walking through its body: a long body takes the square of its length.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

std::unique_ptr<mlir::Pass> createCanonicalizeInnerRegions();
void registerCanonicalizeInnerRegions();

} // namespace nacre
