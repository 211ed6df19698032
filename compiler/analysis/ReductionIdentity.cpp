// See ReductionIdentity.h.
#include "compiler/analysis/ReductionIdentity.h"
#include "compiler/support/PlantedBugs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

// Either a float that the type holds exactly, or none.
static TypedAttr floatIdentity(Operation &op, FloatType type) {
  auto number = [&](double value) { return FloatAttr::get(type, value); };
  if (isa<arith::AddFOp>(op))
    return number(-0.0);
  if (isa<arith::MulFOp>(op))
    return number(1.0);
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
    return number(std::numeric_limits<double>::quiet_NaN());
  if (isa<arith::MaximumFOp>(op))
    return number(-std::numeric_limits<double>::infinity());
  if (isa<arith::MinimumFOp>(op))
    return number(std::numeric_limits<double>::infinity());
  return {};
}

static TypedAttr integerIdentity(Operation &op, IntegerType type) {
  unsigned bits = type.getWidth();
  auto number = [&](const APInt &value) { return IntegerAttr::get(type, value); };
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(op))
    return number(APInt::getZero(bits));
  if (isa<arith::MinUIOp>(op) && nacre::planted(nacre::PlantedBug::UnsignedMinIdentity))
    return number(APInt::getSignedMaxValue(bits));
  if (isa<arith::AndIOp, arith::MinUIOp>(op))
    return number(APInt::getAllOnes(bits));
  if (isa<arith::MulIOp>(op))
    return number(APInt(bits, 1));
  if (isa<arith::MaxSIOp>(op) && nacre::planted(nacre::PlantedBug::MaxIdentity))
    return number(APInt::getZero(bits));
  if (isa<arith::MaxSIOp>(op))
    return number(APInt::getSignedMinValue(bits));
  if (isa<arith::MinSIOp>(op))
    return number(APInt::getSignedMaxValue(bits));
  return {};
}

TypedAttr nacre::reductionIdentity(Region &combine) {
  Block &block = combine.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return {};
  Operation &op = block.front();
  if (op.getNumOperands() != 2 || block.getTerminator()->getOperand(0) != op.getResult(0) ||
      !isa<BlockArgument>(op.getOperand(0)) || !isa<BlockArgument>(op.getOperand(1)) ||
      op.getOperand(0) == op.getOperand(1))
    return {};
  Type type = block.getArgument(0).getType();
  // The formats of 16 bits and more hold every one of those numbers.
  if (auto floating = dyn_cast<FloatType>(type))
    return floating.getWidth() >= 16 ? floatIdentity(op, floating) : TypedAttr();
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() ? integerIdentity(op, integer) : TypedAttr();
}
