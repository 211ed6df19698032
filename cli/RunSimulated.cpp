// See RunSimulated.h.
#include "cli/RunSimulated.h"
#include "cli/RunCompiled.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/cuda/CudaTarget.h"
#include "simulator/Simulator.h"

using namespace nacre;

[[noreturn]] static void fail(const std::string &message) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = message;
  throw CompileError(std::move(diagnostic));
}

void nacre::runSimulated(mlir::func::FuncOp kernel, llvm::ArrayRef<uint64_t> arguments, const RunOptions &options,
                         const SimulatedRun &how) {
  mlir::OwningOpRef<mlir::ModuleOp> module = kernel->getParentOfType<mlir::ModuleOp>().clone();
  leaveOneFunction(*module, kernel.getName());
  TargetOptions target;
  target.architecture = how.architecture;
  target.assembles = false;
  CompileObserver observer;
  observer.onStage = [&](const std::string &stage, const std::function<std::string()> &text) {
    if (!how.shownStage.empty() && stage == cuda::target().stageNamed(how.shownStage))
      options.print(text());
  };
  Artifact code = cuda::target().compile(*module, target, observer);
  try {
    std::unique_ptr<simulator::Module> ptx = simulator::load(code.binary, code.symbol + ".ptx");
    simulator::Launch launch;
    launch.kernel = code.symbol;
    launch.grid = {options.grid[0], options.grid[1], options.grid[2]};
    launch.block = {static_cast<uint32_t>(code.metadata.warps) * 32, 1, 1};
    launch.sharedBytes = static_cast<uint32_t>(code.metadata.sharedBytes);
    launch.threads = 1;
    for (const simulator::KernelInfo &info : ptx->kernels())
      for (size_t i = 0; i < std::min(arguments.size(), info.parameters.size()); ++i)
        launch.addBytes(&arguments[i], info.parameters[i].size);
    for (const MemoryMap::Range &range : options.memory->all())
      launch.memory.push_back(
          {reinterpret_cast<void *>(range.begin), range.end - range.begin, range.name, !range.isReadOnly});
    launch.print = [&](std::string_view text) { options.print(llvm::StringRef(text.data(), text.size())); };
    simulator::Report report = ptx->run(launch);
    if (!report.clean())
      fail("the simulator objects:\n" + report.text());
  } catch (const simulator::Error &error) {
    fail("the simulator cannot run line " + std::to_string(error.line) + " of the PTX: " + error.what());
  }
}
