// What LLVM reports while it makes machine code, as one CompileError with its place in the kernel.
#pragma once

#include "compiler/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include <map>

namespace nacre {

// Throws CompileError when LLVM's verifier objects to what the compiler made.
void verifyLLVM(const llvm::Module &module);

class LLVMErrors {
public:
  // Listens to the context from now on. LLVM's own handler would end the process.
  explicit LLVMErrors(llvm::LLVMContext &context);
  // Numbers the inline assembly of a kernel, so that an error about it can be placed: `module` before it is translated to
  // LLVM IR, `translated` after.
  void watchAssembly(mlir::ModuleOp module);
  void mark(llvm::Module &translated) const;
  // Throws CompileError if there was an error; the first one counts.
  void throwIfAny() const;

private:
  struct Handler;
  struct Reported {
    std::string text;
    uint64_t assembly = 0; // the number of the inline assembly that it is about, or 0
  };
  std::shared_ptr<Reported> reported = std::make_shared<Reported>();
  std::map<std::pair<llvm::StringRef, llvm::StringRef>, mlir::Location> places;
};

} // namespace nacre
