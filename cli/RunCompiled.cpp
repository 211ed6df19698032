// Compiles one kernel of a module, and stands in for the runtime while it runs.
#include "cli/RunCompiled.h"
#include "compiler/reference/Buffer.h"
#include "compiler/reference/Machine.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "mlir/IR/IRMapping.h"
#include <csetjmp>
#include <vector>

using namespace nacre;

namespace {
// What the callbacks need; compiled code hands it back through the context.
struct Launch {
  const RunOptions *options;
  std::jmp_buf afterKernel;
  std::string failure;
  SourceLocation failurePlace;
};

Launch &launchOf(KernelContext *context) { return *static_cast<Launch *>(context->launch); }

// Printed as the evaluator prints, so that outputs can be compared.
void print(KernelContext *context, const uint32_t *programId, const char *prefix, uint32_t hex, uint32_t count,
           const uint32_t *kinds, const int64_t *shapes, const void *const *data) {
  EagerBuilder builder;
  builder.program.programId = {programId[0], programId[1], programId[2]};
  builder.program.print = launchOf(context).options->print;
  Values values;
  for (uint32_t i = 0; i < count; ++i) {
    Type scalar = Type::scalar(static_cast<ScalarKind>(kinds[i] & 0xFF));
    size_t rank = (kinds[i] >> 8) & 0xFF;
    BufferRef buffer = makeBuffer(withShape(scalar, Shape(shapes, rank)));
    std::memcpy(buffer->data, data[i], buffer->count() * buffer->elementSize());
    shapes += rank;
    values.push_back(valueOf(buffer));
  }
  builder.devicePrint(prefix, values, hex != 0);
}

void assertFailed(KernelContext *context, const uint32_t *programId, const char *message, const char *file,
                  uint32_t line, uint32_t) {
  Launch &launch = launchOf(context);
  launch.failure = "program (" + std::to_string(programId[0]) + ", " + std::to_string(programId[1]) + ", " +
                   std::to_string(programId[2]) + "): device_assert failed: " + message;
  auto source = std::make_shared<SourceText>();
  source->fileName = file;
  launch.failurePlace.source = source;
  launch.failurePlace.line = static_cast<int>(line);
  source.reset(); // longjmp runs no destructors
  std::longjmp(launch.afterKernel, 1);
}

// Programs run one after another here: there is nobody to wait for but a program that has ended.
void waiting(KernelContext *) {}
uint64_t readClock(KernelContext *) { return clockNanoseconds(); }
uint32_t readProcessor(KernelContext *) { return processorNumber(); }

// False after a failed assert. Nothing in this frame needs unwinding.
bool runPrograms(KernelFunction function, const uint64_t *arguments, uint64_t programs, KernelContext &context) {
  if (setjmp(launchOf(&context).afterKernel))
    return false;
  function(arguments, 0, programs, &context);
  return true;
}

} // namespace

void nacre::leaveOneFunction(mlir::ModuleOp module, llvm::StringRef name) {
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

void nacre::runCompiled(mlir::func::FuncOp kernel, llvm::ArrayRef<uint64_t> arguments, const RunOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> module = kernel->getParentOfType<mlir::ModuleOp>().clone();
  leaveOneFunction(*module, kernel.getName());
  Artifact code = cpu::target().compile(*module, {}, {});
  std::unique_ptr<cpu::LoadedCode> loaded = cpu::load(code.binary, code.symbol);

  Storage scratch(code.metadata.scratchBytes);
  Launch launch;
  launch.options = &options;
  KernelContext context{};
  std::copy(options.grid.begin(), options.grid.end(), context.grid);
  context.scratch = scratch.get();
  context.print = print;
  context.assertFailed = assertFailed;
  context.waiting = waiting;
  context.clock = readClock;
  context.processor = readProcessor;
  context.launch = &launch;
  uint64_t programs = uint64_t(options.grid[0]) * options.grid[1] * options.grid[2];
  if (runPrograms(loaded->function, arguments.data(), programs, context))
    return;
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = launch.failure;
  diagnostic.location = launch.failurePlace;
  throw CompileError(std::move(diagnostic));
}
