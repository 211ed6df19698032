// See CanonicalizeInnerRegions.h.
#include "compiler/passes/tile/CanonicalizeInnerRegions.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace nacre;

namespace {

// Shorter regions are left to `canonicalize`: a second look costs more than it saves.
constexpr size_t longRegion = 128;

size_t lengthOf(Region &region) {
  size_t length = 0;
  for (Block &block : region)
    length += block.getOperations().size();
  return length;
}

struct CanonicalizeInnerRegions : PassWrapper<CanonicalizeInnerRegions, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalizeInnerRegions)
  StringRef getArgument() const override { return "canonicalize-inner-regions"; }
  StringRef getDescription() const override { return "Canonicalize inside long loops and branches, innermost first"; }

  void runOnOperation() override {
    SmallVector<Region *> regions; // inner ones before those around them
    getOperation()->walk([&](Operation *op) {
      if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
        for (Region &region : op->getRegions())
          if (lengthOf(region) >= longRegion)
            regions.push_back(&region);
    });
    if (regions.empty())
      return;
    FrozenRewritePatternSet patterns = canonicalizations();
    for (Region *region : regions) {
      SmallVector<Operation *> operations;
      for (Block &block : *region)
        for (Operation &op : block)
          operations.push_back(&op);
      GreedyRewriteConfig config;
      config.setScope(region).setStrictness(GreedyRewriteStrictness::AnyOp);
      (void)applyOpPatternsGreedily(operations, patterns, config);
    }
  }

  FrozenRewritePatternSet canonicalizations() {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(patterns);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(patterns, context);
    return FrozenRewritePatternSet(std::move(patterns));
  }
};

} // namespace

std::unique_ptr<Pass> nacre::createCanonicalizeInnerRegions() { return std::make_unique<CanonicalizeInnerRegions>(); }

void nacre::registerCanonicalizeInnerRegions() { PassRegistration<CanonicalizeInnerRegions>(); }
