// Compiles one kernel of a module and launches it. See RunOnDevice.h.
#include "cli/RunOnDevice.h"
#include "mlir/IR/IRMapping.h"
#include "runtime/launch/Launch.h"
#include "runtime/threads/ThreadPool.h"

using namespace nacre;

namespace {

// Puts the bodies of called functions in place of the calls, as targets expect, and leaves nothing but the kernel.
void leaveOneFunction(mlir::ModuleOp module, llvm::StringRef name) {
  auto kernel = module.lookupSymbol<mlir::func::FuncOp>(name);
  mlir::SmallVector<mlir::func::CallOp> calls;
  auto findCalls = [&] {
    calls.clear();
    kernel.walk([&](mlir::func::CallOp call) { calls.push_back(call); });
    return !calls.empty();
  };
  while (findCalls())
    for (mlir::func::CallOp call : calls) {
      mlir::Block &body = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee()).getBody().front();
      mlir::OpBuilder builder(call);
      mlir::IRMapping mapping;
      mapping.map(body.getArguments(), call.getOperands());
      for (mlir::Operation &op : body.without_terminator())
        builder.clone(op, mapping);
      for (auto [result, value] : llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
        result.replaceAllUsesWith(mapping.lookup(value));
      call.erase();
    }
  for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>()))
    if (function != kernel)
      function.erase();
}

[[noreturn]] void fail(const std::string &message, const SourceLocation &place = {}) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = message;
  diagnostic.location = place;
  throw CompileError(std::move(diagnostic));
}

[[noreturn]] void failAt(const std::string &message, const std::string &file, uint32_t line, uint32_t column) {
  auto source = std::make_shared<SourceText>();
  source->fileName = file;
  int row = static_cast<int>(line), place = std::max(static_cast<int>(column) - 1, 0);
  fail(message, {source, row, place, row, place});
}

CompiledCode compile(mlir::func::FuncOp kernel, const Driver &driver, Device &device, const RunOptions &options,
                     const DeviceRun &how) {
  const Target &target = driver.target();
  mlir::OwningOpRef<mlir::ModuleOp> module = kernel->getParentOfType<mlir::ModuleOp>().clone();
  leaveOneFunction(*module, kernel.getName());
  TargetOptions wanted;
  driver.setArchitecture(wanted, &device);
  if (!how.architecture.empty())
    wanted.architecture = how.architecture;
  CompileObserver observer;
  observer.onStage = [&](const std::string &stage, const std::function<std::string()> &text) {
    if (!how.shownStage.empty() && stage == target.stageNamed(how.shownStage))
      options.print(text());
  };
  Artifact made = target.compile(*module, wanted, observer);
  CompiledCode code;
  code.target = &target;
  code.object = std::move(made.binary);
  code.symbol = std::move(made.symbol);
  code.metadata = std::move(made.metadata);
  code.externals = std::move(made.externals);
  return code;
}

} // namespace

std::string nacre::devicesToRunOn() {
  std::string names;
  for (Driver *driver : drivers())
    if (driver->usesHostMemory())
      names += (names.empty() ? "" : ", ") + driver->name().str();
  return names;
}

void nacre::runOnDevice(mlir::func::FuncOp kernel, llvm::ArrayRef<uint64_t> arguments, const RunOptions &options,
                        const DeviceRun &how) {
  Driver *driver = findDriver(how.device);
  Device *device = driver && driver->usesHostMemory() ? driver->device(0) : nullptr;
  if (!device)
    fail("--engine=" + how.device + ": there is no such engine; use reference, " + devicesToRunOn());
  CompiledCode code = compile(kernel, *driver, *device, options, how);
  if (llvm::is_contained(options.grid, 0u))
    return;

  ThreadPool::setThreads(1);
  KnownArrays arrays;
  arrays.memory = *options.memory;
  PrintSink print = [&](const std::string &text) { options.print(text); };
  LaunchOptions launch;
  launch.print = &print;
  launch.arrays = &arrays;
  try {
    std::unique_ptr<LoadedKernel> loaded = device->load(code);
    device->enqueue(*loaded, {code, options.grid.data(), arguments, launch});
    device->synchronize();
  } catch (const DeviceAssertError &error) {
    failAt("program " + shownProgram(error.program) + ": device_assert failed: " + error.message, error.file,
           error.line, error.column);
  } catch (const OutOfBoundsError &error) {
    throw CompileError(error.diagnostic);
  } catch (const CompileError &) {
    throw;
  } catch (const std::runtime_error &error) {
    fail(error.what());
  }
}
