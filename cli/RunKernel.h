// nacre-opt's --run: a kernel of the module is evaluated on made-up arguments and the arrays it leaves are printed, so
// that a pass test can compare results before and after.
//
//   --run=NAME           the kernel
//   --grid=X[,Y[,Z]]     programs along each axis; 1 where not given
//   --args=LIST          one for each argument, separated by commas
//   --engine=ENGINE      reference (the default) evaluates the tile IR; cpu and simulate compile it for that device of
//   the
//                        runtime and launch it there
//
// An argument is TYPE=NUMBER for a scalar, TYPE[EXTENTS]=CONTENTS for an array (its address is passed). TYPE is f64 f32
// f16 bf16 f8E4M3FN f8E5M2 f8E4M3FNUZ f8E5M2FNUZ f8E4B15 i64 i32 i16 i8 i1; EXTENTS are numbers joined by x. CONTENTS
// is a NUMBER that fills the array, {n, n, ...}, iota (0, 1, 2, ...), iota(start, step), or random(seed): numbers in
// [-1, 1) for floats, in
// [-100, 100) for integers. Accesses outside the arrays are errors (of the reference engine).
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

// Registers the options above. Call before the command line is parsed.
void registerRunOptions();
// --run was given.
bool isRunRequested();
// A pass that runs the kernel on the module as it is, and prints to stdout.
std::unique_ptr<mlir::Pass> createRunKernel();

} // namespace nacre
