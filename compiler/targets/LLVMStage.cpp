// See LLVMStage.h.
#include "compiler/targets/LLVMStage.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/KeptStages.h"
#include "compiler/targets/PassReport.h"
#include "compiler/targets/StageText.h"
#include "mlir/Target/LLVMIR/Export.h"

using namespace nacre;

LLVMStage::LLVMStage(const Target &target, mlir::ModuleOp module, const std::string &symbol,
                     llvm::TargetMachine &machine, const CompileObserver &observer)
    : symbol(symbol), observer(observer), errors(context) {
  errors.watchAssembly(module);
  llvmModule = mlir::translateModuleToLLVMIR(module, context, symbol);
  if (!llvmModule) {
    Diagnostic diagnostic;
    diagnostic.kind = Diagnostic::Kind::Internal;
    diagnostic.message = "the " + target.title().str() + " target could not translate the kernel to LLVM IR";
    throw CompileError(diagnostic);
  }
  llvmModule->setTargetTriple(machine.getTargetTriple());
  llvmModule->setDataLayout(machine.createDataLayout());
  errors.mark(*llvmModule);
  if (observer.verify)
    verifyLLVM(*llvmModule);
}

std::vector<MovedLines>
LLVMStage::optimize(const MovedLinesFinder &moved, llvm::function_ref<MarksInCode()> marks,
                    llvm::function_ref<void(llvm::PassInstrumentationCallbacks *)> runPasses) {
  for (llvm::Function &function : *llvmModule)
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoUnwind);
  llvm::PassInstrumentationCallbacks callbacks;
  if (observer.dumpLLVMPasses)
    reportLLVMPasses(callbacks, reportStream(observer.dumpPath));
  if (moved.hasScopes())
    moved.nameInstructions(*llvmModule);
  runPasses(observer.dumpLLVMPasses ? &callbacks : nullptr);
  return moved.hasScopes() ? moved.find(*llvmModule, marks()) : std::vector<MovedLines>();
}

void LLVMStage::takeReplacement() {
  if (std::optional<StageText> other = observer.replacement("llvm", [&] { return printed(*llvmModule); }))
    llvmModule = parseLLVM(other->text, context, symbol);
}

void LLVMStage::finish() {
  if (observer.verify)
    verifyLLVM(*llvmModule);
  observer.show("llvm", [&] { return printed(*llvmModule); });
  observer.keep("llvm", [&] { return keptForm(*llvmModule); });
}
