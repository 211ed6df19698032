// See WidenSmallFloats.h.
#include "compiler/passes/tile/WidenSmallFloats.h"
#include "compiler/ir/tile/Tile.h"

using namespace mlir;
using namespace nacre;

static bool isWidened(Type type, SmallFloatArithmetic kept) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32 && !(element.isF16() && kept.f16) && !(element.isBF16() && kept.bf16);
}

bool nacre::isSmallFloatArithmetic(Operation *op, SmallFloatArithmetic kept) {
  // Those that convert between floats or hand values on compute nothing.
  if (isa<arith::ConstantOp, arith::SelectOp, arith::ExtFOp, arith::TruncFOp, arith::BitcastOp>(op) ||
      !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumRegions() != 0)
    return false;
  auto widened = [&](Type type) { return isWidened(type, kept); };
  return llvm::any_of(op->getOperandTypes(), widened) || llvm::any_of(op->getResultTypes(), widened);
}

namespace {

struct WidenSmallFloats : PassWrapper<WidenSmallFloats, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WidenSmallFloats)
  WidenSmallFloats() = default;
  WidenSmallFloats(const WidenSmallFloats &other) : PassWrapper(other) {}
  explicit WidenSmallFloats(SmallFloatArithmetic kept) {
    keepsF16 = kept.f16;
    keepsBF16 = kept.bf16;
  }
  StringRef getArgument() const override { return "widen-small-floats"; }
  StringRef getDescription() const override { return "Do arithmetic on small floats in f32, rounded once"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tile::TileDialect>();
  }

  SmallFloatArithmetic kept() const { return {keepsF16, keepsBF16}; }
  // fp8 has conversions of its own, which saturate.
  static Value convert(OpBuilder &builder, Location location, Value value, Type type) {
    Type from = getElementTypeOrSelf(value.getType()), to = getElementTypeOrSelf(type);
    if (from.getIntOrFloatBitWidth() < 16 || to.getIntOrFloatBitWidth() < 16)
      return tile::FpCastOp::create(builder, location, type, value, tile::Rounding::NearestEven);
    if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(builder, location, type, value);
    return arith::TruncFOp::create(builder, location, type, value);
  }

  void widen(Operation *op) {
    OpBuilder builder(op);
    Type f32 = builder.getF32Type();
    for (OpOperand &operand : op->getOpOperands())
      if (Type type = operand.get().getType(); isWidened(type, kept()))
        operand.set(convert(builder, op->getLoc(), operand.get(), tile::withElement(type, f32)));
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type type = result.getType();
      if (!isWidened(type, kept()))
        continue;
      result.setType(tile::withElement(type, f32));
      Value narrow = convert(builder, op->getLoc(), result, type);
      result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
    }
  }

  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation()->walk([&](Operation *op) {
      if (isSmallFloatArithmetic(op, kept()))
        found.push_back(op);
    });
    for (Operation *op : found)
      widen(op);
  }

  Option<bool> keepsF16{*this, "f16", llvm::cl::desc("the target computes with f16"), llvm::cl::init(false)};
  Option<bool> keepsBF16{*this, "bf16", llvm::cl::desc("the target computes with bf16"), llvm::cl::init(false)};
};

} // namespace

std::unique_ptr<Pass> nacre::createWidenSmallFloats(SmallFloatArithmetic kept) {
  return std::make_unique<WidenSmallFloats>(kept);
}
void nacre::registerWidenSmallFloats() { PassRegistration<WidenSmallFloats>(); }
