// See LegalizeIntegers.h.
#include "compiler/passes/tile/LegalizeIntegers.h"
#include "compiler/analysis/IntegerFacts.h"
#include "compiler/support/PlantedBugs.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace nacre;

static Value number(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  APInt bits(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(value), /*isSigned=*/true, /*implicitTrunc=*/true);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(shaped, bits));
  return arith::ConstantOp::create(b, IntegerAttr::get(element, bits));
}

static Value isEqual(ImplicitLocOpBuilder &b, Value value, int64_t other) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value, number(b, value.getType(), other));
}

// A constant, or a splat of one, that every dividend may be divided by as it stands.
static bool isPlainDivisor(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && !constant.isZero() && !constant.isAllOnes();
}

Value nacre::scalarOfSplat(Value vector) {
  auto broadcast = vector.getDefiningOp<vector::BroadcastOp>();
  return broadcast && !isa<VectorType>(broadcast.getSourceType()) ? broadcast.getSource() : Value();
}

// A divisor that no dividend is undefined for, and where it is not the one that was given.
struct GuardedDivisor {
  Value isZero, isMinusOne, divisor;
};
static GuardedDivisor guardDivisor(ImplicitLocOpBuilder &b, Value divisor) {
  if (Value scalar = scalarOfSplat(divisor)) {
    GuardedDivisor guarded = guardDivisor(b, scalar);
    guarded.divisor = vector::BroadcastOp::create(b, divisor.getType(), guarded.divisor);
    return guarded;
  }
  Value isZero = isEqual(b, divisor, 0), isMinusOne = isEqual(b, divisor, -1);
  Value one = number(b, divisor.getType(), 1);
  Value isEither = arith::OrIOp::create(b, isZero, isMinusOne);
  return {isZero, isMinusOne, arith::SelectOp::create(b, isEither, one, divisor)};
}

Value nacre::divideSigned(ImplicitLocOpBuilder &b, Value left, Value right) {
  if (isPlainDivisor(right))
    return arith::DivSIOp::create(b, left, right);
  auto [isZero, isMinusOne, divisor] = guardDivisor(b, right);
  Value quotient = arith::DivSIOp::create(b, left, divisor);
  Value negated = arith::SubIOp::create(b, number(b, left.getType(), 0), left);
  if (!planted(PlantedBug::DivideByMinusOne))
    quotient = arith::SelectOp::create(b, isMinusOne, negated, quotient);
  if (planted(PlantedBug::QuotientByZero))
    return quotient;
  return arith::SelectOp::create(b, isZero, number(b, left.getType(), -1), quotient);
}

Value nacre::remainderSigned(ImplicitLocOpBuilder &b, Value left, Value right) {
  if (isPlainDivisor(right))
    return arith::RemSIOp::create(b, left, right);
  GuardedDivisor guarded = guardDivisor(b, right);
  Value remainder = arith::RemSIOp::create(b, left, guarded.divisor);
  return arith::SelectOp::create(b, guarded.isZero, left, remainder);
}

static Value divideUnsigned(ImplicitLocOpBuilder &b, Value left, Value right, bool remainder) {
  Value scalar = scalarOfSplat(right), asked = scalar ? scalar : right;
  Value isZero = isEqual(b, asked, 0);
  Value divisor = arith::SelectOp::create(b, isZero, number(b, asked.getType(), 1), asked);
  if (scalar)
    divisor = vector::BroadcastOp::create(b, right.getType(), divisor);
  Value atZero = remainder ? left : number(b, left.getType(), -1);
  Value divided =
      remainder ? Value(arith::RemUIOp::create(b, left, divisor)) : Value(arith::DivUIOp::create(b, left, divisor));
  return arith::SelectOp::create(b, isZero, atZero, divided);
}

// By less than the width; zero otherwise. A shift by `right` itself under this comparison is one instruction to LLVM's
// NVPTX, which takes the low 32 bits of `right` alone: it is kept from seeing that they are the same.
template <typename Shift> static Value shift(ImplicitLocOpBuilder &b, Value left, Value right) {
  Type type = right.getType();
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, right, number(b, type, bits));
  Value amount = bits > 32 ? arith::AndIOp::create(b, right, number(b, type, bits - 1)).getResult() : right;
  return arith::SelectOp::create(b, isInside, Shift::create(b, left, amount), number(b, left.getType(), 0));
}

static Value shiftSigned(ImplicitLocOpBuilder &b, Value left, Value right) {
  Type type = right.getType();
  Value last = number(b, type, getElementTypeOrSelf(type).getIntOrFloatBitWidth() - 1);
  if (planted(PlantedBug::ShiftTooWide))
    return arith::ShRSIOp::create(b, left, right);
  return arith::ShRSIOp::create(b, left, arith::MinUIOp::create(b, right, last));
}

Value nacre::legalInteger(ImplicitLocOpBuilder &b, Operation *op, Value left, Value right) {
  if (isa<arith::DivSIOp>(op))
    return divideSigned(b, left, right);
  if (isa<arith::RemSIOp>(op))
    return remainderSigned(b, left, right);
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    return divideUnsigned(b, left, right, isa<arith::RemUIOp>(op));
  if (isa<arith::ShLIOp>(op))
    return shift<arith::ShLIOp>(b, left, right);
  if (isa<arith::ShRUIOp>(op))
    return shift<arith::ShRUIOp>(b, left, right);
  if (isa<arith::ShRSIOp>(op))
    return shiftSigned(b, left, right);
  return {};
}

// ---- The pass

// Whether MLIR defines the operation for all operands it may get.
static bool isDefined(Operation *op, IntegerFacts &facts) {
  IntegerRange right = facts.range(op->getOperand(1));
  unsigned bits = getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth();
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return right.low >= 0 && right.high < static_cast<int64_t>(bits);
  bool mayBeZero = right.low <= 0 && right.high >= 0;
  bool mayBeMinusOne = isa<arith::DivSIOp, arith::RemSIOp>(op) && right.low <= -1 && right.high >= -1;
  bool overflows = mayBeMinusOne && facts.range(op->getOperand(0)).low == llvm::minIntN(bits);
  return !mayBeZero && !overflows;
}

namespace {

struct LegalizeIntegers : PassWrapper<LegalizeIntegers, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LegalizeIntegers)
  StringRef getArgument() const override { return "legalize-integers"; }
  StringRef getDescription() const override {
    return "Give integer division and shifts the language's meaning by operations that MLIR defines";
  }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<arith::ArithDialect>(); }
  void runOnOperation() override {
    IntegerFacts facts;
    SmallVector<Operation *> undefined;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::ShLIOp, arith::ShRSIOp,
              arith::ShRUIOp>(op) &&
          !isDefined(op, facts))
        undefined.push_back(op);
    });
    for (Operation *op : undefined) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      op->getResult(0).replaceAllUsesWith(legalInteger(b, op, op->getOperand(0), op->getOperand(1)));
      op->erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> nacre::createLegalizeIntegers() { return std::make_unique<LegalizeIntegers>(); }
void nacre::registerLegalizeIntegers() { PassRegistration<LegalizeIntegers>(); }
