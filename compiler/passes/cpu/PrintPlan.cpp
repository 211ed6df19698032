// See PrintPlan.h.
#include "compiler/passes/cpu/PrintPlan.h"
#include "compiler/passes/cpu/Plan.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static StringRef nameOf(Place place) {
  switch (place) {
  case Place::Scalar:
    return "scalar";
  case Place::Virtual:
    return "virtual";
  case Place::Pinned:
    return "pinned";
  case Place::Standalone:
    return "standalone";
  case Place::Deferred:
    return "deferred";
  case Place::Control:
    return "control";
  }
  llvm_unreachable("a place has a name");
}

namespace {

struct PrintPlan : PassWrapper<PrintPlan, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintPlan)
  StringRef getArgument() const override { return "print-plan"; }
  StringRef getDescription() const override { return "Write beside each operation where the CPU target computes it"; }
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(tile::kernelAttribute) || kernel.isExternal())
        continue;
      Plan plan(kernel);
      kernel.walk([&](Operation *op) {
        if (!plan.isPlanned(op) || op->hasTrait<OpTrait::IsTerminator>())
          return;
        std::string text = nameOf(plan.place(op)).str();
        if (llvm::any_of(op->getResults(), [&](Value result) { return plan.isForced(result); }))
          text += ", in memory";
        op->setAttr("plan", StringAttr::get(&getContext(), text));
      });
    }
  }
};

} // namespace

void nacre::cpu::registerPrintPlan() { PassRegistration<PrintPlan>(); }
