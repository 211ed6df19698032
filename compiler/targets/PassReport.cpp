// See PassReport.h.
#include "compiler/targets/PassReport.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/StructuralHash.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <optional>

using namespace mlir;
using nacre::CompileError;

namespace {

class Report : public PassInstrumentation {
public:
  explicit Report(std::shared_ptr<llvm::raw_ostream> stream) : stream(std::move(stream)) {}
  void runBeforePass(Pass *pass, Operation *op) override {
    before.emplace(op);
    start = std::chrono::steady_clock::now();
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    double milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    bool changed = !(OperationFingerPrint(op) == *before);
    *stream << llvm::format("// ---- after %s: %.2f ms%s\n", pass->getArgument().str().c_str(), milliseconds,
                            changed ? "" : ", no change");
    if (changed)
      *stream << *op << "\n";
    stream->flush();
  }

private:
  std::shared_ptr<llvm::raw_ostream> stream;
  std::optional<OperationFingerPrint> before;
  std::chrono::steady_clock::time_point start;
};

// The module that a pass of LLVM's works on, a part of it or the whole.
const llvm::Module *moduleOf(const llvm::Any &unit) {
  if (auto *module = llvm::any_cast<const llvm::Module *>(&unit))
    return *module;
  if (auto *function = llvm::any_cast<const llvm::Function *>(&unit))
    return (*function)->getParent();
  if (auto *component = llvm::any_cast<const llvm::LazyCallGraph::SCC *>(&unit))
    return (*component)->begin()->getFunction().getParent();
  if (auto *loop = llvm::any_cast<const llvm::Loop *>(&unit))
    return (*loop)->getHeader()->getModule();
  return nullptr;
}

// Passes run inside passes: only those that hold no other are reported.
class LLVMReport {
public:
  LLVMReport(llvm::PassInstrumentationCallbacks &callbacks, std::shared_ptr<llvm::raw_ostream> stream)
      : callbacks(callbacks), stream(std::move(stream)) {}

  static bool holdsOthers(llvm::StringRef pass) {
    return llvm::isSpecialPass(pass, {"PassManager", "PassAdaptor", "AnalysisManagerProxy", "DevirtSCCRepeatedPass",
                                      "ModuleInlinerWrapperPass"});
  }
  void before(llvm::StringRef pass, const llvm::Any &unit) {
    if (!holdsOthers(pass))
      if (const llvm::Module *module = moduleOf(unit))
        hash = llvm::StructuralHash(*module, true);
  }
  void after(llvm::StringRef pass, const llvm::Any &unit) {
    const llvm::Module *module = holdsOthers(pass) ? nullptr : moduleOf(unit);
    if (!module)
      return;
    bool changed = llvm::StructuralHash(*module, true) != hash;
    llvm::StringRef name = callbacks.getPassNameForClassName(pass);
    *stream << "; ---- after " << (name.empty() ? pass : name) << (changed ? "\n" : ": no change\n");
    if (changed)
      module->print(*stream, nullptr);
    stream->flush();
  }

private:
  llvm::PassInstrumentationCallbacks &callbacks;
  std::shared_ptr<llvm::raw_ostream> stream;
  llvm::stable_hash hash = 0;
};

} // namespace

std::shared_ptr<llvm::raw_ostream> nacre::reportStream(const std::string &path) {
  if (path.empty())
    return {&llvm::errs(), [](llvm::raw_ostream *) {}};
  std::error_code error;
  auto file = std::make_shared<llvm::raw_fd_ostream>(path, error, llvm::sys::fs::OF_Append);
  if (!error)
    return file;
  nacre::Diagnostic diagnostic;
  diagnostic.kind = nacre::Diagnostic::Kind::Argument;
  diagnostic.message = "the report on the passes cannot be written to " + path + ": " + error.message();
  throw CompileError(diagnostic);
}

void nacre::reportPasses(PassManager &passes, std::shared_ptr<llvm::raw_ostream> stream) {
  passes.addInstrumentation(std::make_unique<Report>(std::move(stream)));
}

void nacre::reportLLVMPasses(llvm::PassInstrumentationCallbacks &callbacks, std::shared_ptr<llvm::raw_ostream> stream) {
  auto report = std::make_shared<LLVMReport>(callbacks, std::move(stream));
  callbacks.registerBeforeNonSkippedPassCallback(
      [report](llvm::StringRef pass, const llvm::Any &unit) { report->before(pass, unit); });
  callbacks.registerAfterPassCallback([report](llvm::StringRef pass, const llvm::Any &unit,
                                               const llvm::PreservedAnalyses &) { report->after(pass, unit); });
}
