// share-code: what a kernel would hold many copies of becomes one function and calls of it.
//
//   %a = math.exp %x : vector<32xf32>            %a = call @exp.0(%x) : (vector<32xf32>) -> vector<32xf32>
//   %b = math.exp %y : vector<32xf32>     ==>    %b = call @exp.0(%y) : (vector<32xf32>) -> vector<32xf32>
//   ... many more in the same block              ...
//   cpu.micro_kernel ... many of one kind        call @micro_kernel.0(...)
//
// Unrolled loops repeat long code: an elementary function is dozens of instructions, a micro-kernel hundreds. Compiled
// once, the time of a compile grows with the calls alone; and the instructions stay in the cache.
//
// Always legal: the operations depend on their operands and memory alone. It is done where a call costs nothing to
// speak of: for elementary functions that one block repeats more often than anybody writes by hand, and for
// micro-kernels that the kernel repeats. Those on tile registers are left alone: they take scratch memory of the
// kernel.
//
// Before: what lower-to-loops gives. After: the same, with private functions that are never inlined.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::cpu {

std::unique_ptr<mlir::Pass> createShareCode();
void registerShareCode();

} // namespace nacre::cpu
