// See LowerMicroKernels.h.
#include "compiler/passes/cpu/LowerMicroKernels.h"
#include "compiler/passes/cpu/MicroKernel.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

namespace {

struct LowerMicroKernels : PassWrapper<LowerMicroKernels, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerMicroKernels)
  StringRef getArgument() const override { return "lower-micro-kernels"; }
  StringRef getDescription() const override { return "Micro-kernels to loops around register blocks"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect,
                    CpuDialect>();
  }
  void runOnOperation() override {
    SmallVector<MicroKernelOp> found;
    getOperation().walk([&](MicroKernelOp op) { found.push_back(op); });
    for (MicroKernelOp op : found) {
      Emit b(op.getLoc(), op);
      MicroKernel(b, op).emit();
      op.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> nacre::cpu::createLowerMicroKernels() { return std::make_unique<LowerMicroKernels>(); }
void nacre::cpu::registerLowerMicroKernels() { PassRegistration<LowerMicroKernels>(); }
