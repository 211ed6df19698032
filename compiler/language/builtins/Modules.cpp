// The modules of the language and what their names are.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/builtins/Marks.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

Type typeNamed(llvm::StringRef name) {
  static constexpr std::pair<llvm::StringLiteral, ScalarKind> names[] = {
      {"void", ScalarKind::Void},
      {"int1", ScalarKind::Int1},
      {"int8", ScalarKind::Int8},
      {"int16", ScalarKind::Int16},
      {"int32", ScalarKind::Int32},
      {"int64", ScalarKind::Int64},
      {"uint8", ScalarKind::UInt8},
      {"uint16", ScalarKind::UInt16},
      {"uint32", ScalarKind::UInt32},
      {"uint64", ScalarKind::UInt64},
      {"float8e4nv", ScalarKind::Float8E4NV},
      {"float8e5", ScalarKind::Float8E5},
      {"float8e4b15", ScalarKind::Float8E4B15},
      {"float8e4b8", ScalarKind::Float8E4B8},
      {"float8e5b16", ScalarKind::Float8E5B16},
      {"float16", ScalarKind::Float16},
      {"bfloat16", ScalarKind::BFloat16},
      {"float32", ScalarKind::Float32},
      {"float64", ScalarKind::Float64},
  };
  for (const auto &[text, kind] : names)
    if (text == name)
      return Type::scalar(kind);
  return Type();
}

namespace {

constexpr llvm::StringLiteral modules[] = {
    "triton.language",
    "triton.language.core",
    "triton.language.standard",
    "triton.language.random",
    "triton.language.math",
    "triton.language.extra",
    "triton.language.extra.cuda",
    "triton.language.extra.hip",
    "triton.language.extra.intel",
    "triton.language.extra.libdevice",
    "triton.language.target_info",
    "triton.language.PropagateNan",
    "triton.profiler.language",
    "builtins",
};

bool isModule(llvm::StringRef name) { return llvm::is_contained(modules, name); }

std::optional<Object> constantNamed(llvm::StringRef module, llvm::StringRef name) {
  if (module == "triton.language.PropagateNan") {
    if (name == "NONE")
      return "none";
    if (name == "ALL")
      return "all";
    return std::nullopt;
  }
  if (module != languageModule && module != "triton.language.core")
    return std::nullopt;
  if (Type type = typeNamed(name))
    return type;
  if (name == "pi32_t")
    return Type::pointer(int32());
  if (name == "CONSTEXPR_0")
    return 0;
  if (name == "TRITON_MAX_TENSOR_NUMEL")
    return largestTile;
  if (name == "PropagateNan")
    return ModuleReference{"triton.language.PropagateNan"};
  return std::nullopt;
}

} // namespace

std::string canonicalModule(llvm::StringRef module) {
  if (module == pythonModule)
    return module.str();
  std::string name = module.str();
  if (llvm::StringRef rest = module; rest.consume_front("nacre.language"))
    name = "triton.language" + rest.str();
  if (module == "nacre.language.constants" || module == "nacre.language.types") // classes that tl shows
    return languageModule;
  if (module == "nacre.profiler.language")
    return profilerModule;
  // One library of elementary functions, under every vendor's name.
  for (llvm::StringRef vendor : {"cuda", "hip", "intel"})
    if (name == "triton.language.extra." + vendor.str() + ".libdevice")
      return libdeviceModule;
  for (llvm::StringRef part : {"cuda.gdc", "cuda.utils", "hip", "hip.utils"}) // one module has what these are asked for
    if (name == "triton.language.extra." + part.str())
      return cudaModule;
  return isModule(name) ? name : "";
}

std::optional<Object> moduleMember(llvm::StringRef module, llvm::StringRef name) {
  std::string canonical = canonicalModule(module);
  if (canonical.empty())
    return std::nullopt;
  if (std::optional<Object> constant = constantNamed(canonical, name))
    return constant;
  if (const Builtin *builtin = findBuiltin(canonical, name))
    return Object(builtin);
  // tl.math, tl.extra.cuda, tl.core.math: submodules, and the modules that the others import.
  if (std::string inner = canonicalModule(canonical + "." + name.str()); !inner.empty())
    return ModuleReference{inner};
  bool isLanguage = llvm::StringRef(canonical).starts_with(languageModule);
  if (isLanguage && canonical != "triton.language.PropagateNan" && (name == "core" || name == "math"))
    return ModuleReference{"triton.language." + name.str()};
  return std::nullopt;
}

} // namespace nacre
