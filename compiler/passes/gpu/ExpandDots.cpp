#include "compiler/passes/gpu/ExpandDots.h"
#include <limits>

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

namespace {

using Builder = simt::Builder;

Type withElement(Value tile, Type element) { return cast<RankedTensorType>(tile.getType()).clone(element); }

bool isFp8(Type element) {
  return isa<tile::Float8E4B15Type>(element) || (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8);
}

struct ExpandDots : PassWrapper<ExpandDots, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandDots)
  explicit ExpandDots(const Machine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "expand-dots"; }
  StringRef getDescription() const override { return "Products as sums of products that the machine has"; }

  void runOnOperation() override {
    SmallVector<tile::DotOp> found;
    getOperation().walk([&](tile::DotOp op) { found.push_back(op); });
    for (tile::DotOp op : found)
      expand(op);
  }

  bool multiplies(MatrixElement a, MatrixElement b) const {
    return llvm::any_of(machine.matrixInstructions(),
                        [&](const MatrixInstruction &row) { return row.a == a && row.b == b; });
  }

  Value dot(Builder &b, tile::DotOp op, Value left, Value right, Value sum, tile::DotPrecision precision) {
    return tile::DotOp::create(b, sum.getType(), left, right, sum,
                               tile::DotPrecisionAttr::get(b.getContext(), precision), op.getMaxImpreciseAccAttr());
  }

  void expand(tile::DotOp op) {
    Builder b(op.getLoc(), op);
    Value left = op.getA(), right = op.getB(), sum = op.getAccumulator();
    Type element = getElementTypeOrSelf(left.getType());
    bool isHalfSum = getElementTypeOrSelf(sum.getType()).isF16();
    if (isFp8(element)) {
      auto x = matrixElementOf(element, false), y = matrixElementOf(getElementTypeOrSelf(right.getType()), false);
      if (!(x && y && multiplies(*x, *y)) && multiplies(MatrixElement::F16, MatrixElement::F16)) {
        left = tile::FpCastOp::create(b, withElement(left, b.getF16Type()), left);
        right = tile::FpCastOp::create(b, withElement(right, b.getF16Type()), right);
      }
    }
    if (isHalfSum)
      sum = arith::ExtFOp::create(b, withElement(sum, b.getF32Type()), sum);
    Value result;
    std::optional<unsigned> parts = partsOf(op);
    if (parts)
      result = sumOfParts(b, op, *parts);
    else if (isHalfSum || left != op.getA())
      result = dot(b, op, left, right, sum, op.getPrecision());
    else
      return;
    if (isHalfSum)
      result = arith::TruncFOp::create(b, op.getType(), result);
    op.replaceAllUsesWith(result);
    op.erase();
  }

  // Into how many parts operands are split; none: not at all.
  std::optional<unsigned> partsOf(tile::DotOp op) const {
    if (!getElementTypeOrSelf(op.getA().getType()).isF32())
      return std::nullopt;
    switch (op.getPrecision()) {
    case tile::DotPrecision::TF32x3:
      return multiplies(MatrixElement::TF32, MatrixElement::TF32) ? std::optional(2u) : std::nullopt;
    case tile::DotPrecision::BF16x3:
      return multiplies(MatrixElement::BF16, MatrixElement::BF16) ? std::optional(2u) : std::nullopt;
    case tile::DotPrecision::BF16x6:
      return multiplies(MatrixElement::BF16, MatrixElement::BF16) ? std::optional(3u) : std::nullopt;
    default:
      return std::nullopt;
    }
  }

  // The parts of a tile of f32, the largest first; bf16, or f32 whose bits beyond TF32's are 0.
  SmallVector<Value> split(Builder &b, Value tile, unsigned parts, bool isBfloat) {
    Type type = tile.getType(), bits = withElement(tile, b.getI32Type());
    Value rest = tile;
    SmallVector<Value> result;
    for (unsigned i = 0; i < parts; ++i) {
      Value part, wide;
      if (isBfloat) {
        part = arith::TruncFOp::create(b, withElement(tile, b.getBF16Type()), rest);
        wide = arith::ExtFOp::create(b, type, part);
      } else {
        auto mask = DenseElementsAttr::get(cast<ShapedType>(bits), b.getI32IntegerAttr(~0x1FFF));
        Value upper =
            arith::AndIOp::create(b, tile::BitcastOp::create(b, bits, rest), arith::ConstantOp::create(b, bits, mask));
        part = wide = tile::BitcastOp::create(b, type, upper);
      }
      result.push_back(part);
      if (i + 1 == parts)
        break;
      rest = arith::SubFOp::create(b, rest, wide);
      auto constant = [&](float value) -> Value {
        return arith::ConstantOp::create(b, type,
                                         DenseElementsAttr::get(cast<ShapedType>(type), b.getF32FloatAttr(value)));
      };
      Value isFinite = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, math::AbsFOp::create(b, rest),
                                             constant(std::numeric_limits<float>::infinity()));
      rest = arith::SelectOp::create(b, isFinite, rest, constant(0));
    }
    return result;
  }

  // Products of parts i and j with i + j < parts: the others are below the last bit of the sum.
  Value sumOfParts(Builder &b, tile::DotOp op, unsigned parts) {
    bool isBfloat = op.getPrecision() != tile::DotPrecision::TF32x3;
    SmallVector<Value> left = split(b, op.getA(), parts, isBfloat), right = split(b, op.getB(), parts, isBfloat);
    Value sum = op.getAccumulator();
    for (unsigned order = parts; order-- > 0;)
      for (unsigned i = 0; i <= order; ++i)
        sum = dot(b, op, left[i], right[order - i], sum, tile::DotPrecision::TF32);
    return sum;
  }

  const Machine &machine;
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createExpandDots(const Machine &machine) {
  return std::make_unique<ExpandDots>(machine);
}
