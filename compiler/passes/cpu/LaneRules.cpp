// See LaneRules.h.
#include "compiler/passes/cpu/LaneRules.h"
#include "compiler/analysis/AccessForm.h"
#include "compiler/ir/tile/Tile.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// Offsets of 64 bits wrap as addresses do. Those of 32 bits that wrap between near lanes are never both in use: no
// array has elements that far apart. With large steps a few lanes come near the same element again.
static bool mayOffsetWrap(Type type, const LaneFacts &offset, int64_t extent) {
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return bits >= 64 || (bits == 32 && offset.mostStep && *offset.mostStep <= (int64_t(1) << 30) / extent);
}

LaneRule nacre::cpu::laneRule(Operation *op, ArrayRef<LaneFacts> operands, int64_t extent) {
  using Rule = LaneRule::Kind;
  auto isUniform = [&](size_t i) { return operands[i].kind == Lanes::Kind::Uniform; };
  auto isLine = [&](size_t i) { return operands[i].kind == Lanes::Kind::Linear; };
  auto isPrefix = [&](size_t i) { return operands[i].kind == Lanes::Kind::Prefix; };
  auto isClosed = [&](size_t i) { return isUniform(i) || isLine(i); };
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  const bool isTruth = element.isInteger(1);

  if (isa<tile::HintOp>(op))
    return {Rule::Operand};
  if (llvm::all_of(operands, [](const LaneFacts &facts) { return facts.kind == Lanes::Kind::Uniform; }))
    return {Rule::Number};
  auto isNumber = [](const LaneFacts &facts) {
    return facts.kind == Lanes::Kind::Uniform || (facts.kind == Lanes::Kind::Linear && facts.isNumberInSteps);
  };
  if (isa<IntegerType>(element) && !isTruth && llvm::all_of(operands, isNumber))
    return {Rule::Number};
  if (isa<arith::ExtSIOp>(op) && isLine(0))
    return {Rule::Resize, 0, /*whole=*/0};
  if (isa<arith::TruncIOp>(op) && isLine(0) && !isTruth)
    return {Rule::Resize};
  if (isa<arith::AddIOp, arith::SubIOp>(op) && isClosed(0) && isClosed(1) && !isTruth)
    return {Rule::Sum};
  if (isa<arith::MulIOp>(op) && !isTruth)
    for (unsigned line : {0, 1})
      if (isLine(line) && isUniform(1 - line))
        return {Rule::Scale, line};
  if (isa<arith::ShLIOp>(op) && isLine(0) && isUniform(1))
    return {Rule::Scale, 0};
  if (isa<tile::AddPtrOp>(op) && isClosed(0) && isClosed(1)) {
    bool mustBeWhole = isLine(1) && !mayOffsetWrap(op->getOperand(1).getType(), operands[1], extent);
    return {Rule::Advance, 1, mustBeWhole ? std::optional(1u) : std::nullopt};
  }
  if (isa<arith::RemSIOp, arith::DivSIOp>(op) && isLine(0) && operands[0].stride == 1 && isUniform(1))
    return {Rule::Division, 0, /*whole=*/0};
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    if (auto bound = asSignedBound(compare)) {
      unsigned low = bound->low == compare.getLhs() ? 0 : 1;
      if (isLine(low) && operands[low].stride == 1 && isUniform(1 - low))
        return {Rule::Bound, low, /*whole=*/low};
    }
    return {};
  }
  if (isa<arith::AndIOp>(op) && isTruth) {
    for (unsigned side : {0, 1})
      if (operands[side].number == -1)
        return {Rule::Operand, 1 - side};
    if ((isUniform(0) || isPrefix(0)) && (isUniform(1) || isPrefix(1)))
      return {Rule::Conjunction};
  }
  if (isa<arith::SelectOp>(op) && operands[0].number)
    return {Rule::Operand, *operands[0].number ? 1u : 2u};
  return {};
}
