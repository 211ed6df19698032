// A kernel as LLVM IR: the half of a compile that all targets share. A target's page says what it does between the steps.
//
//   LLVMStage stage(*this, module, code.symbol, *machine, observer);   // translated, for the machine, verified
//   ... libraries are linked, attributes set: the target's ...
//   std::vector<MovedLines> lines = stage.optimize(moved, marks, [&](auto *callbacks) { ... });
//   stage.takeReplacement();                                           // by text of the user's, if there is any
//   stage.finish();                                                    // verified, shown and kept as the stage "llvm"
//   ... machine code is made ...
//   stage.throwIfAny();
#pragma once

#include "compiler/targets/LLVMErrors.h"
#include "compiler/targets/MovedLines.h"
#include "compiler/targets/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Target/TargetMachine.h"

namespace nacre {

class LLVMStage {
public:
  // `module` is in LLVM's dialect and defines `symbol`. Throws CompileError where it cannot be translated.
  LLVMStage(const Target &target, mlir::ModuleOp module, const std::string &symbol, llvm::TargetMachine &machine,
            const CompileObserver &observer);

  llvm::Module &module() { return *llvmModule; }
  llvm::Function *kernel() { return llvmModule->getFunction(symbol); }

  // Runs the target's passes, which tell the callbacks where there are any. Returns the lines that moved out of their scopes, where the
  // kernel has scopes; `marks` is asked for only then.
  std::vector<MovedLines> optimize(const MovedLinesFinder &moved, llvm::function_ref<MarksInCode()> marks,
                                   llvm::function_ref<void(llvm::PassInstrumentationCallbacks *)> runPasses);
  void takeReplacement();
  void finish();
  // What LLVM reported so far, as a CompileError.
  void throwIfAny() const { errors.throwIfAny(); }

private:
  const std::string symbol;
  const CompileObserver &observer;
  llvm::LLVMContext context;
  LLVMErrors errors;
  std::unique_ptr<llvm::Module> llvmModule;
};

} // namespace nacre
