// The standard library of the language: functions written in the language itself (python/nacre/language/standard.py and
// random.py). Their texts are embedded at build time, so that compiling needs no Python; the interpreter runs the same
// files.
//
// How names inside these texts are found: functions of the same file first, then what standardLibraryGlobal answers
// (the modules the file imports and its constants), then Python's builtins (module "builtins" of the table). Imports
// and the decorator `@jit` say nothing to the compiler.
#pragma once

#include "compiler/language/meaning/Object.h"

namespace nacre {

// The text of "standard.py" or "random.py"; empty when there is no such file. It lives as long as the program.
llvm::StringRef standardLibrarySource(llvm::StringRef file);

// The file that defines tl.<name> ("standard.py", "random.py"), or empty when `module`.`name` is not a function of the
// standard library. `module` is canonical: "triton.language", "triton.language.core", ".standard", ".random", ...
llvm::StringRef standardFunctionFile(llvm::StringRef module, llvm::StringRef name);
inline bool isStandardFunction(llvm::StringRef module, llvm::StringRef name) {
  return !standardFunctionFile(module, name).empty();
}

// Whether x.<name>(...) calls the standard library's function <name> with x as its first argument.
bool isStandardMethod(llvm::StringRef name);

// A free name of one of these texts that is not a function of it: `core`, `math` (modules) and the file's constants.
std::optional<Object> standardLibraryGlobal(llvm::StringRef file, llvm::StringRef name);

// One row for each function, for stubs and documentation. The signature and the docstring are in the text.
struct StandardFunction {
  llvm::StringRef name;
  llvm::StringRef file;
  llvm::StringRef group;
  bool isMethod;
};
llvm::ArrayRef<StandardFunction> allStandardFunctions();

} // namespace nacre
