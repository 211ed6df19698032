// assign-layouts: every tile gets a place in the registers of the block's threads.
//
//   %x = tile.load %p : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
//     ==>  %x = tile.load %p {simt.vector = array<i32: 0, 4>} : tensor<1024x!tile.ptr<f32>, #layout> ->
//     tensor<1024xf32, #layout>
//
// Needs: tile IR with calls inlined, descriptors and scaled products expanded, products planned (choose-dots); the
// launch options on the module. Gives: the encoding of every tile is a #simt.layout and every operation's layouts are
// legal (verifyLayouts); changes of layout are simt.convert; planned products are simt.dot, their operands converted or
// in shared memory; accesses say how many neighbours they take at once. Solved in a side table (LayoutSolver.h) and
// committed once. What is computed again for a user never reads memory.
//
// Neighbours in memory are those that are proved to be neighbours. With `checksLaunches` also those that are where
// integers are not negative of which a launch can prove that (AxisAnalysis::Remainders): the module then says what
// (launchCheckAttribute, the text of a LaunchCheck), and may only be launched where it holds. It says nothing where no
// access gains by it.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::simt {

inline constexpr llvm::StringLiteral launchCheckAttribute = "simt.launch_check";

std::unique_ptr<mlir::Pass> createAssignLayouts(int64_t lanes = 32, bool checksLaunches = false);

} // namespace nacre::simt
