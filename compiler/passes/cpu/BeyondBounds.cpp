// Steps of a nest in which every bound check fails: what they compute, and whether they do anything at all.
//
// A sum over rows of different lengths, `total += tl.load(..., mask=place < end, other=0.0)`, adds zeros there. That
// changes nothing: x + 0.0 is x, unless x is -0.0, which a sum that begins with another number never becomes (the sum
// of two numbers is -0.0 only where both are). Such steps are left out.
#include "compiler/passes/cpu/Nest.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

bool Nest::failsBeyondBounds(Value mask, const Coordinates &coordinates) {
  auto isBound = [&](const Assumable &entry) {
    return entry.kind == Assumable::Kind::Bound && entry.value == mask &&
           encode(entry.coordinates) == encode(coordinates);
  };
  if (llvm::any_of(assumable, isBound))
    return true;
  Operation *op = mask.getDefiningOp();
  if (!op || lowering.buffer(mask))
    return false;
  if (movesElements(op))
    return failsBeyondBounds(op->getOperand(0), operandCoordinates(op, coordinates));
  return isa<arith::AndIOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return failsBeyondBounds(operand, coordinates); });
}

// Whether the value is 0, and not -0.0, wherever every bound fails.
bool Nest::isZeroBeyondBounds(Value value, const Coordinates &coordinates) {
  if (matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || lowering.buffer(value))
    return false;
  auto isZero = [&](Value operand) { return isZeroBeyondBounds(operand, coordinates); };
  if (isa<tile::SplatOp>(op))
    return isZero(op->getOperand(0));
  if (movesElements(op))
    return isZeroBeyondBounds(op->getOperand(0), operandCoordinates(op, coordinates));
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return load.getMask() && failsBeyondBounds(load.getMask(), coordinates) &&
           (!load.getOther() || isZero(load.getOther()) || planted(PlantedBug::BeyondBoundsOther));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isZero(select.getFalseValue()) &&
           (isZero(select.getTrueValue()) ||
            (isTile(select.getCondition()) && failsBeyondBounds(select.getCondition(), coordinates)));
  if (isa<arith::MulIOp>(op) || (isa<arith::MulFOp>(op) && planted(PlantedBug::ZeroTimesInfinity)))
    return llvm::any_of(op->getOperands(), isZero);
  return isa<arith::MulFOp, arith::AddFOp, math::FmaOp, arith::AddIOp, arith::SubIOp, arith::ExtFOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp, tile::FpCastOp>(op) &&
         llvm::all_of(op->getOperands(), isZero);
}

// The other summands of a sum of the carried tile; none where the operation is no such sum.
static SmallVector<Value> summandsBeside(Operation *sum, Value carried) {
  if (auto fma = dyn_cast<math::FmaOp>(sum))
    return fma.getC() == carried ? SmallVector<Value>{fma.getA(), fma.getB()} : SmallVector<Value>();
  if (!isa<arith::AddFOp, arith::AddIOp>(sum))
    return {};
  for (int side : {0, 1})
    if (sum->getOperand(side) == carried)
      return {sum->getOperand(1 - side)};
  return {};
}

bool Nest::isIdleBeyondBounds() {
  Coordinates coordinates = identity(shape.size());
  if (customBody)
    return bodyMask && failsBeyondBounds(bodyMask, coordinates);
  if (!reductions.empty())
    return false;
  for (Operation *member : members)
    if (auto store = dyn_cast<tile::StoreOp>(member))
      if (!store.getMask() || !failsBeyondBounds(store.getMask(), coordinates))
        return false;
  for (auto &[value, buffer] : writeBacks) {
    // A sum that takes the place of the carried tile, which began with a number that is not -0.0.
    auto found = lowering.destinations.find(value);
    if (found == lowering.destinations.end() || found->second.second.pointer != buffer.pointer)
      return false;
    BlockArgument carried = found->second.first;
    auto loop = dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp());
    Attribute start;
    if (!loop || !matchPattern(loop.getTiedLoopInit(carried)->get(), m_Constant(&start)))
      return false;
    auto number = dyn_cast<SplatElementsAttr>(start);
    if (!number || (isa<FloatType>(number.getElementType()) && number.getSplatValue<APFloat>().isNegZero()))
      return false;
    SmallVector<Value> summands = summandsBeside(value.getDefiningOp(), carried);
    if (summands.empty() ||
        !llvm::all_of(summands, [&](Value operand) { return isZeroBeyondBounds(operand, coordinates); }))
      return false;
  }
  return true;
}
