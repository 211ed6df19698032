// The pass around Lowering. See LowerToLLVM.h.
#include "compiler/passes/gpu/LowerToLLVM.h"
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/passes/gpu/Scratch.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

namespace {

struct LowerToLLVM : PassWrapper<LowerToLLVM, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLLVM)
  explicit LowerToLLVM(const Machine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "lower-to-llvm"; }
  StringRef getDescription() const override { return "Tiles in layouts to the scalar code of one thread"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerScratchRules(registry);
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(tile::kernelAttribute))
        continue;
      placeScratch(kernel);
      if (failed(verifyLayouts(kernel)) || failed(Lowering(kernel, machine).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }

  // Where no pass has placed it, all scratch begins at the start of shared memory: there are barriers between its uses.
  void placeScratch(func::FuncOp kernel) {
    ModuleOp module = getOperation();
    if (module->hasAttr(sharedAttribute))
      return;
    int64_t bytes = 0;
    kernel.walk([&](Operation *op) { bytes = std::max(bytes, scratchOf(op).bytes); });
    module->setAttr(sharedAttribute, IntegerAttr::get(IntegerType::get(&getContext(), 64), bytes));
  }

  const Machine &machine;
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createLowerToLLVM(const Machine &machine) {
  return std::make_unique<LowerToLLVM>(machine);
}
