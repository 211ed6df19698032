// The GPUs that the HIP target compiles for, one row each: what code for them may use.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace nacre::amd {

struct Architecture {
  const char *name;    // as LLVM and HIP name it: "gfx942"
  int generation;      // of the instruction set: 9 is CDNA; 11 and 12 are RDNA
  int lanes;           // of a wave
  int64_t sharedBytes; // that one work-group may have

  int mostWarps() const { return 1024 / lanes; } // of a work-group
};

// In ascending order.
llvm::ArrayRef<Architecture> architectures();
// By name, which may have features after it, as HIP gives it: "gfx942:sramecc+:xnack-". Throws CompileError, with the
// names there are.
const Architecture &architectureNamed(llvm::StringRef name);

} // namespace nacre::amd
