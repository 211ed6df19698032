// Long division of the significands: x = m 2^e, y = n 2^f, and m 2^(e - f) modulo n is taken by as many bits at a time
// as a word has to spare, eight of f32 and eleven of f64. Quotients under 2^8 take one step, or none.
#include "compiler/passes/tile/FloatRemainder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace nacre;

namespace {

struct Words {
  ImplicitLocOpBuilder &b;
  IntegerType type;

  Value number(uint64_t value) const {
    return arith::ConstantOp::create(b, type, IntegerAttr::get(type, llvm::APInt(type.getWidth(), value)));
  }
  Value compare(arith::CmpIPredicate predicate, Value left, Value right) const {
    return arith::CmpIOp::create(b, predicate, left, right);
  }
  Value select(Value condition, Value whenTrue, Value whenFalse) const {
    return arith::SelectOp::create(b, condition, whenTrue, whenFalse);
  }
};

// A size as significand * 2^exponent, the exponent biased and at least 1.
struct Parts {
  Value significand, exponent;
};

Parts takeApart(const Words &words, Value size, unsigned fractionBits) {
  ImplicitLocOpBuilder &b = words.b;
  Value exponent = arith::ShRUIOp::create(b, size, words.number(fractionBits));
  Value fraction = arith::AndIOp::create(b, size, words.number((uint64_t(1) << fractionBits) - 1));
  Value isNormal = words.compare(arith::CmpIPredicate::ne, exponent, words.number(0));
  Value whole = arith::OrIOp::create(b, fraction, words.number(uint64_t(1) << fractionBits));
  return {words.select(isNormal, whole, fraction), words.select(isNormal, exponent, words.number(1))};
}

} // namespace

Value nacre::floatRemainder(ImplicitLocOpBuilder &b, Value x, Value y) {
  using Predicate = arith::CmpIPredicate;
  auto type = cast<FloatType>(x.getType());
  assert((type.isF32() || type.isF64()) && "shorter floats are widened");
  const unsigned width = type.getWidth(), fractionBits = type.getFPMantissaWidth() - 1;
  const unsigned spareBits = width - fractionBits - 1;
  Words words{b, b.getIntegerType(width)};
  auto number = [&](uint64_t value) { return words.number(value); };
  const uint64_t signBit = uint64_t(1) << (width - 1);
  Value bits = arith::BitcastOp::create(b, words.type, x), sign = arith::AndIOp::create(b, bits, number(signBit));
  auto sizeOf = [&](Value value) -> Value {
    return arith::AndIOp::create(b, arith::BitcastOp::create(b, words.type, value), number(signBit - 1));
  };
  Value sizeX = sizeOf(x), sizeY = sizeOf(y);
  Value infinity = number(llvm::APFloat::getInf(type.getFloatSemantics()).bitcastToAPInt().getZExtValue());
  Value isInvalid = arith::OrIOp::create(b, words.compare(Predicate::uge, sizeX, infinity),
                                         words.compare(Predicate::ugt, sizeY, infinity));
  isInvalid = arith::OrIOp::create(b, isInvalid, words.compare(Predicate::eq, sizeY, number(0)));
  Value isSmaller = words.compare(Predicate::ult, sizeX, sizeY);
  Value isKnown = arith::OrIOp::create(b, isInvalid, isSmaller);

  Parts dividend = takeApart(words, sizeX, fractionBits), divisor = takeApart(words, sizeY, fractionBits);
  Value modulus = words.select(isKnown, number(1), divisor.significand);
  Value distance =
      words.select(isKnown, number(0), arith::SubIOp::create(b, dividend.exponent, divisor.exponent).getResult());
  Value rest = arith::RemUIOp::create(b, dividend.significand, modulus);
  auto loop = scf::WhileOp::create(
      b, TypeRange{words.type, words.type}, ValueRange{rest, distance},
      [&](OpBuilder &builder, Location location, ValueRange carried) {
        ImplicitLocOpBuilder inner(location, builder);
        Words here{inner, words.type};
        Value goesOn = here.compare(Predicate::ne, carried[1], here.number(0));
        goesOn = arith::AndIOp::create(inner, goesOn, here.compare(Predicate::ne, carried[0], here.number(0)));
        scf::ConditionOp::create(inner, goesOn, carried);
      },
      [&](OpBuilder &builder, Location location, ValueRange carried) {
        ImplicitLocOpBuilder inner(location, builder);
        Words here{inner, words.type};
        Value step = arith::MinUIOp::create(inner, carried[1], here.number(spareBits));
        Value longer = arith::ShLIOp::create(inner, carried[0], step);
        Value next = arith::RemUIOp::create(inner, longer, modulus);
        Value left = arith::SubIOp::create(inner, carried[1], step);
        scf::YieldOp::create(inner, ValueRange{next, left});
      });

  // Back to a float: both products are exact.
  auto constant = [&](const llvm::APFloat &value) -> Value {
    return arith::ConstantOp::create(b, type, FloatAttr::get(type, value));
  };
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  llvm::APFloat unit =
      llvm::scalbn(llvm::APFloat(semantics, 1), -static_cast<int>(fractionBits), llvm::APFloat::rmNearestTiesToEven);
  Value scale = arith::BitcastOp::create(b, type, arith::ShLIOp::create(b, divisor.exponent, number(fractionBits)));
  Value size = arith::UIToFPOp::create(b, type, loop.getResult(0));
  size = arith::MulFOp::create(b, arith::MulFOp::create(b, size, constant(unit)), scale);
  Value result =
      arith::BitcastOp::create(b, type, arith::OrIOp::create(b, arith::BitcastOp::create(b, words.type, size), sign));
  result = arith::SelectOp::create(b, isSmaller, x, result);
  return arith::SelectOp::create(b, isInvalid, constant(llvm::APFloat::getNaN(semantics)), result);
}
