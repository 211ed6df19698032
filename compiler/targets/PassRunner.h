// Runs parts of a target's pipeline over MLIR, and tells of what goes wrong in them.
#pragma once

#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace nacre {

// The place of an operation, and the calls that led there. Their text is for who knows it to add.
void setPlace(Diagnostic &diagnostic, mlir::Location location);

// Canonicalization, into the regions that operations of tiles hold too, and common subexpressions.
void addSimplification(mlir::OpPassManager &passes);

// One compile's pass runs and stages of MLIR.
class PassRunner {
public:
  PassRunner(const Target &target, mlir::ModuleOp module, const CompileObserver &observer)
      : target(target), module(module), observer(observer) {}

  // Runs the passes that `build` adds; what they report becomes one CompileError, with the name of this part ("tile
  // passes").
  void run(const char *part, llvm::function_ref<void(mlir::OpPassManager &)> build);
  // The module stands at this stage: it may be replaced, is shown and kept, and may lend its lines.
  void stage(const char *name);

private:
  const Target &target;
  mlir::ModuleOp module;
  const CompileObserver &observer;
};

} // namespace nacre
