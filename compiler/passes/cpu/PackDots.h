// pack-dots: a product of tiles becomes packed operands and their multiplication, cut for the machine's registers.
//
//   %s = tile.dot %a, %b, %sum : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
//     ==>  %rows = cpu.rows %a {blocking = #b}
//          %panels = cpu.panels %b kept by(%column : i32) {blocking = #b}
//          %s = cpu.multiply %sum rows(%rows) panels(%panels) {blocking = #b}
//
// Before: tile IR. After: no tile.dot in a kernel. What the operands are made of is left as tiles: lower-to-loops
// computes it, with the conversion to the type that is multiplied, in the loops that pack.
//
// Decided here: what multiplies (vectors, pairs of bf16, quads of int8, tile registers) and the register block; which dots are summed
// as one; which packed operands are kept for later programs (OperandReuse.h). A dot goes on into the one that reads its
// sum when that is all that reads it, both are of the same types and no memory is written in between: both then are one
// walk along k, with the sums in registers throughout. Sums of floats under 32 bits are kept in f32 and rounded once
// after each dot, so none of them goes on.
#pragma once

#include "compiler/passes/cpu/VectorTarget.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::cpu {

std::unique_ptr<mlir::Pass> createPackDots(const VectorTarget &target);
void registerPackDots();

} // namespace nacre::cpu
