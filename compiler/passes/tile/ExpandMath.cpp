// The pass expand-math and its table of functions; the functions themselves are in the ExpandMath<Family>.cpp files.
#include "compiler/passes/tile/ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"

namespace nacre {

using namespace mlir;

namespace {

struct Expansion {
  UnaryFunction unary = nullptr;
  BinaryFunction binary = nullptr;
  bool branches = false; // has a path taken only when some lane needs it: not for tensors
};

const llvm::StringMap<Expansion> &expansions() {
  static const llvm::StringMap<Expansion> table = {
      {math::ExpOp::getOperationName(), {.unary = elementary::exp}},
      {math::Exp2Op::getOperationName(), {.unary = elementary::exp2}},
      {math::ExpM1Op::getOperationName(), {.unary = elementary::expm1}},
      {math::SinhOp::getOperationName(), {.unary = elementary::sinh}},
      {math::CoshOp::getOperationName(), {.unary = elementary::cosh}},
      {math::TanhOp::getOperationName(), {.unary = elementary::tanh}},
      {math::LogOp::getOperationName(), {.unary = elementary::log}},
      {math::Log2Op::getOperationName(), {.unary = elementary::log2}},
      {math::Log10Op::getOperationName(), {.unary = elementary::log10}},
      {math::Log1pOp::getOperationName(), {.unary = elementary::log1p}},
      {math::SinOp::getOperationName(), {.unary = elementary::sin, .branches = true}},
      {math::CosOp::getOperationName(), {.unary = elementary::cos, .branches = true}},
      {math::TanOp::getOperationName(), {.unary = elementary::tan, .branches = true}},
      {math::AsinOp::getOperationName(), {.unary = elementary::asin}},
      {math::AcosOp::getOperationName(), {.unary = elementary::acos}},
      {math::AtanOp::getOperationName(), {.unary = elementary::atan}},
      {math::Atan2Op::getOperationName(), {.binary = elementary::atan2}},
      {math::AsinhOp::getOperationName(), {.unary = elementary::asinh}},
      {math::AcoshOp::getOperationName(), {.unary = elementary::acosh}},
      {math::AtanhOp::getOperationName(), {.unary = elementary::atanh}},
      {math::ErfOp::getOperationName(), {.unary = elementary::erf}},
      {math::ErfcOp::getOperationName(), {.unary = elementary::erfc}},
      {math::PowFOp::getOperationName(), {.binary = elementary::powf}},
      {math::CbrtOp::getOperationName(), {.unary = elementary::cbrt}},
      {math::RsqrtOp::getOperationName(), {.unary = elementary::rsqrt}},
  };
  return table;
}

bool isNarrow(mlir::Type type) {
  mlir::Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

bool isSupported(mlir::Type type) {
  mlir::Type element = getElementTypeOrSelf(type);
  if (!element.isF32() && !element.isF64() && !isNarrow(type))
    return false;
  auto shaped = dyn_cast<ShapedType>(type);
  return !shaped || ((isa<VectorType, RankedTensorType>(type)) && shaped.hasStaticShape());
}

// Runs `compute` on the operands in their own precision, or in f32 and rounds back.
template <typename Compute>
Value inWorkingPrecision(OpBuilder &builder, Location location, ValueRange operands, const MathTarget *target, Compute compute) {
  mlir::Type type = operands.front().getType();
  mlir::Type workingType = type;
  if (isNarrow(type)) {
    workingType = builder.getF32Type();
    if (auto shaped = dyn_cast<ShapedType>(type))
      workingType = shaped.clone(workingType);
  }
  elementary::Elementwise emitter(builder, location, workingType);
  emitter.target = target;
  SmallVector<elementary::Real, 2> reals;
  for (Value operand : operands) {
    assert(operand.getType() == type && "operands of one type");
    if (workingType != type)
      operand = arith::ExtFOp::create(builder, location, workingType, operand);
    reals.push_back({&emitter, operand});
  }
  Value result = compute(reals).value;
  if (workingType != type)
    result = arith::TruncFOp::create(builder, location, type, result);
  return result;
}

struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  explicit ExpandMathPass(MathTarget machine = {}) : machine(std::move(machine)) {}

  StringRef getArgument() const final { return "expand-math"; }
  StringRef getDescription() const final {
    return "Expands elementary functions of the math dialect into arithmetic accurate to 2 ulp";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() final {
    SmallVector<Operation *> mathOps;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
        mathOps.push_back(op);
    });
    for (Operation *op : mathOps) {
      OpBuilder builder(op);
      Value result = expandMath(builder, op, op->getOperands(), &machine);
      if (!result)
        continue;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }

private:
  MathTarget machine;
};

} // namespace

// Null when the operation is not expanded on operands of the type.
static const Expansion *expansionOf(Operation *op, mlir::Type type) {
  auto found = expansions().find(op->getName().getStringRef());
  if (found == expansions().end() || !isSupported(type) || (found->second.branches && isa<TensorType>(type)))
    return nullptr;
  return &found->second;
}

bool isExpandedMath(Operation *op) {
  return op->getNumOperands() != 0 && expansionOf(op, op->getOperand(0).getType());
}

Value expandMath(OpBuilder &builder, Operation *mathOp, ValueRange operands, const MathTarget *target) {
  const Expansion *found = expansionOf(mathOp, operands.front().getType());
  if (!found)
    return {};
  const Expansion &expansion = *found;
  if (expansion.unary)
    return expandMath(builder, mathOp->getLoc(), expansion.unary, operands[0], target);
  return expandMath(builder, mathOp->getLoc(), expansion.binary, operands[0], operands[1], target);
}

Value expandMath(OpBuilder &builder, Location location, UnaryFunction function, Value x, const MathTarget *target) {
  return inWorkingPrecision(builder, location, x, target, [&](ArrayRef<elementary::Real> reals) { return function(reals[0]); });
}

Value expandMath(OpBuilder &builder, Location location, BinaryFunction function, Value x, Value y, const MathTarget *target) {
  return inWorkingPrecision(builder, location, ValueRange{x, y}, target,
                            [&](ArrayRef<elementary::Real> reals) { return function(reals[0], reals[1]); });
}

std::unique_ptr<Pass> createExpandMath(MathTarget machine) {
  return std::make_unique<ExpandMathPass>(std::move(machine));
}

void registerExpandMath() { PassRegistration<ExpandMathPass>(); }

} // namespace nacre
