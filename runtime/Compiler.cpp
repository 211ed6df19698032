// One compile, start to end: context, front end, CPU target. Everything of MLIR's that can abort runs under crash
// recovery.
#include "runtime/Compiler.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/BuildId.h"
#include "runtime/Fingerprint.h"
#include "runtime/Knobs.h"
#include "runtime/ObjectCodec.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <exception>
#include <mutex>

namespace nacre {

namespace {

void addSpec(Fingerprint &fingerprint, const ArgumentSpec &spec) {
  fingerprint.add(spec.name).add(spec.isConstant).add(spec.isRunTimeValue).add(spec.isTuple).add(spec.divisibility);
  if (spec.isConstant)
    fingerprint.add(digest(spec.constant));
  else if (spec.isTuple) {
    fingerprint.add(static_cast<uint64_t>(spec.elements.size())).add(spec.tupleName).add(spec.isRecord);
    fingerprint.add(digest(spec.recordClass));
    for (const std::string &field : spec.fieldNames)
      fingerprint.add(field);
    for (const ArgumentSpec &element : spec.elements)
      addSpec(fingerprint, element);
  } else {
    fingerprint.add(spec.type.shortName());
  }
}

const mlir::DialectRegistry &dialects() {
  static const mlir::DialectRegistry *registry = [] {
    auto *made = new mlir::DialectRegistry;
    cpu::registerDialects(*made);
    return made;
  }();
  return *registry;
}

// LLVM reports what it cannot do by ending the process, unless a handler leaves before that: into the recovery context.
thread_local std::string fatalError;

void leaveFatalError(void *, const char *reason, bool) {
  fatalError = reason;
  if (llvm::CrashRecoveryContext *recovery = llvm::CrashRecoveryContext::GetCurrent())
    recovery->HandleExit(1);
}

// Gives the places that the target named the text of their lines.
void addText(Diagnostic &diagnostic, llvm::ArrayRef<std::shared_ptr<const SourceText>> sources) {
  auto complete = [&](SourceLocation &place) {
    for (const std::shared_ptr<const SourceText> &source : sources)
      if (place.source && source->fileName == place.source->fileName && !source->line(place.line).empty()) {
        place.source = source;
        return;
      }
  };
  complete(diagnostic.location);
  for (SourceLocation &call : diagnostic.calls)
    complete(call);
}

CompiledCode compileHere(const CompileRequest &request, Host &host, const StageSink &onStage) {
  mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
  FrontendOptions frontend;
  frontend.debug = request.options.debug;
  frontend.sanitizeOverflow = request.options.sanitizeOverflow;
  frontend.staticPrint = request.staticPrint;
  std::vector<std::shared_ptr<const SourceText>> sources;
  frontend.sources = &sources;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  buildTileIR(context, request.kernel, request.arguments, host, frontend, module);

  ArgumentAccess access = argumentAccess(*module); // before it is lowered
  cpu::CpuOptions options;
  options.cpu = request.options.cpu;
  options.features = request.options.features;
  options.fpFusion = request.options.fpFusion;
  options.lineInfo = request.options.lineInfo;
  options.dumpPasses = knobBoolean(KnobId::DumpPasses);
  options.reproducerPath = knobString(KnobId::ReproducerPath);
  options.onStage = onStage;
  try {
    cpu::CpuCode code = cpu::compile(*module, options);
    return {std::move(code.object), std::move(code.symbol), code.metadata, access};
  } catch (CompileError &error) {
    addText(error.diagnostic, sources);
    throw CompileError(std::move(error.diagnostic));
  }
}

} // namespace

CompileOptions defaultCompileOptions() {
  CompileOptions options;
  options.debug = knobBoolean(KnobId::Debug);
  options.sanitizeOverflow = knobBoolean(KnobId::SanitizeOverflow);
  options.fpFusion = knobBoolean(KnobId::DefaultFpFusion);
  options.lineInfo = !knobBoolean(KnobId::DisableLineInfo);
  options.cpu = knobString(KnobId::CpuTarget);
  options.features = knobString(KnobId::CpuFeatures);
  options.knobs = knobsInCacheKey();
  return options;
}

std::string targetDescription(const CompileOptions &options) {
  std::string cpu = options.cpu.empty() ? cpu::hostCpu() : options.cpu;
  std::string features = options.cpu.empty() ? cpu::hostFeatures() : "";
  return cpu + " " + features + " " + options.features;
}

std::string whyNotHere(const CompileOptions &options) {
  llvm::SmallVector<llvm::StringRef> wanted;
  if (!options.cpu.empty())
    llvm::X86::getFeaturesForCPU(options.cpu, wanted);
  for (llvm::StringRef feature : llvm::split(options.features, ','))
    if (feature.consume_front("+"))
      wanted.push_back(feature);
  if (wanted.empty())
    return "";
  static const llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  std::string missing;
  for (llvm::StringRef feature : wanted)
    if (auto found = present.find(feature); found != present.end() && !found->second)
      missing += (missing.empty() ? "" : ", ") + feature.str();
  return missing.empty() ? ""
                         : "it was compiled for " + (options.cpu.empty() ? options.features : options.cpu) +
                               ", and this machine lacks " + missing;
}

std::string CompileRequest::key() const {
  Fingerprint fingerprint;
  fingerprint.add(buildId()).add("cpu").add(targetDescription(options)).add(digest(kernel)).add(options.knobs);
  fingerprint.add(options.debug).add(options.sanitizeOverflow).add(options.fpFusion).add(options.lineInfo);
  fingerprint.add(static_cast<uint64_t>(arguments.size()));
  for (const ArgumentSpec &argument : arguments)
    addSpec(fingerprint, argument);
  return fingerprint.hex();
}

CompiledCode compileKernel(const CompileRequest &request, Host &host, const StageSink &onStage) {
  // Nothing may be thrown across the recovery context, and nothing of ours is unwound when it recovers.
  CompiledCode code;
  std::exception_ptr failure;
  static const bool prepared = [] {
    llvm::CrashRecoveryContext::Enable();
    llvm::install_fatal_error_handler(leaveFatalError);
    return true;
  }();
  (void)prepared;
  fatalError.clear();
  llvm::CrashRecoveryContext recovery;
  bool survived = recovery.RunSafely([&] {
    try {
      code = compileHere(request, host, onStage);
    } catch (...) {
      failure = std::current_exception();
    }
  });
  if (!survived) {
    Diagnostic diagnostic;
    diagnostic.kind = Diagnostic::Kind::Internal;
    diagnostic.location.source = request.kernel.text;
    diagnostic.location.line = request.kernel.text->firstLine;
    diagnostic.message = "the compiler crashed while compiling `" + request.kernel.name + "` (" +
                         (fatalError.empty() ? "signal " + std::to_string(recovery.RetCode - 128) : fatalError) + ")";
    diagnostic.hint = "this is a fault of the compiler, not of the kernel: please report it with the kernel's text";
    throw CompileError(diagnostic);
  }
  if (failure)
    std::rethrow_exception(failure);
  return code;
}

} // namespace nacre
