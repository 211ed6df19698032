// The GPUs that the CUDA target compiles for, one row each: what code for them may use.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace nacre::cuda {

inline constexpr int warpSize = 32; // of all of them

struct Architecture {
  int capability;                    // 90: compute capability 9.0
  const char *name;                  // as LLVM and ptxas name it: "sm_90a"
  int ptxVersion;                    // that its code is written in: 86 is PTX 8.6
  int64_t sharedBytes;               // that one block may have
  bool hasWarpgroupProducts = false; // of its own generation only

  bool has(int minimum) const { return capability >= minimum; }
  // Whether a GPU of that compute capability runs its code: one of its own generation, no older one.
  bool runsOn(int present) const { return present >= capability && present / 10 == capability / 10; }
};

// In ascending order.
llvm::ArrayRef<Architecture> architectures();
// By any of its names: "90", "90a", "sm_90", "sm_90a". Throws CompileError, with the names there are. A GPU that no row
// names has the highest row that runs on it.
const Architecture &architectureNamed(llvm::StringRef name);

} // namespace nacre::cuda
