// See DivideVectors.h.
#include "compiler/passes/cpu/DivideVectors.h"
#include "compiler/passes/cpu/Emit.h"
#include "compiler/passes/tile/LegalizeIntegers.h"
#include "compiler/support/PlantedBugs.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nacre::cpu;

static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
}

static bool isToBeRewritten(Operation *op) {
  if (!isDivision(op))
    return false;
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  return type && type.getElementType().isInteger() && type.getElementTypeBitWidth() <= 32 &&
         !matchPattern(op->getOperand(1), m_Constant());
}

namespace {

class Division {
public:
  explicit Division(Operation *op)
      : op(op), b(op->getLoc(), op), type(cast<VectorType>(op->getResult(0).getType())),
        isSigned(isa<arith::DivSIOp, arith::RemSIOp>(op)), isNarrow(type.getElementTypeBitWidth() <= 16),
        real(isNarrow ? b.getF32Type() : b.getF64Type()) {
    assert(isToBeRewritten(op) && "not a division that floats hold exactly");
  }

  Value rewritten() {
    Value x = op->getOperand(0), y = op->getOperand(1);
    Value quotient = isSigned ? Value(arith::FPToSIOp::create(b, type, realQuotient(x, y)))
                              : Value(arith::FPToUIOp::create(b, type, realQuotient(x, y)));
    if (isa<arith::DivSIOp, arith::DivUIOp>(op))
      return quotient;
    return arith::SubIOp::create(b, x, arith::MulIOp::create(b, quotient, y));
  }

private:
  Value toReal(Value value) {
    Type to = real;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      to = vector.clone(real);
    if (isSigned)
      return arith::SIToFPOp::create(b, to, value);
    return arith::UIToFPOp::create(b, to, value);
  }

  Value realQuotient(Value x, Value y) {
    Value scalar = nacre::scalarOfSplat(y);
    if (!scalar)
      return arith::DivFOp::create(b, toReal(x), toReal(y));
    auto number = [&](double value) { return arith::ConstantOp::create(b, FloatAttr::get(real, value)); };
    Value reciprocal = arith::DivFOp::create(b, number(1.0), toReal(scalar));
    if (!nacre::planted(nacre::PlantedBug::ReciprocalTooSmall))
      reciprocal = arith::MulFOp::create(b, reciprocal, number(1.0 + (isNarrow ? 0x1p-21 : 0x1p-50)));
    return arith::MulFOp::create(b, toReal(x), vector::BroadcastOp::create(b, type.clone(real), reciprocal));
  }

  Operation *op;
  ImplicitLocOpBuilder b;
  VectorType type;
  bool isSigned, isNarrow;
  FloatType real;
};

struct DivideVectors : PassWrapper<DivideVectors, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DivideVectors)
  StringRef getArgument() const override { return "divide-vectors"; }
  StringRef getDescription() const override { return "Divisions of integer vectors by the floating-point units"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (!isToBeRewritten(op))
        return;
      op->getResult(0).replaceAllUsesWith(Division(op).rewritten());
      op->erase();
    });
  }
};

} // namespace

std::unique_ptr<Pass> nacre::cpu::createDivideVectors() { return std::make_unique<DivideVectors>(); }
void nacre::cpu::registerDivideVectors() { PassRegistration<DivideVectors>(); }
