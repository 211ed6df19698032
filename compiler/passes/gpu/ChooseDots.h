// choose-dots: which matrix instruction each product is made with, and where its operands are.
//
//   %c = tile.dot %a, %b, %acc : ...
//     ==>  %c = tile.dot %a, %b, %acc {simt.plan = #simt.dot_plan<"mma.m16n8k16.f16", result = #c, a = #a, b = #b>} :
//     ...
//
// Needs: expand-dots; the launch options on the module. Gives: the attribute simt.plan on each dot that an instruction
// makes; a dot without one is plain arithmetic. The plan is an anchor of assign-layouts, which puts a simt.dot in the
// dot's place with its operands where the plan wants them.
//
// Which instruction, of those that multiply the operands' types:
// - One of several warps together, with operands in shared memory, where the block has such groups of warps, the tile
// is
//   at least as high as the instruction, k is a power of two and no shorter than the instruction's (shared memory is
//   not padded with zeros), and either the instruction reads operands along any axis or has them copied along k. A is
//   taken from registers where it is made from another product's result, which then need not leave them, and where it
//   lies across k in memory and the instruction cannot read it so. If B lies so, and A does not, the operands change
//   places: (a b)' = b' a'.
// - Else one of a warp, the deepest that k fills. Tiles smaller than the instruction are padded: lanes hold copies
// along
//   m and n, and zeros along k.
// Warps are dealt out over the result's rows first where a row of the result is reduced or goes on into another
// product, so that no row is spread over warps; else so that what a warp reads of either operand is about equal.
#pragma once

#include "compiler/passes/gpu/Machine.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::simt {

// The machine outlives the pass.
std::unique_ptr<mlir::Pass> createChooseDots(const Machine &machine);

} // namespace nacre::simt
