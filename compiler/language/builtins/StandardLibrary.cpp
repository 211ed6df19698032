// The functions of the standard library and the texts they are written in (StandardLibrary.h).
#include "compiler/language/builtins/StandardLibrary.h"
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/StandardLibraryTexts.inc" // generated: standardText, randomText
#include "llvm/ADT/STLExtras.h"

namespace nacre {

static constexpr llvm::StringLiteral standardFile = "standard.py";
static constexpr llvm::StringLiteral randomFile = "random.py";

llvm::StringRef standardLibrarySource(llvm::StringRef file) {
  if (file == standardFile)
    return standardText;
  if (file == randomFile)
    return randomText;
  return "";
}

llvm::ArrayRef<StandardFunction> allStandardFunctions() {
  static constexpr StandardFunction functions[] = {
      {"sigmoid", standardFile, "math", true},
      {"softmax", standardFile, "math", true},
      {"sum", standardFile, "reductions", true},
      {"max", standardFile, "reductions", true},
      {"min", standardFile, "reductions", true},
      {"argmax", standardFile, "reductions", true},
      {"argmin", standardFile, "reductions", true},
      {"xor_sum", standardFile, "reductions", true},
      {"reduce_or", standardFile, "reductions", true},
      {"cumsum", standardFile, "scans and sorts", true},
      {"cumprod", standardFile, "scans and sorts", true},
      {"sort", standardFile, "scans and sorts", true},
      {"topk", standardFile, "scans and sorts", true},
      {"bitonic_merge", standardFile, "scans and sorts", true},
      {"atomic_poll", standardFile, "atomics", true},
      {"flip", standardFile, "indexing", true},
      {"interleave", standardFile, "shape", false},
      {"swizzle2d", standardFile, "indexing", false},
      {"_sum_combine", standardFile, "reductions", false},
      {"_prod_combine", standardFile, "reductions", false},
      {"_or_combine", standardFile, "reductions", false},
      {"_xor_combine", standardFile, "reductions", false},
      {"_elementwise_max", standardFile, "reductions", false},
      {"_elementwise_min", standardFile, "reductions", false},
      {"philox", randomFile, "random", false},
      {"philox_impl", randomFile, "random", false},
      {"randint", randomFile, "random", false},
      {"randint4x", randomFile, "random", false},
      {"rand", randomFile, "random", false},
      {"rand4x", randomFile, "random", false},
      {"randn", randomFile, "random", false},
      {"randn4x", randomFile, "random", false},
      {"uint_to_uniform_float", randomFile, "random", false},
      {"pair_uniform_to_normal", randomFile, "random", false},
  };
  return functions;
}

static const StandardFunction *findStandardFunction(llvm::StringRef name) {
  auto functions = allStandardFunctions();
  auto found = llvm::find_if(functions, [&](const StandardFunction &function) { return function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

llvm::StringRef standardFunctionFile(llvm::StringRef module, llvm::StringRef name) {
  std::string canonical = canonicalModule(module);
  const StandardFunction *function = findStandardFunction(name);
  if (!function)
    return "";
  if (canonical == languageModule || canonical == "triton.language.core")
    return function->file;
  bool isOwnModule =
      canonical == (function->file == standardFile ? "triton.language.standard" : "triton.language.random");
  return isOwnModule ? function->file : "";
}

bool isStandardMethod(llvm::StringRef name) {
  const StandardFunction *function = findStandardFunction(name);
  return function && function->isMethod;
}

std::optional<Object> standardLibraryGlobal(llvm::StringRef file, llvm::StringRef name) {
  if (standardLibrarySource(file).empty())
    return std::nullopt;
  if (name == "core" || name == "math" || name == "target_info")
    return ModuleReference{"triton.language." + name.str()};
  if (name == "cuda")
    return ModuleReference{cudaModule};
  return std::nullopt;
}

} // namespace nacre
