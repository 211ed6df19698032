// arith and math operations as operations of the builder.
#include "compiler/reference/Buffer.h"
#include "compiler/reference/ChunkLoops.h"
#include "compiler/reference/IRProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace nacre;
namespace arith = mlir::arith;
namespace math = mlir::math;

static const llvm::StringMap<BinaryOp> &binaryOps() {
  static const llvm::StringMap<BinaryOp> table = {
      {"arith.addi", BinaryOp::AddI},
      {"arith.subi", BinaryOp::SubI},
      {"arith.muli", BinaryOp::MulI},
      {"arith.divsi", BinaryOp::DivS},
      {"arith.divui", BinaryOp::DivU},
      {"arith.remsi", BinaryOp::RemS},
      {"arith.remui", BinaryOp::RemU},
      {"arith.andi", BinaryOp::And},
      {"arith.ori", BinaryOp::Or},
      {"arith.xori", BinaryOp::Xor},
      {"arith.shli", BinaryOp::Shl},
      {"arith.shrsi", BinaryOp::ShrS},
      {"arith.shrui", BinaryOp::ShrU},
      {"arith.minsi", BinaryOp::MinS},
      {"arith.minui", BinaryOp::MinU},
      {"arith.maxsi", BinaryOp::MaxS},
      {"arith.maxui", BinaryOp::MaxU},
      {"arith.addf", BinaryOp::AddF},
      {"arith.subf", BinaryOp::SubF},
      {"arith.mulf", BinaryOp::MulF},
      {"arith.divf", BinaryOp::DivF},
      {"arith.remf", BinaryOp::RemF},
      {"arith.minnumf", BinaryOp::MinNumF},
      {"arith.maxnumf", BinaryOp::MaxNumF},
      {"arith.minimumf", BinaryOp::MinimumF},
      {"arith.maximumf", BinaryOp::MaximumF},
      {"math.powf", BinaryOp::Pow},
      {"math.atan2", BinaryOp::Atan2},
      {"math.copysign", BinaryOp::CopySign},
  };
  return table;
}

static const llvm::StringMap<UnaryOp> &unaryOps() {
  static const llvm::StringMap<UnaryOp> table = {
      {"arith.negf", UnaryOp::NegF},  {"math.absf", UnaryOp::AbsF},
      {"math.absi", UnaryOp::AbsI},   {"math.exp", UnaryOp::Exp},
      {"math.exp2", UnaryOp::Exp2},   {"math.log", UnaryOp::Log},
      {"math.log2", UnaryOp::Log2},   {"math.sin", UnaryOp::Sin},
      {"math.cos", UnaryOp::Cos},     {"math.tan", UnaryOp::Tan},
      {"math.sqrt", UnaryOp::Sqrt},   {"math.rsqrt", UnaryOp::Rsqrt},
      {"math.erf", UnaryOp::Erf},     {"math.erfc", UnaryOp::Erfc},
      {"math.floor", UnaryOp::Floor}, {"math.ceil", UnaryOp::Ceil},
      {"math.trunc", UnaryOp::Trunc}, {"math.round", UnaryOp::Round},
      {"math.tanh", UnaryOp::Tanh},   {"math.sinh", UnaryOp::Sinh},
      {"math.cosh", UnaryOp::Cosh},   {"math.asin", UnaryOp::Asin},
      {"math.acos", UnaryOp::Acos},   {"math.atan", UnaryOp::Atan},
      {"math.asinh", UnaryOp::Asinh}, {"math.acosh", UnaryOp::Acosh},
      {"math.atanh", UnaryOp::Atanh}, {"math.expm1", UnaryOp::Expm1},
      {"math.log1p", UnaryOp::Log1p}, {"math.log10", UnaryOp::Log10},
      {"math.cbrt", UnaryOp::Cbrt},   {"math.roundeven", UnaryOp::RoundEven},
  };
  return table;
}

static const llvm::StringMap<CastOp> &castOps() {
  static const llvm::StringMap<CastOp> table = {
      {"arith.trunci", CastOp::Truncate},        {"arith.extsi", CastOp::ExtendSigned},
      {"arith.extui", CastOp::ExtendUnsigned},   {"arith.extf", CastOp::FloatExtend},
      {"arith.truncf", CastOp::FloatTruncate},   {"arith.sitofp", CastOp::SignedToFloat},
      {"arith.uitofp", CastOp::UnsignedToFloat}, {"arith.fptosi", CastOp::FloatToSigned},
      {"arith.fptoui", CastOp::FloatToUnsigned}, {"arith.bitcast", CastOp::Bitcast},
  };
  return table;
}

static CompareOp integerComparison(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return CompareOp::Eq;
  case arith::CmpIPredicate::ne:
    return CompareOp::Ne;
  case arith::CmpIPredicate::slt:
    return CompareOp::LtS;
  case arith::CmpIPredicate::sle:
    return CompareOp::LeS;
  case arith::CmpIPredicate::sgt:
    return CompareOp::GtS;
  case arith::CmpIPredicate::sge:
    return CompareOp::GeS;
  case arith::CmpIPredicate::ult:
    return CompareOp::LtU;
  case arith::CmpIPredicate::ule:
    return CompareOp::LeU;
  case arith::CmpIPredicate::ugt:
    return CompareOp::GtU;
  case arith::CmpIPredicate::uge:
    return CompareOp::GeU;
  }
  llvm_unreachable("all predicates are named");
}

// The builder has the ordered comparisons and `!=`; an unordered one is the complement of its opposite.
Value IRProgram::compareFloats(int64_t predicate, const Value &lhs, const Value &rhs) {
  auto compare = [&](CompareOp op) { return builder.compare(op, lhs, rhs); };
  auto complement = [&](Value value) { return builder.unary(UnaryOp::Not, value); };
  auto ordered = [&] {
    return builder.binary(BinaryOp::And, builder.compare(CompareOp::EqF, lhs, lhs),
                          builder.compare(CompareOp::EqF, rhs, rhs));
  };
  switch (static_cast<arith::CmpFPredicate>(predicate)) {
  case arith::CmpFPredicate::OEQ:
    return compare(CompareOp::EqF);
  case arith::CmpFPredicate::OLT:
    return compare(CompareOp::LtF);
  case arith::CmpFPredicate::OLE:
    return compare(CompareOp::LeF);
  case arith::CmpFPredicate::OGT:
    return compare(CompareOp::GtF);
  case arith::CmpFPredicate::OGE:
    return compare(CompareOp::GeF);
  case arith::CmpFPredicate::UNE:
    return compare(CompareOp::NeF);
  case arith::CmpFPredicate::ONE:
    return builder.binary(BinaryOp::Or, compare(CompareOp::LtF), compare(CompareOp::GtF));
  case arith::CmpFPredicate::UEQ:
    return complement(builder.binary(BinaryOp::Or, compare(CompareOp::LtF), compare(CompareOp::GtF)));
  case arith::CmpFPredicate::ULT:
    return complement(compare(CompareOp::GeF));
  case arith::CmpFPredicate::ULE:
    return complement(compare(CompareOp::GtF));
  case arith::CmpFPredicate::UGT:
    return complement(compare(CompareOp::LeF));
  case arith::CmpFPredicate::UGE:
    return complement(compare(CompareOp::LtF));
  case arith::CmpFPredicate::ORD:
    return ordered();
  case arith::CmpFPredicate::UNO:
    return complement(ordered());
  case arith::CmpFPredicate::AlwaysTrue:
    return builder.compare(CompareOp::Eq, integerLike(compare(CompareOp::EqF), 1),
                           integerLike(compare(CompareOp::EqF), 1));
  case arith::CmpFPredicate::AlwaysFalse:
    return integerLike(compare(CompareOp::EqF), 0);
  }
  llvm_unreachable("all predicates are named");
}

bool IRProgram::runArith(mlir::Operation &op) {
  if (auto constantOp = mlir::dyn_cast<arith::ConstantOp>(op)) {
    set(constantOp.getResult(), constant(constantOp.getValue(), constantOp.getType()));
    return true;
  }
  llvm::StringRef name = op.getName().getStringRef();
  if (auto found = binaryOps().find(name); found != binaryOps().end()) {
    Values operands = operandsOf(op);
    set(op.getResult(0), builder.binary(found->second, operands[0], operands[1]));
    return true;
  }
  if (auto found = unaryOps().find(name); found != unaryOps().end()) {
    set(op.getResult(0), builder.unary(found->second, get(op.getOperand(0))));
    return true;
  }
  if (auto found = castOps().find(name); found != castOps().end()) {
    Value operand = get(op.getOperand(0));
    Rounding rounding = Rounding::NearestEven;
    if (auto truncate = mlir::dyn_cast<arith::TruncFOp>(op))
      if (auto mode = truncate.getRoundingmode(); mode && *mode == arith::RoundingMode::toward_zero)
        rounding = Rounding::TowardZero;
    set(op.getResult(0),
        builder.cast(found->second, operand, resultType(op.getResult(0).getType(), operand), rounding));
    return true;
  }
  auto widthCast = [&](CastOp extension) {
    Value operand = get(op.getOperand(0));
    Type type = resultType(op.getResult(0).getType(), operand);
    int from = operand.type().bitWidth(), to = type.bitWidth();
    set(op.getResult(0), from == to ? operand : builder.cast(from < to ? extension : CastOp::Truncate, operand, type));
    return true;
  };
  // Low and high words of a product.
  auto extendedProduct = [&](BinaryOp high) {
    Values operands = operandsOf(op);
    set(op.getResult(0), builder.binary(BinaryOp::MulI, operands[0], operands[1]));
    set(op.getResult(1), builder.binary(high, operands[0], operands[1]));
    return true;
  };
  // Quotients that do not round toward zero: the truncated one, corrected where there is a remainder.
  auto correctedQuotient = [&](bool isSigned, bool up) {
    Values operands = operandsOf(op);
    Value quotient = builder.binary(isSigned ? BinaryOp::DivS : BinaryOp::DivU, operands[0], operands[1]);
    Value remainder = builder.binary(isSigned ? BinaryOp::RemS : BinaryOp::RemU, operands[0], operands[1]);
    Value zero = integerLike(quotient, 0);
    Value correct = builder.compare(CompareOp::Ne, remainder, zero);
    if (isSigned) {
      Value differ = builder.compare(CompareOp::LtS, builder.binary(BinaryOp::Xor, operands[0], operands[1]), zero);
      correct = builder.binary(BinaryOp::And, correct, up ? builder.unary(UnaryOp::Not, differ) : differ);
    }
    Value corrected = builder.binary(BinaryOp::AddI, quotient, integerLike(quotient, up ? 1 : -1));
    set(op.getResult(0), builder.select(correct, corrected, quotient));
    return true;
  };
  return llvm::TypeSwitch<mlir::Operation *, bool>(&op)
      .Case([&](arith::CmpIOp compare) {
        Values operands = operandsOf(op);
        set(compare.getResult(), builder.compare(integerComparison(compare.getPredicate()), operands[0], operands[1]));
        return true;
      })
      .Case([&](arith::CmpFOp compare) {
        Values operands = operandsOf(op);
        set(compare.getResult(), compareFloats(static_cast<int64_t>(compare.getPredicate()), operands[0], operands[1]));
        return true;
      })
      .Case([&](arith::SelectOp select) {
        Values operands = operandsOf(op); // a scalar condition of tiles is spread
        set(select.getResult(), builder.select(operands[0], operands[1], operands[2]));
        return true;
      })
      .Case([&](arith::IndexCastOp) { return widthCast(CastOp::ExtendSigned); })
      .Case([&](arith::IndexCastUIOp) { return widthCast(CastOp::ExtendUnsigned); })
      .Case([&](arith::MulUIExtendedOp) { return extendedProduct(BinaryOp::MulHighU); })
      .Case([&](arith::MulSIExtendedOp) { return extendedProduct(BinaryOp::MulHighS); })
      .Case([&](arith::AddUIExtendedOp) {
        Values operands = operandsOf(op);
        Value sum = builder.binary(BinaryOp::AddI, operands[0], operands[1]);
        set(op.getResult(0), sum);
        set(op.getResult(1), builder.compare(CompareOp::LtU, sum, operands[0]));
        return true;
      })
      .Case([&](arith::FloorDivSIOp) { return correctedQuotient(true, false); })
      .Case([&](arith::CeilDivSIOp) { return correctedQuotient(true, true); })
      .Case([&](arith::CeilDivUIOp) { return correctedQuotient(false, true); })
      .Default([](mlir::Operation *) { return false; });
}

namespace {
template <typename T> struct LeadingZeros {
  static T apply(T value) { return static_cast<T>(std::countl_zero(value)); }
};
template <typename T> struct TrailingZeros {
  static T apply(T value) { return static_cast<T>(std::countr_zero(value)); }
};
template <typename T> struct OnesCount {
  static T apply(T value) { return static_cast<T>(std::popcount(value)); }
};
template <template <typename> typename Function> ChunkFunction countingFunction(int size) {
  switch (size) {
  case 1:
    return detail::scalarLoop<uint8_t, uint8_t, Function<uint8_t>>;
  case 2:
    return detail::scalarLoop<uint16_t, uint16_t, Function<uint16_t>>;
  case 4:
    return detail::scalarLoop<uint32_t, uint32_t, Function<uint32_t>>;
  default:
    return detail::scalarLoop<uint64_t, uint64_t, Function<uint64_t>>;
  }
}
} // namespace

bool IRProgram::runMath(mlir::Operation &op) {
  auto count = [&](ChunkFunction (*function)(int)) {
    Value operand = get(op.getOperand(0));
    if (operand.type().isBool())
      fail(op, "counting bits of i1 is not supported");
    set(op.getResult(0),
        valueOf(elementwise(function(bufferOf(operand).elementSize()), &bufferOf(operand), operand.type())));
    return true;
  };
  // |x| against infinity.
  auto classify = [&](CompareOp compare) {
    Value magnitude = builder.unary(UnaryOp::AbsF, get(op.getOperand(0)));
    Value infinity =
        builder.constantFloat(magnitude.type().scalarType(), llvm::APFloat(std::numeric_limits<double>::infinity()));
    if (magnitude.type().isBlock())
      infinity = builder.splat(infinity, magnitude.type().shape());
    set(op.getResult(0), builder.compare(compare, magnitude, infinity));
    return true;
  };
  return llvm::TypeSwitch<mlir::Operation *, bool>(&op)
      .Case([&](math::FmaOp) {
        Values operands = operandsOf(op);
        set(op.getResult(0), builder.fma(operands[0], operands[1], operands[2]));
        return true;
      })
      .Case([&](math::ClampFOp) {
        Values operands = operandsOf(op); // value, least, greatest
        Value raised = builder.binary(BinaryOp::MaximumF, operands[0], operands[1]);
        set(op.getResult(0), builder.binary(BinaryOp::MinimumF, raised, operands[2]));
        return true;
      })
      .Case([&](math::SincosOp) {
        Value operand = get(op.getOperand(0));
        set(op.getResult(0), builder.unary(UnaryOp::Sin, operand));
        set(op.getResult(1), builder.unary(UnaryOp::Cos, operand));
        return true;
      })
      .Case([&](math::IsNaNOp) {
        Value operand = get(op.getOperand(0));
        set(op.getResult(0), builder.compare(CompareOp::NeF, operand, operand));
        return true;
      })
      .Case([&](math::IsInfOp) { return classify(CompareOp::EqF); })
      .Case([&](math::IsFiniteOp) { return classify(CompareOp::LtF); })
      .Case([&](math::CountLeadingZerosOp) { return count(countingFunction<LeadingZeros>); })
      .Case([&](math::CountTrailingZerosOp) { return count(countingFunction<TrailingZeros>); })
      .Case([&](math::CtPopOp) { return count(countingFunction<OnesCount>); })
      .Default([](mlir::Operation *) { return false; });
}
