// nacre-opt: reads IR, runs passes on it, and prints it, or runs a kernel of it (RunKernel.h). The tool of the pass
// tests.
#include "cli/RunKernel.h"
#include "compiler/analysis/PrintAnalyses.h"
#include "compiler/passes/tile/CanonicalizeInnerRegions.h"
#include "compiler/passes/tile/CheckAccesses.h"
#include "compiler/passes/tile/ExpandDescriptors.h"
#include "compiler/passes/tile/ExpandMath.h"
#include "compiler/passes/tile/ExpandScaledDots.h"
#include "compiler/passes/tile/LegalizeIntegers.h"
#include "compiler/passes/tile/ScalarizeCarried.h"
#include "compiler/passes/tile/WatchArithmetic.h"
#include "compiler/passes/tile/WatchValues.h"
#include "compiler/passes/tile/WidenSmallFloats.h"
#include "compiler/targets/Target.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace nacre;

// Every pass of the project, in the order a kernel meets them.
static void registerPasses() {
  mlir::registerTransformsPasses(); // canonicalize, cse, ...
  registerPrintAnalyses();
  registerExpandDescriptors();
  registerExpandScaledDots();
  registerCheckAccesses();
  registerWatchArithmetic();
  registerWatchValues();
  registerCanonicalizeInnerRegions();
  registerScalarizeCarried();
  registerExpandMath();
  registerLegalizeIntegers();
  registerWidenSmallFloats();
  for (const Target *target : targets())
    target->registerPasses();
}

static void registerDialects(mlir::DialectRegistry &registry) {
  for (const Target *target : targets())
    target->registerDialects(registry);
  registry.insert<mlir::tensor::TensorDialect, mlir::memref::MemRefDialect>(); // of tests alone
}

static int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerPasses();
  registerRunOptions();
  auto [inputName, outputName] = mlir::registerAndParseCLIOptions(argc, argv, "Nacre's optimizer driver\n", registry);

  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  mlir::MlirOptMainConfig parsed = config;
  if (isRunRequested())
    config.setPassPipelineSetupFn([&](mlir::PassManager &passes) {
      if (mlir::failed(parsed.setupPassPipeline(passes)))
        return mlir::failure();
      passes.addPass(createRunKernel());
      return mlir::success();
    });

  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> input = mlir::openInputFile(inputName, &problem);
  std::unique_ptr<llvm::ToolOutputFile> output = input ? mlir::openOutputFile(outputName, &problem) : nullptr;
  if (!output) {
    llvm::errs() << problem << "\n";
    return 1;
  }
  // What a run prints is its output; the module is not.
  llvm::raw_ostream &moduleStream = isRunRequested() ? llvm::nulls() : output->os();
  if (mlir::failed(mlir::MlirOptMain(moduleStream, std::move(input), registry, config)))
    return 1;
  output->keep();
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  return run(argc, argv);
}
