#include "compiler/passes/cpu/DeepenDots.h"
#include "compiler/passes/cpu/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

namespace {

// The product that the loop does nothing but sum in f32, if it is one of bf16 or f32; else null.
tile::DotOp summedProduct(scf::ForOp loop) {
  tile::DotOp found;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (op.getNumRegions() != 0 || tile::writesMemory(&op))
      return {};
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      if (found)
        return {};
      found = dot;
    }
  }
  if (!found || !found.getType().getElementType().isF32())
    return {};
  Type operand = found.getA().getType().getElementType();
  if (operand != found.getB().getType().getElementType() || !(operand.isBF16() || operand.isF32()))
    return {};
  auto sum = dyn_cast<BlockArgument>(found.getAccumulator());
  if (!sum || sum.getOwner() != loop.getBody() || !sum.hasOneUse() || !found->hasOneUse())
    return {};
  return loop.getTiedLoopYieldedValue(sum)->get() == found.getResult() ? found : tile::DotOp();
}

struct DeepenDots : PassWrapper<DeepenDots, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeepenDots)
  DeepenDots() = default;
  DeepenDots(int64_t wanted, int64_t wantedOfF32) {
    depth = wanted;
    depthOfF32 = wantedOfF32;
  }
  DeepenDots(const DeepenDots &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "deepen-dots"; }
  StringRef getDescription() const override { return "Several steps at a time of loops around shallow products"; }

  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, int64_t>> found;
    getOperation().walk([&](scf::ForOp loop) {
      tile::DotOp dot = summedProduct(loop);
      if (!dot)
        return;
      int64_t k = dot.getA().getType().getShape().back();
      bool isF32 = dot.getA().getType().getElementType().isF32();
      int64_t factor = isF32 ? (k >= 64 ? std::min<int64_t>(depthOfF32 / k, 2) : 1) : depth / k;
      std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                             step = getConstantIntValue(loop.getStep());
      if (factor > 1 && first && *first >= 0 && step && *step > 0 && !loop.getUnsignedCmp())
        found.emplace_back(loop, factor);
    });
    for (auto [loop, factor] : found) {
      // The number of steps is counted as if it were not negative.
      OpBuilder builder(loop);
      loop.setUpperBound(arith::MaxSIOp::create(builder, loop.getLoc(), loop.getUpperBound(), loop.getLowerBound()));
      if (failed(loopUnrollByFactor(loop, factor)))
        return signalPassFailure();
    }
  }

  Option<int64_t> depth{*this, "depth", llvm::cl::desc("how far along k one step is to reach"), llvm::cl::init(64)};
  Option<int64_t> depthOfF32{*this, "f32-depth", llvm::cl::desc("the same of f32"), llvm::cl::init(0)};
};

} // namespace

std::unique_ptr<Pass> nacre::cpu::createDeepenDots(int64_t depth, int64_t depthOfF32) {
  return std::make_unique<DeepenDots>(depth, depthOfF32);
}
void nacre::cpu::registerDeepenDots() { PassRegistration<DeepenDots>(); }
