// The builtins: one definition each, holding its name, parameters with defaults, documentation, and what it does. The
// compiler's name resolution, the interpreter's dispatch, the Python stubs and the reference pages all read this table.
#pragma once

#include "compiler/language/meaning/Semantics.h"

namespace nacre {

struct Parameter {
  std::string name;
  std::optional<Object> defaultValue; // none: required
  std::string annotation;             // for stubs and docs, e.g. "tensor", "constexpr int"
  bool isVariadic = false;            // *args: bound to one tuple
  bool isKeywords = false;            // **fields: any other name; the caller of the builtin has to see to them
};

struct Builtin {
  std::string module; // "triton.language", "triton.language.math", "triton.language.extra.libdevice", ...
  std::string name;
  std::string group;  // "memory", "math", ...: the documentation's page
  std::vector<Parameter> parameters;
  std::string documentation;
  bool isMethod = false; // also callable as a method of a tensor (which becomes the first argument)
  Object (*invoke)(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) = nullptr; // in parameter order, defaults filled in
};

// Every builtin, in documentation order. Definitions live beside this file, one file a group (Memory.cpp, Math.cpp, ...).
llvm::ArrayRef<Builtin> allBuiltins();
// `module` is a canonical module name ("triton.language"); null when there is none of that name.
const Builtin *findBuiltin(llvm::StringRef module, llvm::StringRef name);
const Builtin *findMethod(llvm::StringRef name);

// What `name` of a module of the language is: a builtin (under its own module or re-exported: tl.core.load, tl.math.exp), a
// type (tl.float32), a submodule (tl.math), or a constant (TRITON_MAX_TENSOR_NUMEL). Not the functions of the standard
// library (StandardLibrary.h) and not range-like control flow's meaning, which is the front end's. The module "builtins" holds
// Python's own (len, min, int, ...). None when there is no such name.
std::optional<Object> moduleMember(llvm::StringRef module, llvm::StringRef name);
// Whether `module` is a module of the language, and its canonical name: "nacre.language.math", "triton.language.extra.cuda.libdevice"
// and their like become "triton.language...". Empty when it is not ours.
std::string canonicalModule(llvm::StringRef module);

// Binds positional and keyword arguments to the parameters and calls the builtin. Errors name the argument.
Object callBuiltin(Evaluation &evaluation, const Builtin &builtin, llvm::ArrayRef<Object> positional,
                   llvm::ArrayRef<std::pair<std::string, Object>> keywords);

} // namespace nacre
