// See TensorMaps.h.
#include "runtime/devices/cuda/TensorMaps.h"

namespace nacre::cuda {

TensorMaps TensorMaps::of(const CompiledCode &code) {
  if (code.metadata.tensorMaps.size() > most)
    throw DeviceError("the kernel `" + code.symbol + "` has more tensor descriptors than a launch can have: " +
                          std::to_string(code.metadata.tensorMaps.size()) + ", at most " + std::to_string(most),
                      code.symbol);
  return {code.metadata.tensorMaps};
}

simt::TensorMapRecipe::Numbers TensorMaps::evaluate(const simt::TensorMapRecipe &recipe,
                                                    llvm::ArrayRef<uint64_t> arguments, const std::string &kernel) {
  simt::TensorMapRecipe::Numbers numbers;
  std::string wrong = recipe.argumentCount() > arguments.size() ? "it needs arguments that the launch does not have"
                                                                : recipe.evaluate(arguments, numbers);
  if (!wrong.empty())
    throw DeviceError("the kernel `" + kernel + "`: of a tensor descriptor, " + wrong, kernel);
  return numbers;
}

int TensorMaps::swizzleCode(const simt::TensorMapRecipe &recipe) {
  return recipe.swizzle == 0 ? 0 : recipe.swizzle == 32 ? 1 : recipe.swizzle == 64 ? 2 : 3;
}

} // namespace nacre::cuda
