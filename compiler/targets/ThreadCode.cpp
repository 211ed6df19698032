// See ThreadCode.h.
#include "compiler/targets/ThreadCode.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/TrackingMDRef.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nacre;

void nacre::widenHalfArguments(mlir::func::FuncOp kernel) {
  if (kernel.isDeclaration())
    return;
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&kernel.front());
  for (mlir::BlockArgument argument : kernel.getArguments()) {
    mlir::Type narrow = argument.getType();
    if (!narrow.isF16() && !narrow.isBF16())
      continue;
    argument.setType(builder.getF32Type());
    auto value = mlir::arith::TruncFOp::create(builder, kernel.getLoc(), narrow, argument);
    argument.replaceAllUsesExcept(value, value);
  }
  kernel.setType(builder.getFunctionType(kernel.front().getArgumentTypes(), {}));
}

void nacre::addConversionsToLLVM(mlir::OpPassManager &passes) {
  passes.addPass(mlir::createSCFToControlFlowPass());
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createUBToLLVMConversionPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
}

namespace {
// Keeps the lines of accesses that passes move. LLVM takes the line from an instruction that leaves its block, as a
// debugger wants it; tools that tell of accesses (simulator, compute-sanitizer, samples of lines) want to know whose it
// was. An annotation is metadata that stays with a moved instruction.
class LinesOfAccesses {
public:
  explicit LinesOfAccesses(llvm::Module &module) : module(module) {
    forEachAccess([&](llvm::Instruction &access) {
      llvm::DILocation *line = access.getDebugLoc().get();
      if (!line)
        return;
      llvm::LLVMContext &context = module.getContext();
      llvm::Metadata *name = llvm::MDString::get(context, prefix + std::to_string(lines.size()));
      access.setMetadata(llvm::LLVMContext::MD_annotation, llvm::MDNode::get(context, name));
      lines.emplace_back(line);
    });
  }

  // Gives them back where they are gone, and takes the annotations away.
  void restore() {
    forEachAccess([&](llvm::Instruction &access) {
      llvm::DILocation *line = lineOf(access.getMetadata(llvm::LLVMContext::MD_annotation));
      access.setMetadata(llvm::LLVMContext::MD_annotation, nullptr);
      const llvm::DILocation *left = access.getDebugLoc().get();
      bool isOurs = line && line->getInlinedAtScope()->getSubprogram() == access.getFunction()->getSubprogram();
      if (isOurs && (!left || left->getLine() == 0))
        access.setDebugLoc(line);
    });
  }

private:
  static constexpr const char *prefix = "nacre.access.";

  template <typename Visit> void forEachAccess(Visit visit) {
    for (llvm::Function &function : module)
      for (llvm::Instruction &instruction : llvm::instructions(function))
        if (llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction))
          visit(instruction);
  }

  llvm::DILocation *lineOf(llvm::MDNode *annotation) const {
    size_t number = 0;
    if (annotation)
      for (const llvm::MDOperand &operand : annotation->operands())
        if (auto *name = llvm::dyn_cast_or_null<llvm::MDString>(operand.get()))
          if (llvm::StringRef rest = name->getString();
              rest.consume_front(prefix) && !rest.getAsInteger(10, number) && number < lines.size())
            return llvm::cast<llvm::DILocation>(lines[number].get());
    return nullptr;
  }

  llvm::Module &module;
  std::vector<llvm::TrackingMDRef> lines;
};
} // namespace

void nacre::optimizeThreadCode(llvm::Module &module, llvm::TargetMachine &machine,
                               llvm::PassInstrumentationCallbacks *callbacks, llvm::StringRef first,
                               llvm::StringRef last) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopUnrolling = tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::ModulePassManager passes;
  std::string text = (first +
                      "function(sroa,early-cse,instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),gvn,"
                      "instcombine<no-verify-fixpoint>,simplifycfg,adce)" +
                      last)
                         .str();
  if (llvm::Error error = builder.parsePassPipeline(passes, text))
    llvm::report_fatal_error(std::move(error));
  LinesOfAccesses lines(module);
  passes.run(module, modules);
  lines.restore();
}

// Machine code has one line for an instruction, and names no callers. What comes of the standard library stands for
// the line of the kernel, or of the user's function, that calls it: compute-sanitizer, profilers and the simulator show
// that one.
void nacre::nameCallersOfLibrary(llvm::Module &module) {
  auto isOfLibrary = [](const llvm::DILocation &line) { return line.getFilename().starts_with("nacre/language/"); };
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      llvm::DILocation *line = instruction.getDebugLoc().get();
      while (line && isOfLibrary(*line) && line->getInlinedAt())
        line = line->getInlinedAt();
      if (line != instruction.getDebugLoc().get())
        instruction.setDebugLoc(line);
    }
}
