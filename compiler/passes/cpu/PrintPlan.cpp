// See PrintPlan.h.
#include "compiler/passes/cpu/PrintPlan.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/LowerToLoops.h"
#include "compiler/passes/cpu/Lowering.h"
#include "compiler/passes/cpu/StoreOrder.h"
#include "mlir/IR/IRMapping.h"

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
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect,
                    func::FuncDialect, CpuDialect>();
  }
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(tile::kernelAttribute))
        continue;
      if (failed(checkIsLowerable(kernel)))
        return signalPassFailure();
      sinkStores(kernel);
      Plan plan(kernel);
      // What is decided step by step is asked of a lowering, of a copy.
      IRMapping copies;
      OwningOpRef<ModuleOp> copy = ModuleOp::create(kernel.getLoc());
      auto copied = cast<func::FuncOp>(kernel->clone(copies));
      copy->push_back(copied);
      PlanNotes notes;
      if (failed(Lowering(copied, VectorTarget(), &notes).run()))
        return signalPassFailure();
      kernel.walk([&](Operation *op) {
        if (!plan.isPlanned(op) || op->hasTrait<OpTrait::IsTerminator>())
          return;
        std::string text = nameOf(plan.place(op)).str() + notes.lookup(copies.lookupOrNull(op));
        bool isForced = llvm::any_of(op->getResults(), [&](Value result) { return plan.isForced(result); });
        if (isForced && plan.place(op) != Place::Pinned) // else the notes say it
          text += ", in memory";
        op->setAttr("plan", StringAttr::get(&getContext(), text));
      });
    }
  }
};

} // namespace

void nacre::cpu::registerPrintPlan() { PassRegistration<PrintPlan>(); }
