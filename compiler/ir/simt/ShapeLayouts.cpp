// See ShapeLayouts.h.
#include "compiler/ir/simt/ShapeLayouts.h"
#include <bit>

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

bool nacre::simt::isElementwise(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() == 0)
    return false;
  if (isa<tile::AddPtrOp, tile::FpCastOp, tile::BitcastOp, tile::PtrToIntOp, tile::IntToPtrOp, tile::HintOp>(op))
    return true;
  if (auto assembly = dyn_cast<tile::InlineAsmOp>(op))
    return assembly.getPack() == 1;
  if (isa<tile::ExternalCallOp>(op))
    return true;
  Dialect *dialect = op->getDialect();
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect, ub::UBDialect>(dialect) && !isa<arith::ConstantOp>(op);
}

bool nacre::simt::runsOnRegisters(Operation *op) {
  int64_t pack = isa<tile::MapOp>(op) ? cast<tile::MapOp>(op).getPack() : cast<tile::InlineAsmOp>(op).getPack();
  Value tile;
  for (Value value : op->getResults())
    if (isa<RankedTensorType>(value.getType()))
      tile = value;
  for (Value value : op->getOperands())
    if (isa<RankedTensorType>(value.getType()))
      tile = value;
  auto type = tile ? cast<RankedTensorType>(tile.getType()) : RankedTensorType();
  auto isPowerOfTwo = [](int64_t extent) { return std::has_single_bit<uint64_t>(extent); };
  if (type && pack > 1 &&
      (!isPowerOfTwo(pack) || type.getNumElements() % pack != 0 ||
       !llvm::all_of(type.getShape().drop_front(), isPowerOfTwo)))
    return false;
  auto map = dyn_cast<tile::MapOp>(op);
  if (!map)
    return true;
  bool isPadded = !llvm::all_of(type.getShape(), isPowerOfTwo);
  return llvm::all_of(map.getBody().front().without_terminator(), [&](Operation &inner) {
    return isMemoryEffectFree(&inner) && !(isPadded && inner.getNumRegions());
  });
}

// The shape without axes of extent 1.
static SmallVector<int64_t> essential(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result;
  llvm::copy_if(shape, std::back_inserter(result), [](int64_t extent) { return extent != 1; });
  return result;
}

bool nacre::simt::isLinearReshape(ArrayRef<int64_t> fromShape, ArrayRef<int64_t> toShape) {
  SmallVector<int64_t> from = essential(fromShape), to = essential(toShape);
  // Groups of axes with equal products; in each, only the first axis of either side may be padded.
  auto isPlain = [](ArrayRef<int64_t> group) {
    return llvm::all_of(group.drop_front(), [](int64_t extent) { return std::has_single_bit<uint64_t>(extent); });
  };
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    size_t firstFrom = i, firstTo = j;
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right) {
        if (i == from.size())
          return false;
        left *= from[i++];
      } else {
        if (j == to.size())
          return false;
        right *= to[j++];
      }
    }
    if (!isPlain(ArrayRef(from).slice(firstFrom, i - firstFrom)) || !isPlain(ArrayRef(to).slice(firstTo, j - firstTo)))
      return false;
  }
  return i == from.size() && j == to.size();
}

bool nacre::simt::isShapeOperation(Operation *op) {
  auto rule = dyn_cast<LayoutOpInterface>(op);
  return rule && rule.isShape();
}

std::optional<LinearLayout> nacre::simt::resultLayout(Operation *op, const LinearLayout &operand) {
  auto rule = dyn_cast<LayoutOpInterface>(op);
  return rule ? rule.resultLayout(operand) : operand;
}

std::optional<LinearLayout> nacre::simt::operandLayout(Operation *op, const LinearLayout &result) {
  auto rule = dyn_cast<LayoutOpInterface>(op);
  return rule ? rule.operandLayout(result) : result;
}

std::optional<SmallVector<uint32_t>> nacre::simt::sourceRegisters(const LinearLayout &source,
                                                                  const LinearLayout &result,
                                                                  llvm::function_ref<uint32_t(uint32_t)> coordinates) {
  for (Place place : {Place::Lane, Place::Warp, Place::Block}) {
    if (source.bits(place) != result.bits(place))
      return std::nullopt;
    for (auto [left, right] : llvm::zip(source.basesOf(place), result.basesOf(place)))
      if (left != coordinates(right))
        return std::nullopt;
  }
  BitMatrix registers(source.outputBits(), source.basesOf(Place::Register));
  SmallVector<uint32_t> byBit;
  for (uint32_t basis : result.basesOf(Place::Register)) {
    std::optional<uint32_t> number = registers.solve(coordinates(basis));
    if (!number)
      return std::nullopt;
    byBit.push_back(*number);
  }
  SmallVector<uint32_t> numbers(result.count(Place::Register));
  for (uint32_t number = 0; number < numbers.size(); ++number)
    for (uint32_t bit = 0; bit < byBit.size(); ++bit)
      if (number >> bit & 1)
        numbers[number] ^= byBit[bit];
  return numbers;
}
