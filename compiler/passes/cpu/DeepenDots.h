// deepen-dots: a loop around a shallow product of bf16 takes several steps at a time.
//
//   scf.for %k step 32 iter_args(%sum) { ... yield tile.dot %a, %b, %sum }                     (%a is 128 x 32)
//     ==>  scf.for %k step 64 iter_args(%sum) { ... %t = tile.dot %a, %b, %sum ... yield tile.dot %a', %b', %t }
//          and a loop for the steps that are left
//
// Where bf16 is multiplied as it is, a step of 32 is over so soon that reading and writing the sums counts. Dots that
// go on with one another are summed as one (PackDots.h). Loops that hold anything but pure operations and loads stay as
// they are.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::cpu {

// `depth`: how far along k the products of one step of the loop are to reach.
std::unique_ptr<mlir::Pass> createDeepenDots(int64_t depth);
void registerDeepenDots();

} // namespace nacre::cpu
