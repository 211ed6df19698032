// deepen-dots: a loop around a shallow product of bf16 or f32 takes several steps at a time.
//
//   scf.for %k step 32 iter_args(%sum) { ... yield tile.dot %a, %b, %sum }                     (%a is 128 x 32)
//     ==>  scf.for %k step 64 iter_args(%sum) { ... %t = tile.dot %a, %b, %sum ... yield tile.dot %a', %b', %t }
//          and a loop for the steps that are left
//
// A shallow step is over so soon that reading and writing the sums counts, most of all where bf16 is multiplied as it
// is. Dots that go on with one another are summed as one (PackDots.h), in the same order as before. Loops that hold
// anything but pure operations and loads stay as they are. Of f32 two steps are taken at a time, no more, and none of
// steps under 64: twice the code takes longer to compile.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::cpu {

// How far along k the products of one step of the loop are to reach; 0: they stay as they are.
std::unique_ptr<mlir::Pass> createDeepenDots(int64_t depth, int64_t depthOfF32);
void registerDeepenDots();

} // namespace nacre::cpu
