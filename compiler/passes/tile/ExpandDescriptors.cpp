// See ExpandDescriptors.h.
#include "compiler/passes/tile/ExpandDescriptors.h"
#include "compiler/builder/IRBuilder.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/support/PlantedBugs.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace nacre {

namespace {

// ---- Arguments that the host made

// One argument becomes those of its fields that arrive; they make the descriptor at the start of the function.
LogicalResult expandArgument(func::FuncOp function, unsigned index) {
  auto type = cast<tile::DescriptorType>(function.getArgument(index).getType());
  Location location = function.getArgument(index).getLoc();
  SmallVector<tile::DescriptorField> fields = tile::descriptorFields(function, index);
  if (fields.empty())
    return function.emitOpError("argument ") << index << " is a descriptor and does not say how it arrives";
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&function.getBody().front());
  SmallVector<mlir::Value> values;
  unsigned next = index + 1;
  for (const tile::DescriptorField &field : fields) {
    if (!field.type) {
      values.push_back(arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(field.number)));
      continue;
    }
    DictionaryAttr attributes;
    if (field.divisibility > 1)
      attributes = builder.getDictionaryAttr(
          builder.getNamedAttr(tile::divisibilityAttribute, builder.getI64IntegerAttr(field.divisibility)));
    (void)function.insertArgument(next, field.type, attributes, location);
    mlir::Value value = function.getArgument(next++);
    if (field.type.isSignlessInteger() && !field.type.isInteger(64))
      value = arith::ExtSIOp::create(builder, location, builder.getI64Type(), value);
    values.push_back(value);
  }
  ValueRange all(values);
  mlir::Value made = tile::MakeDescriptorOp::create(builder, location, type, all.front(), all.slice(1, type.getRank()),
                                                    all.drop_front(1 + type.getRank()), tile::Padding::Zero);
  function.getArgument(index).replaceAllUsesWith(made);
  return function.eraseArgument(index);
}

// ---- Operations

// The array of a descriptor whose fields are `fields`.
Descriptor descriptorOf(IRBuilder &ir, tile::DescriptorType type, ValueRange fields,
                        tile::Padding padding = tile::Padding::Zero) {
  Descriptor descriptor;
  if (padding != tile::Padding::Zero && planted(PlantedBug::DescriptorPad))
    padding = tile::Padding::Zero;
  descriptor.padding = static_cast<Padding>(padding);
  BlockArray &array = descriptor.array;
  array.base = IRBuilder::wrap(fields.front());
  for (mlir::Value extent : fields.slice(1, type.getRank()))
    array.shape.push_back(IRBuilder::wrap(extent));
  for (mlir::Value stride : fields.drop_front(1 + type.getRank()))
    array.strides.push_back(IRBuilder::wrap(stride));
  array.strides.push_back(ir.constantInt(int64(), llvm::APInt(64, 1)));
  array.blockShape.assign(type.getBlock().getShape().begin(), type.getBlock().getShape().end());
  return descriptor;
}

template <typename Op> struct Expand : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;

  LogicalResult matchAndRewrite(Op op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    IRBuilder ir(rewriter, op.getLoc());
    expand(op, adaptor, ir, rewriter);
    return success();
  }

  static Value only(ValueRange values) { return IRBuilder::wrap(values.front()); }
  static SmallVector<Value> each(ArrayRef<ValueRange> ranges) { return llvm::map_to_vector(ranges, only); }
  static LoadOptions optionsOf(Op op)
    requires requires { op.getCache(); }
  {
    return {static_cast<CacheModifier>(op.getCache()), static_cast<EvictionPolicy>(op.getEviction())};
  }

  // What each becomes; the builder's own meaning is asked for, not the operation that it would emit.
  static void expand(tile::MakeDescriptorOp op, Adaptor adaptor, IRBuilder &ir, ConversionPatternRewriter &rewriter) {
    // The base as an ordinary pointer: whether it may be written is the accesses' matter by now.
    mlir::Type plain = tile::PointerType::get(op.getType().getElementType());
    SmallVector<mlir::Value> fields{adaptor.getBase().front()};
    if (fields.front().getType() != plain)
      fields.front() = tile::BitcastOp::create(rewriter, op.getLoc(), plain, fields.front());
    for (ValueRange extent : adaptor.getShape())
      fields.push_back(extent.front());
    for (ValueRange stride : adaptor.getStrides())
      fields.push_back(stride.front());
    ValueRange all(fields);
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>(all));
  }
  static void expand(tile::DescriptorBaseOp op, Adaptor adaptor, IRBuilder &, ConversionPatternRewriter &rewriter) {
    mlir::Value base = adaptor.getDescriptor().front();
    if (base.getType() != op.getType())
      base = tile::BitcastOp::create(rewriter, op.getLoc(), op.getType(), base);
    rewriter.replaceOp(op, base);
  }
  static void expand(tile::DescriptorExtentOp op, Adaptor adaptor, IRBuilder &, ConversionPatternRewriter &rewriter) {
    rewriter.replaceOp(op, adaptor.getDescriptor()[1 + op.getAxis()]);
  }
  static void expand(tile::DescriptorStrideOp op, Adaptor adaptor, IRBuilder &, ConversionPatternRewriter &rewriter) {
    rewriter.replaceOp(op, adaptor.getDescriptor()[1 + op.getDescriptor().getType().getRank() + op.getAxis()]);
  }
  static void expand(tile::DescriptorLoadOp op, Adaptor adaptor, IRBuilder &ir, ConversionPatternRewriter &rewriter) {
    Descriptor descriptor = descriptorOf(ir, op.getDescriptor().getType(), adaptor.getDescriptor(), op.getPadding());
    rewriter.replaceOp(
        op, IRBuilder::irValue(ir.Builder::loadDescriptor(descriptor, each(adaptor.getOffsets()), optionsOf(op))));
  }
  static void expand(tile::DescriptorStoreOp op, Adaptor adaptor, IRBuilder &ir, ConversionPatternRewriter &rewriter) {
    Descriptor descriptor = descriptorOf(ir, op.getDescriptor().getType(), adaptor.getDescriptor());
    ir.Builder::storeDescriptor(descriptor, each(adaptor.getOffsets()), only(adaptor.getValue()));
    rewriter.eraseOp(op);
  }
  static void expand(tile::DescriptorReduceOp op, Adaptor adaptor, IRBuilder &ir, ConversionPatternRewriter &rewriter) {
    Descriptor descriptor = descriptorOf(ir, op.getDescriptor().getType(), adaptor.getDescriptor());
    ir.Builder::reduceDescriptor(static_cast<AtomicOp>(op.getKind()), descriptor, each(adaptor.getOffsets()),
                                 only(adaptor.getValue()));
    rewriter.eraseOp(op);
  }
  static void expand(tile::DescriptorGatherOp op, Adaptor adaptor, IRBuilder &ir, ConversionPatternRewriter &rewriter) {
    tile::Padding padding = op.getPadding();
    if (padding != tile::Padding::Zero && planted(PlantedBug::GatherPad))
      padding = tile::Padding::Zero;
    Descriptor descriptor = descriptorOf(ir, op.getDescriptor().getType(), adaptor.getDescriptor(), padding);
    rewriter.replaceOp(op, IRBuilder::irValue(ir.Builder::gatherDescriptor(descriptor, wideRows(ir, adaptor.getRows()),
                                                                           only(adaptor.getColumn()), optionsOf(op))));
  }
  static void expand(tile::DescriptorScatterOp op, Adaptor adaptor, IRBuilder &ir,
                     ConversionPatternRewriter &rewriter) {
    Descriptor descriptor = descriptorOf(ir, op.getDescriptor().getType(), adaptor.getDescriptor());
    ir.Builder::scatterDescriptor(descriptor, wideRows(ir, adaptor.getRows()), only(adaptor.getColumn()),
                                  only(adaptor.getValue()));
    rewriter.eraseOp(op);
  }
  static void expand(arith::SelectOp op, Adaptor adaptor, IRBuilder &, ConversionPatternRewriter &rewriter) {
    SmallVector<mlir::Value> chosen;
    for (auto [whenTrue, whenFalse] : llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      chosen.push_back(
          arith::SelectOp::create(rewriter, op.getLoc(), adaptor.getCondition().front(), whenTrue, whenFalse));
    ValueRange all(chosen);
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>(all));
  }

  static Value wideRows(IRBuilder &ir, ValueRange rows) {
    Value value = only(rows);
    Type wide = value.type().withScalar(int64());
    if (value.type() == wide)
      return value;
    return ir.cast(CastOp::ExtendSigned, value, wide, Rounding::NearestEven);
  }
};

// A value nobody reads: so are its fields.
struct ExpandPoison : OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ub::PoisonOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<mlir::Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    SmallVector<mlir::Value> fields;
    for (mlir::Type type : types)
      fields.push_back(ub::PoisonOp::create(rewriter, op.getLoc(), type, op.getValue()));
    ValueRange all(fields);
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>(all));
    return success();
  }
};

struct ExpandDescriptors : PassWrapper<ExpandDescriptors, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandDescriptors)
  StringRef getArgument() const override { return "expand-descriptors"; }
  StringRef getDescription() const override { return "Accesses through tensor descriptors as pointers and masks"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tile::TileDialect>();
  }

  void runOnOperation() override {
    if (failed(expandDescriptorArguments(getOperation())))
      return signalPassFailure();
    TypeConverter fields;
    fields.addConversion([](mlir::Type type) { return type; });
    fields.addConversion([](tile::DescriptorType type, SmallVectorImpl<mlir::Type> &types) {
      types.push_back(tile::PointerType::get(type.getElementType()));
      types.append(2 * type.getRank() - 1, IntegerType::get(type.getContext(), 64));
      return success();
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<Expand<tile::MakeDescriptorOp>, Expand<tile::DescriptorBaseOp>, Expand<tile::DescriptorExtentOp>,
                 Expand<tile::DescriptorStrideOp>, Expand<tile::DescriptorLoadOp>, Expand<tile::DescriptorStoreOp>,
                 Expand<tile::DescriptorReduceOp>, Expand<tile::DescriptorGatherOp>, Expand<tile::DescriptorScatterOp>,
                 Expand<arith::SelectOp>, ExpandPoison>(fields, &getContext());
    ConversionTarget target(getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(fields, patterns, target);
    target.markUnknownOpDynamicallyLegal([&](Operation *op) { return fields.isLegal(op); });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

LogicalResult expandDescriptorArguments(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = function.getNumArguments(); i-- > 0;)
      if (isa<tile::DescriptorType>(function.getArgument(i).getType()))
        if (failed(expandArgument(function, i)))
          return failure();
  return success();
}

std::unique_ptr<Pass> createExpandDescriptors() { return std::make_unique<ExpandDescriptors>(); }
void registerExpandDescriptors() { PassRegistration<ExpandDescriptors>(); }

} // namespace nacre
