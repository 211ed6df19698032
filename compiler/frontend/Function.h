// Functions of the language as the code generator sees them: the text, its tree, and whose names it may use.
#pragma once

#include "compiler/frontend/AST.h"
#include "compiler/frontend/Frontend.h"

namespace nacre {

struct Function {
  FunctionSource source;
  std::shared_ptr<const ast::Module> module; // keeps the tree alive
  const ast::FunctionDefinition *definition = nullptr;
  std::string libraryFile; // "standard.py": a function of the standard library; empty: the user's

  bool isLibrary() const { return !libraryFile.empty(); }
};
using FunctionPointer = std::shared_ptr<const Function>;

// Parses the text of one function. Throws CompileError.
FunctionPointer parseFunctionSource(const FunctionSource &source);

// The standard library's function `name`, which `file` defines; null when it does not. The files are parsed once a
// process.
FunctionPointer libraryFunction(llvm::StringRef file, llvm::StringRef name);
// The reference by which objects name a library function.
JitReference libraryReference(const Function &function);
// The library function that a reference names; null when it is not one.
FunctionPointer findLibraryFunction(const JitReference &reference);

// Whether an annotation says tl.constexpr, under whatever name the module is imported; and tl.const.
bool isConstexprAnnotation(const ast::Expression *annotation);
bool isConstAnnotation(const ast::Expression *annotation);

} // namespace nacre
