// The shared memory that operations use for themselves while they run.
#pragma once

#include "compiler/ir/simt/Simt.h"

namespace nacre::simt {

// Bytes that may be spent so that operations in a row have scratch side by side, where the largest of them needs less.
constexpr int64_t scratchBesideOne = 16 << 10;

// What ScratchOpInterface says of the operation.
ScratchUse scratchOf(mlir::Operation *op);

// Gives the operations their models. Every pass that asks scratchOf names it among what it depends on.
void registerScratchRules(mlir::DialectRegistry &registry);

} // namespace nacre::simt
