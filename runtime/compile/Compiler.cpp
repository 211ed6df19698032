// One compile, start to end: context, front end, target. Everything of MLIR's that can abort runs under crash
// recovery.
#include "runtime/compile/Compiler.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/support/PlantedBugs.h"
#include "compiler/targets/KeptStages.h"
#include "compiler/targets/StageText.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/Knobs.h"
#include "runtime/compile/BuildId.h"
#include "runtime/compile/Fingerprint.h"
#include "runtime/compile/ObjectCodec.h"
#include "runtime/compile/DeepStack.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include <chrono>
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
    for (const Target *target : targets())
      target->registerDialects(*made);
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

int64_t microsecondsSince(std::chrono::steady_clock::time_point &start) {
  auto now = std::chrono::steady_clock::now();
  return std::chrono::duration_cast<std::chrono::microseconds>(now - std::exchange(start, now)).count();
}

// Asks the embedder on the stack that the compile was asked for on: it may be Python.
class OuterEmbedder final : public Embedder {
public:
  explicit OuterEmbedder(Embedder &embedder) : embedder(embedder) {}
  Answer global(const FunctionSource &function, llvm::StringRef name) override {
    return ask([&] { return embedder.global(function, name); });
  }
  Answer attribute(const Object &object, llvm::StringRef name) override {
    return ask([&] { return embedder.attribute(object, name); });
  }
  Answer call(const Object &callee, llvm::ArrayRef<Object> positional,
              llvm::ArrayRef<std::pair<std::string, Object>> keywords) override {
    return ask([&] { return embedder.call(callee, positional, keywords); });
  }
  Answer library(llvm::StringRef path) override {
    return ask([&] { return embedder.library(path); });
  }

private:
  template <typename Question> Answer ask(Question question) {
    Answer answer;
    runOnOuterStack([&] { answer = question(); });
    return answer;
  }
  Embedder &embedder;
};

// The same function, called on that stack.
template <typename Result, typename... Arguments>
std::function<Result(Arguments...)> onOuterStack(const std::function<Result(Arguments...)> &function) {
  if (!function)
    return nullptr;
  return [&function](Arguments... arguments) {
    if constexpr (std::is_void_v<Result>) {
      runOnOuterStack([&] { function(arguments...); });
    } else {
      Result result;
      runOnOuterStack([&] { result = function(arguments...); });
      return result;
    }
  };
}

using SourceTexts = std::vector<std::shared_ptr<const SourceText>>;

void eraseMarks(mlir::ModuleOp module) {
  module.walk([](tile::TellOp op) {
    if (isMark(op.getKind()))
      op.erase();
  });
}

// What the front end tells of arithmetic beside its assertions, for who watches.
void eraseArithmetic(mlir::ModuleOp module) {
  module.walk([](tile::TellOp op) {
    if (op.getKind() == ToldKind::Arithmetic)
      op.erase();
  });
}

void buildModule(mlir::MLIRContext &context, const CompileRequest &request, Embedder &embedder,
                 mlir::OwningOpRef<mlir::ModuleOp> &module, SourceTexts &sources) {
  if (request.isTileIR) {
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    return replaceModule(*module, "tile", {request.kernel.text->text, request.kernel.text->fileName});
  }
  FrontendOptions frontend;
  frontend.debug = request.options.debug;
  frontend.sanitizeOverflow = request.options.sanitizeOverflow || request.options.watchArithmetic;
  frontend.staticPrint = onOuterStack(request.staticPrint);
  const Target &target = *request.options.target;
  frontend.target = target.languageName(request.options);
  frontend.assembly = target.assembly();
  frontend.warpSize = target.warpSize(request.options.architecture);
  frontend.launch = request.options.launch;
  frontend.launch.fpFusion = request.options.fpFusion;
  frontend.defaultInputPrecision = request.options.defaultInputPrecision;
  frontend.externLibraries = request.options.externLibraries;
  frontend.sources = &sources;
  buildTileIR(context, request.kernel, request.arguments, embedder, frontend, module);
  if (!request.options.keepsMarks)
    eraseMarks(*module);
  if (!request.options.watchArithmetic)
    eraseArithmetic(*module);
}

// What a kernel accesses of which a stage was replaced: known of tile IR alone.
ArgumentAccess accessOfReplaced(mlir::MLIRContext &context, const std::string &stage, const StageText &text) {
  if (stage != "tile") {
    ArgumentAccess access;
    access.maybeRead = access.maybeWritten = ~uint64_t(0);
    return access;
  }
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  replaceModule(*module, stage, text);
  return argumentAccess(*module);
}

// Gives the places that the target named the text of their lines.
void addText(Diagnostic &diagnostic, const SourceTexts &sources) {
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

CompiledCode compileHere(const CompileRequest &request, Embedder &embedder, const CompileWatchers &watchers) {
  auto start = std::chrono::steady_clock::now();
  CompileTimes times;
  mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
  SourceTexts sources;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  buildModule(context, request, embedder, module, sources);
  ArgumentAccess access = argumentAccess(*module); // before it is lowered
  times.frontEnd = microsecondsSince(start);

  CompileObserver observer;
#ifdef __OPTIMIZE__
  observer.verify = request.options.reports.verify;
#else
  observer.verify = true; // a debug build
#endif
  observer.dumpPasses = asksFor(request.options.reports.dumpPasses, request.kernel.name);
  observer.dumpLLVMPasses = request.options.reports.dumpLLVMPasses;
  observer.dumpPath = request.options.reports.dumpPath;
  observer.reproducerPath = request.options.reports.reproducerPath;
  if (!request.options.linesOfStage.empty() && watchers.fileFor) {
    observer.linesOfStage = request.options.linesOfStage;
    observer.linesFile = watchers.fileFor(observer.linesOfStage);
  }
  observer.onStage = [&](const std::string &stage, const std::function<std::string()> &text) {
    times.stages.emplace_back(stage, microsecondsSince(start));
    if (watchers.onStage)
      watchers.onStage(stage, text);
  };
  observer.replaceStage = [&](const std::string &stage,
                              const std::function<std::string()> &text) -> std::optional<StageText> {
    std::optional<StageText> other = watchers.replace ? watchers.replace(stage, text) : std::nullopt;
    if (auto given = request.stages.find(stage); !other && given != request.stages.end())
      other = given->second;
    if (other)
      access = accessOfReplaced(context, stage, *other);
    return other;
  };
  observer.keepStage = watchers.keep;
  Artifact code;
  try {
    code = request.options.target->compile(*module, request.options, observer);
  } catch (CompileError &error) {
    addText(error.diagnostic, sources);
    throw CompileError(std::move(error.diagnostic));
  }
  times.stages.emplace_back(request.options.target->binaryName().str(), microsecondsSince(start));
  return {request.options.target,    std::move(code.binary), std::move(code.symbol), std::move(code.metadata), access,
          std::move(code.externals), std::move(times)};
}

} // namespace

// The words of a knob that is a list, separated by commas.
static std::vector<std::string> knobWords(KnobId id) {
  std::vector<std::string> words;
  llvm::SmallVector<llvm::StringRef> parts;
  std::string text = knobString(id);
  llvm::StringRef(text).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts)
    words.push_back(part.trim().str());
  return words;
}

// "tile or cpu (ttir or ttgir)"
static std::string moduleStageList(const Target &target) {
  std::string names, aliases;
  for (const StageName &stage : target.stages())
    if (llvm::is_contained(target.moduleStages(), stage.name)) {
      names += (names.empty() ? "" : " or ") + std::string(stage.name);
      aliases += (aliases.empty() ? "" : " or ") + std::string(stage.alias);
    }
  return names + " (" + aliases + ")";
}

CompileOptions defaultCompileOptions(const Target &target) {
  CompileOptions options;
  options.target = &target;
  options.debug = options.checkAccesses = knobBoolean(KnobId::Debug);
  options.sanitizeOverflow = knobBoolean(KnobId::SanitizeOverflow);
  for (const std::string &word : knobWords(KnobId::Watch)) {
    bool *option = llvm::StringSwitch<bool *>(word)
                       .Case("accesses", &options.watchAccesses)
                       .Case("arithmetic", &options.watchArithmetic)
                       .Case("values", &options.watchValues)
                       .Case("scopes", &options.keepsMarks)
                       .Case("llvm", &options.llvmAddressChecks)
                       .Default(nullptr);
    if (!option)
      throw std::invalid_argument("NACRE_WATCH: '" + word +
                                  "' is none of accesses, arithmetic, values, scopes and llvm");
    *option = true;
  }
  options.fpFusion = knobBoolean(KnobId::DefaultFpFusion);
  options.lineInfo = !knobBoolean(KnobId::DisableLineInfo);
  options.knobs = knobsInCacheKey();
  options.defaultInputPrecision = knobString(KnobId::Fp32Default);
  if (std::string stage = knobString(KnobId::UseIrLocations); !stage.empty()) {
    options.linesOfStage = options.target->stageNamed(stage);
    if (!llvm::is_contained(options.target->moduleStages(), options.linesOfStage))
      throw std::invalid_argument("USE_IR_LOC=" + stage + ": expected " + moduleStageList(*options.target));
  }
  options.reports.verify = knobBoolean(KnobId::VerifyIR);
  options.reports.dumpPasses = knobString(KnobId::DumpPasses);
  options.reports.dumpLLVMPasses = knobBoolean(KnobId::DumpLLVMPasses);
  options.reports.dumpPath = knobString(KnobId::DumpPath);
  options.reports.reproducerPath = knobString(KnobId::ReproducerPath);
  return options;
}

static void check(const Target &target, const TargetOption &option, int64_t value) {
  bool isPowerOfTwo = value > 0 && (value & (value - 1)) == 0;
  if (value >= option.least && value <= option.most && (isPowerOfTwo || !option.isPowerOfTwo))
    return;
  const LaunchOption &row = launchOptions[static_cast<size_t>(option.id)];
  throw std::invalid_argument(std::string(row.name) + "=" + std::to_string(value) + ": " + target.title().str() +
                              " takes " + (option.isPowerOfTwo ? "a power of two " : "") + "from " +
                              std::to_string(option.least) + " to " + std::to_string(option.most));
}

void applyLaunchOptions(CompileOptions &options, const LaunchOptionValues &values) {
  auto decide = [&](LaunchOptionId id, bool &field) {
    if (values[id] >= 0)
      field = values[id] != 0;
  };
  // A launch may switch off what its kernel was decorated with, but not what the knob says of all kernels.
  if (int64_t debug = values[LaunchOptionId::Debug]; debug >= 0) {
    bool always = knobBoolean(KnobId::Debug);
    options.debug = debug != 0 || always;
    options.checkAccesses = (debug != 0 && debug != debugAsserts) || (debug == 0 && always);
  }
  decide(LaunchOptionId::SanitizeOverflow, options.sanitizeOverflow);
  decide(LaunchOptionId::FpFusion, options.fpFusion);
  for (const TargetOption &option : options.target->options()) {
    int64_t value = values[option.id];
    check(*options.target, option, value);
    options.launch.set(option.id, value);
  }
}

std::string CompileRequest::key() const {
  return Fingerprint()
      .add(buildId())
      .add(plantedBug())
      .add(options.target->name())
      .add(options.target->description(options))
      .add(options.knobs)
      .add(options.checksLaunches)
      .add(sourceKey())
      .hex();
}

namespace {
// An option of the launch in a key; -1: not said.
struct AddOption {
  Fingerprint &fingerprint;
  void operator()(const char *, const std::optional<int32_t> &count) const { fingerprint.add(count.value_or(-1)); }
  void operator()(const char *, const std::optional<bool> &choice) const { fingerprint.add(choice ? *choice : -1); }
  void operator()(const char *, bool isSet) const { fingerprint.add(isSet); }
};
} // namespace

std::string CompileRequest::sourceKey() const {
  Fingerprint fingerprint;
  fingerprint.add(digest(kernel)).add(isTileIR).add(static_cast<uint64_t>(stages.size()));
  for (const auto &[stage, text] : stages)
    fingerprint.add(stage).add(text.text);
  fingerprint.add(options.debug).add(options.checkAccesses).add(options.sanitizeOverflow);
  fingerprint.add(options.fpFusion).add(options.lineInfo);
  fingerprint.add(options.watchAccesses).add(options.watchArithmetic).add(options.watchValues);
  fingerprint.add(options.llvmAddressChecks);
  fingerprint.add(options.keepsMarks);
  options.launch.visit(AddOption{fingerprint});
  fingerprint.add(static_cast<uint64_t>(options.externLibraries.size()));
  for (const auto &[name, path] : options.externLibraries)
    fingerprint.add(name).add(path);
  fingerprint.add(static_cast<uint64_t>(arguments.size()));
  for (const ArgumentSpec &argument : arguments)
    addSpec(fingerprint, argument);
  return fingerprint.hex();
}

// Runs a part of the compiler: on a stack that is deep enough, and where a crash is an error.
static void runCompiler(const CompileRequest &request, llvm::function_ref<void()> work) {
  // Nothing may be thrown across the recovery context, and nothing of ours is unwound when it recovers.
  std::exception_ptr failure;
  static const bool prepared = [] {
    llvm::CrashRecoveryContext::Enable();
    llvm::install_fatal_error_handler(leaveFatalError);
    return true;
  }();
  (void)prepared;
  fatalError.clear();
  llvm::CrashRecoveryContext recovery;
  bool survived = false;
  runOnDeepStack([&] {
    survived = recovery.RunSafely([&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
    });
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
}

CompiledCode compileKernel(const CompileRequest &request, Embedder &embedder, const CompileWatchers &watchers) {
  CompiledCode code;
  OuterEmbedder outerEmbedder(embedder);
  CompileWatchers outerWatchers{onOuterStack(watchers.onStage), onOuterStack(watchers.replace),
                                onOuterStack(watchers.fileFor), watchers.keep};
  runCompiler(request, [&] { code = compileHere(request, outerEmbedder, outerWatchers); });
  return code;
}

StageTexts textsOfKept(const CompileRequest &request, const KeptStages &kept) {
  StageTexts texts;
  runCompiler(request, [&] { texts = textsOfKept(*request.options.target, request.options, kept, dialects()); });
  return texts;
}

} // namespace nacre
