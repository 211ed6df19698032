// See PassReport.h.
#include "compiler/targets/cpu/PassReport.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <optional>

using namespace mlir;

namespace {

class Report : public PassInstrumentation {
public:
  void runBeforePass(Pass *pass, Operation *op) override {
    before.emplace(op);
    start = std::chrono::steady_clock::now();
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    double milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    bool changed = !(OperationFingerPrint(op) == *before);
    llvm::errs() << llvm::format("// ---- after %s: %.2f ms%s\n", pass->getArgument().str().c_str(), milliseconds,
                                 changed ? "" : ", no change");
    if (changed)
      llvm::errs() << *op << "\n";
  }

private:
  std::optional<OperationFingerPrint> before;
  std::chrono::steady_clock::time_point start;
};

} // namespace

void nacre::cpu::reportPasses(PassManager &passes) { passes.addInstrumentation(std::make_unique<Report>()); }
