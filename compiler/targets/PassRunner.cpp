// See PassRunner.h.
#include "compiler/targets/PassRunner.h"
#include "compiler/passes/tile/CanonicalizeInnerRegions.h"
#include "compiler/targets/KeptStages.h"
#include "compiler/targets/PassReport.h"
#include "compiler/targets/StageText.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LocationSnapshot.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace nacre;

void nacre::setPlace(nacre::Diagnostic &diagnostic, Location location) {
  location->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place)
      return WalkResult::advance();
    auto source = std::make_shared<SourceText>();
    source->fileName = place.getFilename().str();
    int line = static_cast<int>(place.getLine()), column = std::max(static_cast<int>(place.getColumn()) - 1, 0);
    SourceLocation found{source, line, column, line, column};
    if (diagnostic.location.source)
      diagnostic.calls.push_back(found);
    else
      diagnostic.location = found;
    return WalkResult::advance();
  });
}

void PassRunner::run(const char *part, llvm::function_ref<void(OpPassManager &)> build) {
  std::string reported;
  nacre::Diagnostic diagnostic;
  ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &error) {
    if (error.getSeverity() == DiagnosticSeverity::Error && reported.empty()) {
      reported = error.str();
      setPlace(diagnostic, error.getLocation());
    }
    return success();
  });
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.enableVerifier(observer.verify);
  if (observer.dumpPasses)
    reportPasses(passes, reportStream(observer.dumpPath));
  if (!observer.reproducerPath.empty())
    passes.enableCrashReproducerGeneration(observer.reproducerPath);
  build(passes);
  if (succeeded(passes.run(module)))
    return;
  diagnostic.kind = nacre::Diagnostic::Kind::Internal;
  diagnostic.message = "the " + target.title().str() + " target failed in " + part + ": " + reported;
  diagnostic.hint = observer.reproducerPath.empty()
                        ? "set TRITON_REPRODUCER_PATH to a file to keep what failed for nacre-opt"
                        : "nacre-opt --run-reproducer " + observer.reproducerPath + " shows it again";
  throw CompileError(diagnostic);
}

void nacre::addSimplification(OpPassManager &passes) {
  // Control flow is structured: there are no blocks to merge, and to look for dead ones takes a walk through all that is
  // inside of every operation, so that a deep nest takes time by the square of its depth.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  passes.addPass(createCanonicalizeInnerRegions());
  passes.addPass(createCanonicalizerPass(config));
  passes.addPass(createCSEPass());
}

// Writes the module to a file; its operations stand where they are in that file from now on.
static void takeLines(ModuleOp module, const std::string &file) {
  if (succeeded(generateLocationsFromIR(file, module, OpPrintingFlags())))
    return;
  nacre::Diagnostic diagnostic;
  diagnostic.kind = nacre::Diagnostic::Kind::Argument;
  diagnostic.message = "the IR whose lines USE_IR_LOC asks for cannot be written to " + file;
  throw CompileError(diagnostic);
}

void PassRunner::stage(const char *name) {
  auto text = [&] { return printed(module); };
  if (std::optional<StageText> other = observer.replacement(name, text))
    replaceModule(module, name, *other);
  observer.show(name, text);
  observer.keep(name, [&] { return keptForm(module); });
  if (observer.linesOfStage == name)
    takeLines(module, observer.linesFile);
}
