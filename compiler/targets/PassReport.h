// Watches a pipeline for the person who debugs it.
#pragma once

#include "mlir/Pass/PassManager.h"
#include "llvm/IR/PassInstrumentation.h"

namespace nacre {

// Where reports go: appended to the file, or stderr when `path` is empty. Throws CompileError when it cannot be opened.
std::shared_ptr<llvm::raw_ostream> reportStream(const std::string &path);

// Prints the module after every pass that changed it, under a line with the pass's flag and its time; a pass that
// changed nothing gets its line alone.
void reportPasses(mlir::PassManager &passes, std::shared_ptr<llvm::raw_ostream> stream);

// The same for LLVM's passes, without times. `callbacks` must live as long as the passes run.
void reportLLVMPasses(llvm::PassInstrumentationCallbacks &callbacks, std::shared_ptr<llvm::raw_ostream> stream);

} // namespace nacre
