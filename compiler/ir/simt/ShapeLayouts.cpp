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

// The second tile begins where a bit of the padded axis is set, so that a register bit tells the two apart.
static bool isPlainConcatenation(tile::ConcatenateOp op) {
  int64_t first = op.getFirst().getType().getShape()[op.getAxis()];
  int64_t second = op.getSecond().getType().getShape()[op.getAxis()];
  return std::has_single_bit<uint64_t>(first) && second == first;
}

bool nacre::simt::isShapeOperation(Operation *op) {
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return isLinearReshape(reshape.getSource().getType().getShape(), reshape.getType().getShape());
  if (auto concatenate = dyn_cast<tile::ConcatenateOp>(op))
    return isPlainConcatenation(concatenate);
  if (auto split = dyn_cast<tile::SplitOp>(op))
    return isa<RankedTensorType>(split.getFirst().getType());
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::JoinOp>(op);
}

static SmallVector<unsigned> paddedBits(Type type) { return LinearLayout::paddedBits(tile::shapeOf(type)); }

std::optional<LinearLayout> nacre::simt::resultLayout(Operation *op, const LinearLayout &operand) {
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return operand.expand(expand.getAxis());
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    LinearLayout result = operand;
    SmallVector<unsigned> wanted = paddedBits(broadcast.getType());
    for (unsigned axis = 0; axis < wanted.size(); ++axis)
      if (result.axisBits(axis) != wanted[axis])
        result = result.broadcast(axis, wanted[axis]);
    return result;
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return operand.reshape(paddedBits(reshape.getType()));
  if (auto permute = dyn_cast<tile::PermuteOp>(op))
    return operand.permute(SmallVector<unsigned>(permute.getOrder().begin(), permute.getOrder().end()));
  if (isa<tile::JoinOp>(op))
    return operand.join();
  if (isa<tile::SplitOp>(op)) {
    std::optional<LinearLayout::Split> split = operand.split();
    return split ? std::optional(split->half) : std::nullopt;
  }
  if (auto concatenate = dyn_cast<tile::ConcatenateOp>(op))
    return operand.concatenate(concatenate.getAxis());
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return operand.slice(reduce.getAxis());
  return operand;
}

// The layout of either half, where one register bit alone tells them apart.
static std::optional<LinearLayout> halfOf(const LinearLayout &whole, unsigned axis) {
  uint32_t top = (whole.extent(axis) >> 1) << whole.shiftOf(axis);
  ArrayRef<uint32_t> registers = whole.basesOf(Place::Register);
  auto found = llvm::find(registers, top);
  if (found == registers.end())
    return std::nullopt;
  auto registerBit = static_cast<unsigned>(found - registers.begin());
  SmallVector<unsigned> bits(whole.axisBits());
  --bits[axis];
  LinearLayout half(bits);
  for (Place place : allPlaces)
    for (auto [bit, basis] : llvm::enumerate(whole.basesOf(place))) {
      if (place == Place::Register && bit == registerBit)
        continue;
      if (basis & top)
        return std::nullopt;
      SmallVector<uint32_t> coordinates = whole.unpack(basis);
      half.add(place, half.pack(coordinates));
    }
  return half;
}

std::optional<LinearLayout> nacre::simt::operandLayout(Operation *op, const LinearLayout &result) {
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return result.slice(expand.getAxis());
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    LinearLayout operand = result;
    SmallVector<unsigned> wanted = paddedBits(broadcast.getSource().getType());
    for (unsigned axis = 0; axis < wanted.size(); ++axis)
      if (operand.axisBits(axis) != wanted[axis])
        operand = operand.collapse(axis);
    return operand;
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return result.reshape(paddedBits(reshape.getSource().getType()));
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    SmallVector<unsigned> inverse(permute.getOrder().size());
    for (auto [axis, source] : llvm::enumerate(permute.getOrder()))
      inverse[source] = axis;
    return result.permute(inverse);
  }
  if (isa<tile::JoinOp>(op)) {
    std::optional<LinearLayout::Split> split = result.split();
    return split ? std::optional(split->half) : std::nullopt;
  }
  if (isa<tile::SplitOp>(op))
    return result.join();
  if (auto concatenate = dyn_cast<tile::ConcatenateOp>(op))
    return halfOf(result, concatenate.getAxis());
  if (isa<tile::ReduceOp>(op))
    return std::nullopt;
  return result;
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

std::optional<SmallVector<Registers>> nacre::simt::shapeRegisters(Operation *op, unsigned result) {
  const LinearLayout &to = layoutOf(op->getResult(result)), &from = layoutOf(op->getOperand(0));
  auto fromFirst = [](std::optional<SmallVector<uint32_t>> numbers) -> std::optional<SmallVector<Registers>> {
    if (!numbers)
      return std::nullopt;
    return llvm::map_to_vector(*numbers, [](uint32_t number) { return Registers{0, number}; });
  };
  auto byCoordinates = [&](llvm::function_ref<void(SmallVectorImpl<uint32_t> &)> rename) {
    return fromFirst(sourceRegisters(from, to, [&](uint32_t packed) {
      SmallVector<uint32_t> coordinates = to.unpack(packed);
      rename(coordinates);
      return from.pack(coordinates);
    }));
  };
  if (isa<tile::ReshapeOp, tile::ExpandDimsOp>(op))
    return fromFirst(sourceRegisters(from, to, [](uint32_t packed) { return packed; }));
  if (isa<tile::BroadcastOp>(op))
    return byCoordinates([&](SmallVectorImpl<uint32_t> &coordinates) {
      for (unsigned axis = 0; axis < coordinates.size(); ++axis)
        coordinates[axis] &= from.extent(axis) - 1;
    });
  if (auto permute = dyn_cast<tile::PermuteOp>(op))
    return byCoordinates([&](SmallVectorImpl<uint32_t> &coordinates) {
      SmallVector<uint32_t> renamed(coordinates.size());
      for (auto [axis, source] : llvm::enumerate(permute.getOrder()))
        renamed[source] = coordinates[axis];
      coordinates.assign(renamed.begin(), renamed.end());
    });
  if (isa<tile::SplitOp>(op))
    if (std::optional<LinearLayout::Split> split = from.split()) {
      auto numbers = sourceRegisters(split->half, to, [](uint32_t packed) { return packed; });
      if (!numbers)
        return std::nullopt;
      uint32_t low = (uint32_t(1) << split->registerBit) - 1;
      return llvm::map_to_vector(*numbers, [&](uint32_t number) {
        return Registers{0,
                         (number & low) | (number & ~low) << 1 | static_cast<uint32_t>(result) << split->registerBit};
      });
    }
  // Two operands, told apart by one bit of the coordinates.
  uint32_t which = 0;
  if (isa<tile::JoinOp>(op))
    which = 1;
  else if (auto concatenate = dyn_cast<tile::ConcatenateOp>(op))
    which = (to.extent(concatenate.getAxis()) >> 1) << to.shiftOf(concatenate.getAxis());
  if (!which)
    return std::nullopt;
  auto numbers = sourceRegisters(from, to, [&](uint32_t packed) {
    if (isa<tile::JoinOp>(op))
      return packed >> 1;
    SmallVector<uint32_t> coordinates = to.unpack(packed & ~which);
    return from.pack(coordinates);
  });
  if (!numbers)
    return std::nullopt;
  for (Place place : {Place::Lane, Place::Warp, Place::Block})
    for (uint32_t basis : to.basesOf(place))
      if (basis & which)
        return std::nullopt;
  SmallVector<Registers> registers;
  for (auto [number, source] : llvm::enumerate(*numbers)) {
    uint32_t packed = to.apply(Position{.reg = static_cast<uint32_t>(number)});
    registers.push_back({packed & which ? 1u : 0u, source});
  }
  return registers;
}
