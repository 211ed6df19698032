// See TensorMaps.h.
#include "runtime/devices/cuda/TensorMaps.h"
#include "compiler/targets/cuda/CudaTarget.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre::cuda {

TensorMaps TensorMaps::of(const CompiledCode &code) {
  TensorMaps maps;
  for (llvm::StringRef line : llvm::split(code.metadata.details, '\n')) {
    if (!line.consume_front(tensorMapPrefix))
      continue;
    std::optional<simt::TensorMapRecipe> recipe = simt::TensorMapRecipe::parse(line);
    if (!recipe || maps.recipes.size() == most)
      throw DeviceError("the metadata of the kernel `" + code.symbol + "` are damaged: " + line.str(), code.symbol);
    maps.recipes.push_back(std::move(*recipe));
  }
  return maps;
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
