// What a product of block-scaled operands means: their values, times their scales, in a type that holds them, as one
// dot.
#include "compiler/language/meaning/Builder.h"

namespace nacre {

namespace {

class Expansion {
public:
  explicit Expansion(Builder &builder) : builder(builder) {}

  // An operand as fp32, unpacked and scaled, with K as its last axis.
  Value values(const ScaledOperand &operand, bool isTransposed) {
    // E2M1 lies packed along the last axis of `a` when that is K, of `b` when it is not.
    Value value = unpacked(operand, /*isPackedLast=*/operand.isPackedAlongK != isTransposed);
    if (isTransposed)
      value = transposed(value);
    return operand.scale ? scaled(value, powers(operand.scale)) : value;
  }

  Value transposed(Value value) {
    llvm::SmallVector<int> order;
    for (int axis = 0; axis < static_cast<int>(value.type().rank()); ++axis)
      order.push_back(axis);
    std::swap(order[order.size() - 2], order[order.size() - 1]);
    return builder.permute(value, order);
  }

  Value to(CastOp op, Value value, Type scalar) { return builder.cast(op, value, value.type().withScalar(scalar)); }

private:
  Value integers(Value like, int64_t number) {
    return spread(builder.constantInt(int32(), llvm::APInt(32, number)), like);
  }
  Value spread(Value scalar, Value like) { return builder.splat(scalar, like.type().shape()); }
  Value binary(BinaryOp op, Value lhs, int64_t number) { return builder.binary(op, lhs, integers(lhs, number)); }
  Value is(CompareOp op, Value lhs, int64_t number) { return builder.compare(op, lhs, integers(lhs, number)); }

  Value toFloat(Value value) {
    return value.type().scalarType() == float32() ? value : to(CastOp::FloatExtend, value, float32());
  }

  // The 4-bit floats (e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives) in the low halves of int32, as fp32.
  Value halfBytes(Value bits) {
    Value size = binary(BinaryOp::And, bits, 7);
    // From 1.0 on, exponent and mantissa move to their places in fp32; below are 0 and 0.5.
    Value exponent = binary(BinaryOp::Shl, binary(BinaryOp::AddI, binary(BinaryOp::ShrS, size, 1), 126), 23);
    Value mantissa = binary(BinaryOp::Shl, binary(BinaryOp::And, size, 1), 22);
    Value normal = to(CastOp::Bitcast, builder.binary(BinaryOp::Or, exponent, mantissa), float32());
    Value half = builder.constantFloat(float32(), llvm::APFloat(0.5));
    Value small = to(CastOp::SignedToFloat, size, float32());
    small = builder.binary(BinaryOp::MulF, small, spread(half, small));
    Value value = builder.select(is(CompareOp::LtS, size, 2), small, normal);
    Value isNegative = is(CompareOp::Ne, binary(BinaryOp::And, bits, 8), 0);
    return builder.select(isNegative, builder.unary(UnaryOp::NegF, value), value);
  }

  Value unpacked(const ScaledOperand &operand, bool isPackedLast) {
    Value value = operand.value;
    if (operand.format == ScaledFormat::E2M1) {
      Value bits = to(CastOp::ExtendUnsigned, value, int32());
      Value pairs = builder.join(halfBytes(bits), halfBytes(binary(BinaryOp::ShrS, bits, 4)));
      llvm::SmallVector<int64_t> shape(value.type().shape());
      shape[shape.size() - (isPackedLast ? 1 : 2)] *= 2;
      if (!isPackedLast)
        pairs = transposed(pairs);
      return builder.reshape(pairs, shape);
    }
    if (value.type().isFloating())
      return toFloat(value);
    static const Type types[] = {Type(), Type::scalar(ScalarKind::Float8E4NV), Type::scalar(ScalarKind::Float8E5),
                                 bfloat16(), float16()};
    return toFloat(to(CastOp::Bitcast, value, types[static_cast<int>(operand.format)]));
  }

  // Scales as fp32: bytes are powers of two from 2^-127 on, 255 is NaN.
  Value powers(Value scale) {
    if (scale.type().isFloating())
      return toFloat(scale);
    Value exponent = to(CastOp::ExtendUnsigned, scale, int32());
    Value power = builder.select(is(CompareOp::Eq, exponent, 0), integers(exponent, 0x00400000),
                                 binary(BinaryOp::Shl, exponent, 23));
    power = builder.select(is(CompareOp::Eq, exponent, 255), integers(exponent, 0x7FC00000), power);
    return to(CastOp::Bitcast, power, float32());
  }

  // [.., R, K] times [.., R, K / n], each scale for n neighbours.
  Value scaled(Value value, Value scale) {
    llvm::SmallVector<int64_t> grouped(scale.type().shape()), shape(value.type().shape());
    grouped.push_back(shape.back() / grouped.back());
    Value groups = builder.reshape(value, grouped);
    Value factors = builder.expandDims(scale, static_cast<int>(grouped.size()) - 1);
    if (factors.type().shape() != Shape(grouped))
      factors = builder.broadcast(factors, grouped);
    return builder.reshape(builder.binary(BinaryOp::MulF, groups, factors), shape);
  }

  Builder &builder;
};

// Digits of a float, the leading one included.
int digits(Type type) {
  switch (type.scalarKind()) {
  case ScalarKind::Float8E5:
    return 3;
  case ScalarKind::Float8E4NV:
    return 4;
  case ScalarKind::BFloat16:
    return 8;
  default:
    return 24;
  }
}

// Of every scaled value: a product has no more digits than its factors together, and a scale of bytes is a power of
// two. bf16 and TF32 hold those that are no longer than their own: they have fp32's range.
int scaledDigits(const ScaledOperand &operand) {
  static constexpr int digitsOf[] = {2, 4, 3, 8, 11}; // by ScaledFormat
  bool isRounded = operand.scale && operand.scale.type().isFloating();
  return digitsOf[static_cast<int>(operand.format)] + (isRounded ? digits(operand.scale.type().scalarType()) : 0);
}
constexpr int tf32Digits = 11;

} // namespace

Value Builder::dotScaled(const ScaledOperand &a, const ScaledOperand &b, Value accumulator, bool) {
  Expansion expansion(*this);
  Value left = expansion.values(a, /*isTransposed=*/false), right = expansion.values(b, /*isTransposed=*/true);
  int longest = std::max(scaledDigits(a), scaledDigits(b));
  bool isNarrow = longest <= digits(bfloat16());
  if (isNarrow) {
    left = expansion.to(CastOp::FloatTruncate, left, bfloat16());
    right = expansion.to(CastOp::FloatTruncate, right, bfloat16());
  }
  return dot(left, expansion.transposed(right), accumulator,
             {longest <= tf32Digits ? DotPrecision::TF32 : DotPrecision::IEEE, std::nullopt});
}

} // namespace nacre
