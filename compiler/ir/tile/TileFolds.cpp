// Folders and canonicalizations: shape operations of splats and constants, masks that are all true, dots into zero.
#include "compiler/ir/tile/Tile.h"

using namespace mlir;
using namespace nacre::tile;

// A dense constant whose elements are all equal, reshaped; null otherwise.
static Attribute reshapedSplat(Attribute source, Type type) {
  auto dense = dyn_cast_or_null<SplatElementsAttr>(source);
  return dense ? dense.resizeSplat(cast<ShapedType>(type)) : Attribute();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  Attribute source = adaptor.getSource();
  if (isa_and_nonnull<IntegerAttr, FloatAttr>(source))
    return DenseElementsAttr::get(getType(), source);
  return {};
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) { return reshapedSplat(adaptor.getSource(), getType()); }

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return reshapedSplat(adaptor.getSource(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return reshapedSplat(adaptor.getSource(), getType());
}

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  bool identity = getSource().getType() == getType();
  for (auto [i, axis] : llvm::enumerate(getOrder()))
    identity &= static_cast<int32_t>(i) == axis;
  if (identity)
    return getSource();
  return reshapedSplat(adaptor.getSource(), getType());
}

OpFoldResult ExtractOp::fold(FoldAdaptor adaptor) {
  if (auto dense = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSource()))
    return dense.getSplatValue<Attribute>();
  if (auto splat = getSource().getDefiningOp<SplatOp>())
    return splat.getSource();
  return {};
}

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return {};
}

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(getOffset(), m_Zero()))
    return getPointer();
  return {};
}

// ---- Shape operation of a splat is a splat; two of a kind become one.

template <typename ShapeOp> struct ShapeOfSplat : OpRewritePattern<ShapeOp> {
  using OpRewritePattern<ShapeOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(ShapeOp op, PatternRewriter &rewriter) const override {
    auto splat = op.getSource().template getDefiningOp<SplatOp>();
    if (!splat)
      return failure();
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSource());
    return success();
  }
};

template <typename ShapeOp> struct MergeTwo : OpRewritePattern<ShapeOp> {
  using OpRewritePattern<ShapeOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(ShapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSource().template getDefiningOp<ShapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<ShapeOp>(op, op.getType(), inner.getSource());
    return success();
  }
};

void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<ExpandDimsOp>>(context);
}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<BroadcastOp>, MergeTwo<BroadcastOp>>(context);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<ReshapeOp>, MergeTwo<ReshapeOp>>(context);
}
void PermuteOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ShapeOfSplat<PermuteOp>>(context);
}

// ---- Accesses under a constant mask.

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(+[](LoadOp op, PatternRewriter &rewriter) -> LogicalResult {
    if (!op.getMask() || !matchPattern(op.getMask(), m_One()))
      return failure();
    rewriter.replaceOpWithNewOp<LoadOp>(op, op.getPointer(), Value(), Value(), op.getCache(), op.getEviction(),
                                        op.getIsVolatile());
    return success();
  });
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(+[](StoreOp op, PatternRewriter &rewriter) -> LogicalResult {
    if (!op.getMask())
      return failure();
    if (matchPattern(op.getMask(), m_Zero())) {
      rewriter.eraseOp(op);
      return success();
    }
    if (!matchPattern(op.getMask(), m_One()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  });
}

// acc + dot(a, b, 0) is dot(a, b, acc) when the dot has no other use.
void DotOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(+[](DotOp op, PatternRewriter &rewriter) -> LogicalResult {
    if (!op->hasOneUse() ||
        !(matchPattern(op.getAccumulator(), m_AnyZeroFloat()) || matchPattern(op.getAccumulator(), m_Zero())))
      return failure();
    Operation *user = *op->user_begin();
    if (!isa<arith::AddFOp, arith::AddIOp>(user) || user->getBlock() != op->getBlock())
      return failure();
    Value other = user->getOperand(0) == op.getResult() ? user->getOperand(1) : user->getOperand(0);
    if (other == op.getResult())
      return failure();
    rewriter.setInsertionPoint(user);
    rewriter.replaceOpWithNewOp<DotOp>(user, other.getType(), op.getA(), op.getB(), other, op.getPrecisionAttr(),
                                       op.getMaxImpreciseAccAttr());
    rewriter.eraseOp(op);
    return success();
  });
}
