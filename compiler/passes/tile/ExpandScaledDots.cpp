// See ExpandScaledDots.h.
#include "compiler/passes/tile/ExpandScaledDots.h"
#include "compiler/builder/IRBuilder.h"
#include "compiler/ir/tile/Tile.h"

using namespace mlir;

namespace nacre {

namespace {

struct ExpandScaledDots : PassWrapper<ExpandScaledDots, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandScaledDots)
  StringRef getArgument() const override { return "expand-scaled-dots"; }
  StringRef getDescription() const override { return "Products of block-scaled operands as products of their values"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tile::TileDialect>();
  }

  void runOnOperation() override {
    SmallVector<tile::DotScaledOp> found;
    getOperation().walk([&](tile::DotScaledOp op) { found.push_back(op); });
    for (tile::DotScaledOp op : found) {
      IRBuilder ir(OpBuilder(op), op.getLoc());
      auto wrap = [](mlir::Value value) { return value ? IRBuilder::wrap(value) : Value(); };
      ScaledOperand a{wrap(op.getA()), wrap(op.getAScale()), static_cast<ScaledFormat>(op.getAFormat()),
                      op.getAPacksK()};
      ScaledOperand b{wrap(op.getB()), wrap(op.getBScale()), static_cast<ScaledFormat>(op.getBFormat()),
                      op.getBPacksK()};
      // The builder's own meaning, not the operation that it would emit.
      Value product = ir.Builder::dotScaled(a, b, wrap(op.getAccumulator()), op.getIgnoresNan());
      op.replaceAllUsesWith(IRBuilder::irValue(product));
      op.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createExpandScaledDots() { return std::make_unique<ExpandScaledDots>(); }
void registerExpandScaledDots() { PassRegistration<ExpandScaledDots>(); }

} // namespace nacre
