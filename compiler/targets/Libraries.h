// Libraries of users in kernels, as far as all targets agree: which functions a kernel calls, and linking those that
// are LLVM IR into its module.
#pragma once

#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/language/meaning/ExternalLibrary.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace nacre {

// A function that the kernel calls, and where it does.
struct ExternalUse {
  ExternalFunction function;
  Diagnostic place; // its location and calls alone
};

// The functions of one library that the kernel calls; never empty.
struct LibraryUse {
  std::shared_ptr<const ExternalLibrary> library;
  std::vector<const ExternalUse *> functions;
};

// The functions of libraries that the kernel calls, each once.
std::vector<ExternalUse> externalUses(mlir::ModuleOp module);
// By library; points into `uses`. Throws CompileError for a library that is gone or has changed.
std::vector<LibraryUse> byLibrary(llvm::ArrayRef<ExternalUse> uses);
// Links the functions, and what they need, into the module under their link names; the whole is then the kernel's own.
// The library is IR. Throws CompileError.
void linkIR(llvm::Module &module, const LibraryUse &use);

[[noreturn]] void failUse(const ExternalUse &use, const std::string &message, const std::string &hint = "");

} // namespace nacre
