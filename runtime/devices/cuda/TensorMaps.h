// The tensor maps of a kernel: parameters that no argument gives, but that each launch makes of its arguments by the
// recipes in the kernel's metadata (compiler/ir/simt/TensorMapRecipe.h).
#pragma once

#include "compiler/ir/simt/TensorMapRecipe.h"
#include "runtime/Device.h"

namespace nacre::cuda {

struct TensorMaps {
  static constexpr size_t most = 32;
  llvm::ArrayRef<simt::TensorMapRecipe> recipes; // the code's

  // Throws DeviceError where there are too many.
  static TensorMaps of(const CompiledCode &code);
  // Throws DeviceError, naming the kernel, for numbers that no map can have.
  static simt::TensorMapRecipe::Numbers evaluate(const simt::TensorMapRecipe &recipe,
                                                 llvm::ArrayRef<uint64_t> arguments, const std::string &kernel);
  // The driver's number of the swizzle.
  static int swizzleCode(const simt::TensorMapRecipe &recipe);
};

} // namespace nacre::cuda
