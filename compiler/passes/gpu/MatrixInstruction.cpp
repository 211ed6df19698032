#include "compiler/passes/gpu/MatrixInstruction.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

unsigned nacre::simt::matrixElementBytes(MatrixElement element) {
  switch (element) {
  case MatrixElement::F16:
  case MatrixElement::BF16:
    return 2;
  case MatrixElement::TF32:
    return 4;
  case MatrixElement::F64:
    return 8;
  case MatrixElement::E4M3:
  case MatrixElement::E5M2:
  case MatrixElement::S8:
    return 1;
  }
  llvm_unreachable("an element of matrices");
}

std::optional<MatrixElement> nacre::simt::matrixElementOf(Type element, bool mayRound) {
  if (element.isF16())
    return MatrixElement::F16;
  if (element.isBF16())
    return MatrixElement::BF16;
  if (element.isF64())
    return MatrixElement::F64;
  if (element.isInteger(8))
    return MatrixElement::S8;
  if (isa<Float8E4M3FNType>(element))
    return MatrixElement::E4M3;
  if (isa<Float8E5M2Type>(element))
    return MatrixElement::E5M2;
  if (element.isF32() && mayRound)
    return MatrixElement::TF32;
  return std::nullopt;
}

Type MatrixInstruction::sumType(MLIRContext *context) const {
  if (a == MatrixElement::F64)
    return Float64Type::get(context);
  if (a == MatrixElement::S8)
    return IntegerType::get(context, 32);
  return Float32Type::get(context);
}

int64_t nacre::simt::depthOf(DotOp op) {
  if (auto shared = dyn_cast<SharedType>(op.getA().getType()))
    return shared.getShape().back();
  return cast<RankedTensorType>(op.getA().getType()).getShape().back();
}

std::optional<int64_t> nacre::simt::stepsOfGroup(const MatrixInstruction &row, DotOp op) {
  if (!row.sumsImprecisely || !sumsInGroups(op))
    return std::nullopt;
  return std::max<int64_t>(1, *op.getMaxImpreciseAcc() / row.k);
}

bool nacre::simt::sumsInGroups(DotOp op) {
  auto shared = dyn_cast<SharedType>(op.getA().getType());
  Type element = shared ? shared.getElementType() : getElementTypeOrSelf(op.getA().getType());
  std::optional<uint32_t> most = op.getMaxImpreciseAcc();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8 && most && *most <= depthOf(op);
}
