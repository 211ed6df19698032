// Masked loads and stores in the only forms that LLVM 22's X86 code generator gets right.
//
// Two patterns come out wrong. A masked load wider than a register is halved, and a half whose mask folds to all-false
// (a constant joined with a run-time condition) is read without any mask: memory beyond the array is read. A masked
// store of truncated elements whose constant mask keeps one lane writes the untruncated element: its neighbours are
// lost.
//
// So neither reaches the code generator: after this pass a masked access is at most one register wide, and its mask is
// not a constant. Wider ones are cut into registers, and their masks with all that these are made of (and, or, xor,
// select, comparisons), so that parts that are constant are seen here; constant masks become plain accesses of the
// lanes they keep.
// It runs last, since optimizations fold masks to constants.
#pragma once

#include "llvm/IR/Module.h"

namespace nacre::cpu {

// `registerBytes`: of the target's vector registers.
void legalizeMaskedAccesses(llvm::Module &module, unsigned registerBytes);

} // namespace nacre::cpu
