// See ScalarizeCarried.h.
#include "compiler/passes/tile/ScalarizeCarried.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;

namespace {

// The scalar that every element of the tile equals, if there is one; constants are made at the builder's place.
Value uniformScalar(OpBuilder &builder, Value value) {
  if (auto splat = value.getDefiningOp<tile::SplatOp>())
    return splat.getSource();
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(builder, value.getLoc(), constant.getSplatValue<TypedAttr>());
  return {};
}

// The amounts added to `carried` on the way to `yielded`, when there is nothing else on that way.
bool collectSteps(Value yielded, Value carried, SmallVectorImpl<Value> &steps) {
  while (yielded != carried) {
    Operation *op = yielded.getDefiningOp();
    if (auto add = dyn_cast_or_null<tile::AddPtrOp>(op)) {
      steps.push_back(add.getOffset());
      yielded = add.getPointer();
    } else if (auto add = dyn_cast_or_null<arith::AddIOp>(op)) {
      bool leftMoves = add.getLhs() == carried || add.getLhs().getDefiningOp<arith::AddIOp>();
      steps.push_back(leftMoves ? add.getRhs() : add.getLhs());
      yielded = leftMoves ? add.getLhs() : add.getRhs();
    } else {
      return false;
    }
  }
  return !steps.empty();
}

bool isUniform(Value value) {
  DenseElementsAttr constant;
  return value.getDefiningOp<tile::SplatOp>() || (matchPattern(value, m_Constant(&constant)) && constant.isSplat());
}

struct CarryOffset : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
      Type type = argument.getType();
      Type element = getElementTypeOrSelf(type);
      if (!isa<RankedTensorType>(type) || !(isa<tile::PointerType>(element) || element.isSignlessInteger()))
        continue;
      SmallVector<Value> steps;
      if (!collectSteps(yield.getOperand(i), argument, steps) || !llvm::all_of(steps, isUniform))
        continue;
      rewrite(loop, i, steps, rewriter);
      return success();
    }
    return failure();
  }

  // An offset in i64 for pointers, in the tile's own type for integers.
  static void rewrite(scf::ForOp loop, size_t index, ArrayRef<Value> steps, PatternRewriter &rewriter) {
    Location location = loop.getLoc();
    auto type = cast<RankedTensorType>(loop.getRegionIterArg(index).getType());
    bool isPointer = isa<tile::PointerType>(type.getElementType());
    Type scalar = isPointer ? rewriter.getI64Type() : type.getElementType();
    auto moved = [&](Value base, Value offset) -> Value {
      Value spread = tile::SplatOp::create(rewriter, location, tile::withElement(type, scalar), offset);
      if (isPointer)
        return tile::AddPtrOp::create(rewriter, location, type, base, spread);
      return arith::AddIOp::create(rewriter, location, base, spread);
    };
    Value initial = loop.getInitArgs()[index];

    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    rewriter.setInsertionPoint(yield);
    Value total;
    for (Value step : steps) {
      Value amount = uniformScalar(rewriter, step);
      if (amount.getType() != scalar)
        amount = planted(PlantedBug::CarriedStepSign)
                     ? arith::ExtUIOp::create(rewriter, location, scalar, amount).getResult()
                     : arith::ExtSIOp::create(rewriter, location, scalar, amount).getResult();
      total = total ? arith::AddIOp::create(rewriter, location, total, amount).getResult() : amount;
    }
    rewriter.setInsertionPoint(loop);
    Value zero = arith::ConstantOp::create(rewriter, location, rewriter.getZeroAttr(scalar));
    // The new loop carries the offset in the tile's place.
    SmallVector<Value> initials(loop.getInitArgs());
    initials[index] = zero;
    auto replacement = scf::ForOp::create(rewriter, location, loop.getLowerBound(), loop.getUpperBound(),
                                          loop.getStep(), initials, nullptr, loop.getUnsignedCmp());
    replacement->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    if (replacement.getBody()->mightHaveTerminator())
      rewriter.eraseOp(replacement.getBody()->getTerminator());
    Value offset = replacement.getRegionIterArg(index);
    rewriter.setInsertionPointToStart(replacement.getBody());
    Value current = moved(initial, offset);
    SmallVector<Value> arguments{replacement.getInductionVar()};
    for (auto [i, argument] : llvm::enumerate(replacement.getRegionIterArgs()))
      arguments.push_back(i == index ? current : Value(argument));
    // The amount may be an argument of the old body itself, such as the index.
    if (auto argument = dyn_cast<BlockArgument>(total); argument && argument.getOwner() == loop.getBody())
      total = arguments[argument.getArgNumber()];
    rewriter.mergeBlocks(loop.getBody(), replacement.getBody(), arguments);
    auto newYield = cast<scf::YieldOp>(replacement.getBody()->getTerminator());
    rewriter.setInsertionPoint(newYield);
    Value next = arith::AddIOp::create(rewriter, location, offset, total);
    rewriter.modifyOpInPlace(newYield, [&] { newYield.setOperand(index, next); });
    rewriter.setInsertionPointAfter(replacement);
    SmallVector<Value> results(replacement.getResults());
    results[index] = moved(initial, replacement.getResult(index));
    rewriter.replaceOp(loop, results);
  }
};

struct ScalarizeCarried : PassWrapper<ScalarizeCarried, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScalarizeCarried)
  StringRef getArgument() const override { return "scalarize-carried"; }
  StringRef getDescription() const override { return "Carry uniformly moving tiles of a loop as one offset"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tile::TileDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<CarryOffset>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> nacre::createScalarizeCarried() { return std::make_unique<ScalarizeCarried>(); }
void nacre::registerScalarizeCarried() { PassRegistration<ScalarizeCarried>(); }
