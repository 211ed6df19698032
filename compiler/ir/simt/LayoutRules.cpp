// See LayoutRules.h. One model an operation.
#include "compiler/ir/simt/LayoutRules.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include <bit>

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

using OptionalLayout = std::optional<LinearLayout>;
using OptionalRegisters = std::optional<SmallVector<Registers>>;

static SmallVector<unsigned> paddedBits(Type type) { return LinearLayout::paddedBits(tile::shapeOf(type)); }

// ---- The registers that results come from

static OptionalRegisters ofOperand(unsigned operand, std::optional<SmallVector<uint32_t>> numbers) {
  if (!numbers)
    return std::nullopt;
  return llvm::map_to_vector(*numbers, [&](uint32_t number) { return Registers{operand, number}; });
}

// Packed coordinates stay what they are.
static OptionalRegisters inOrder(Operation *op) {
  return ofOperand(0, sourceRegisters(layoutOf(op->getOperand(0)), layoutOf(op->getResult(0)),
                                      [](uint32_t packed) { return packed; }));
}

static OptionalRegisters byCoordinates(Operation *op, llvm::function_ref<void(SmallVectorImpl<uint32_t> &)> rename) {
  const LinearLayout &from = layoutOf(op->getOperand(0)), &to = layoutOf(op->getResult(0));
  return ofOperand(0, sourceRegisters(from, to, [&](uint32_t packed) {
                     SmallVector<uint32_t> coordinates = to.unpack(packed);
                     rename(coordinates);
                     return from.pack(coordinates);
                   }));
}

// Two operands, told apart by the bit `which` of the coordinates.
static OptionalRegisters ofTwo(Operation *op, uint32_t which, llvm::function_ref<uint32_t(uint32_t)> coordinates) {
  const LinearLayout &from = layoutOf(op->getOperand(0)), &to = layoutOf(op->getResult(0));
  auto numbers = sourceRegisters(from, to, coordinates);
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

static OptionalLayout halfOfSplit(const LinearLayout &whole) {
  std::optional<LinearLayout::Split> split = whole.split();
  return split ? std::optional(split->half) : std::nullopt;
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

// ---- Operations on shapes

namespace {

struct ExpandDimsRule : LayoutOpInterface::ExternalModel<ExpandDimsRule, tile::ExpandDimsOp> {
  bool isShape(Operation *) const { return true; }
  OptionalLayout resultLayout(Operation *op, const LinearLayout &operand) const {
    return operand.expand(cast<tile::ExpandDimsOp>(op).getAxis());
  }
  OptionalLayout operandLayout(Operation *op, const LinearLayout &result) const {
    return result.slice(cast<tile::ExpandDimsOp>(op).getAxis());
  }
  OptionalRegisters sourceRegisters(Operation *op, unsigned) const { return inOrder(op); }
};

struct BroadcastRule : LayoutOpInterface::ExternalModel<BroadcastRule, tile::BroadcastOp> {
  bool isShape(Operation *) const { return true; }
  OptionalLayout resultLayout(Operation *op, const LinearLayout &operand) const {
    LinearLayout result = operand;
    SmallVector<unsigned> wanted = paddedBits(cast<tile::BroadcastOp>(op).getType());
    for (unsigned axis = 0; axis < wanted.size(); ++axis)
      if (result.axisBits(axis) != wanted[axis])
        result = result.broadcast(axis, wanted[axis]);
    return result;
  }
  OptionalLayout operandLayout(Operation *op, const LinearLayout &result) const {
    LinearLayout operand = result;
    SmallVector<unsigned> wanted = paddedBits(cast<tile::BroadcastOp>(op).getSource().getType());
    for (unsigned axis = 0; axis < wanted.size(); ++axis)
      if (operand.axisBits(axis) != wanted[axis])
        operand = operand.collapse(axis);
    return operand;
  }
  OptionalRegisters sourceRegisters(Operation *op, unsigned) const {
    const LinearLayout &from = layoutOf(op->getOperand(0));
    return byCoordinates(op, [&](SmallVectorImpl<uint32_t> &coordinates) {
      for (unsigned axis = 0; axis < coordinates.size(); ++axis)
        coordinates[axis] &= from.extent(axis) - 1;
    });
  }
};

// In place where row-major indices stay equal; else through shared memory.
struct ReshapeRule : LayoutOpInterface::ExternalModel<ReshapeRule, tile::ReshapeOp> {
  bool isShape(Operation *op) const {
    auto reshape = cast<tile::ReshapeOp>(op);
    return isLinearReshape(reshape.getSource().getType().getShape(), reshape.getType().getShape());
  }
  bool takesAnyLayout(Operation *op, unsigned) const { return !isShape(op); }
  bool givesAnyLayout(Operation *) const { return true; }
  OptionalLayout resultLayout(Operation *op, const LinearLayout &operand) const {
    return operand.reshape(paddedBits(cast<tile::ReshapeOp>(op).getType()));
  }
  OptionalLayout operandLayout(Operation *op, const LinearLayout &result) const {
    return result.reshape(paddedBits(cast<tile::ReshapeOp>(op).getSource().getType()));
  }
  OptionalRegisters sourceRegisters(Operation *op, unsigned) const { return inOrder(op); }
};

struct PermuteRule : LayoutOpInterface::ExternalModel<PermuteRule, tile::PermuteOp> {
  bool isShape(Operation *) const { return true; }
  OptionalLayout resultLayout(Operation *op, const LinearLayout &operand) const {
    auto order = cast<tile::PermuteOp>(op).getOrder();
    return operand.permute(SmallVector<unsigned>(order.begin(), order.end()));
  }
  OptionalLayout operandLayout(Operation *op, const LinearLayout &result) const {
    auto order = cast<tile::PermuteOp>(op).getOrder();
    SmallVector<unsigned> inverse(order.size());
    for (auto [axis, source] : llvm::enumerate(order))
      inverse[source] = axis;
    return result.permute(inverse);
  }
  OptionalRegisters sourceRegisters(Operation *op, unsigned) const {
    return byCoordinates(op, [&](SmallVectorImpl<uint32_t> &coordinates) {
      SmallVector<uint32_t> renamed(coordinates.size());
      for (auto [axis, source] : llvm::enumerate(cast<tile::PermuteOp>(op).getOrder()))
        renamed[source] = coordinates[axis];
      coordinates.assign(renamed.begin(), renamed.end());
    });
  }
};

struct JoinRule : LayoutOpInterface::ExternalModel<JoinRule, tile::JoinOp> {
  bool isShape(Operation *) const { return true; }
  OptionalLayout resultLayout(Operation *, const LinearLayout &operand) const { return operand.join(); }
  OptionalLayout operandLayout(Operation *, const LinearLayout &result) const { return halfOfSplit(result); }
  OptionalRegisters sourceRegisters(Operation *op, unsigned) const {
    return ofTwo(op, 1, [](uint32_t packed) { return packed >> 1; });
  }
};

// In place but for a pair, whose halves are scalars.
struct SplitRule : LayoutOpInterface::ExternalModel<SplitRule, tile::SplitOp> {
  bool isShape(Operation *op) const { return isa<RankedTensorType>(op->getResult(0).getType()); }
  bool takesAnyLayout(Operation *op, unsigned) const { return !isShape(op); }
  OptionalLayout resultLayout(Operation *, const LinearLayout &operand) const { return halfOfSplit(operand); }
  OptionalLayout operandLayout(Operation *, const LinearLayout &result) const { return result.join(); }
  OptionalRegisters sourceRegisters(Operation *op, unsigned result) const {
    std::optional<LinearLayout::Split> split = layoutOf(op->getOperand(0)).split();
    if (!split)
      return std::nullopt;
    auto numbers =
        simt::sourceRegisters(split->half, layoutOf(op->getResult(result)), [](uint32_t packed) { return packed; });
    if (!numbers)
      return std::nullopt;
    uint32_t low = (uint32_t(1) << split->registerBit) - 1;
    for (uint32_t &number : *numbers)
      number = (number & low) | (number & ~low) << 1 | static_cast<uint32_t>(result) << split->registerBit;
    return ofOperand(0, std::move(numbers));
  }
};

// In place where the second tile begins at a bit of the padded axis, so that a register bit tells the two apart.
struct ConcatenateRule : LayoutOpInterface::ExternalModel<ConcatenateRule, tile::ConcatenateOp> {
  bool isShape(Operation *op) const {
    auto concatenate = cast<tile::ConcatenateOp>(op);
    int64_t first = concatenate.getFirst().getType().getShape()[concatenate.getAxis()];
    int64_t second = concatenate.getSecond().getType().getShape()[concatenate.getAxis()];
    return std::has_single_bit<uint64_t>(first) && second == first;
  }
  bool takesAnyLayout(Operation *op, unsigned) const { return !isShape(op); }
  bool givesAnyLayout(Operation *) const { return true; }
  OptionalLayout resultLayout(Operation *op, const LinearLayout &operand) const {
    return operand.concatenate(cast<tile::ConcatenateOp>(op).getAxis());
  }
  OptionalLayout operandLayout(Operation *op, const LinearLayout &result) const {
    return halfOf(result, cast<tile::ConcatenateOp>(op).getAxis());
  }
  OptionalRegisters sourceRegisters(Operation *op, unsigned) const {
    const LinearLayout &from = layoutOf(op->getOperand(0)), &to = layoutOf(op->getResult(0));
    unsigned axis = cast<tile::ConcatenateOp>(op).getAxis();
    uint32_t which = (to.extent(axis) >> 1) << to.shiftOf(axis);
    return ofTwo(op, which, [&](uint32_t packed) {
      SmallVector<uint32_t> coordinates = to.unpack(packed & ~which);
      return from.pack(coordinates);
    });
  }
};

// ---- Others

struct ReduceRule : LayoutOpInterface::ExternalModel<ReduceRule, tile::ReduceOp> {
  OptionalLayout resultLayout(Operation *op, const LinearLayout &operand) const {
    return operand.slice(cast<tile::ReduceOp>(op).getAxis());
  }
  OptionalLayout operandLayout(Operation *, const LinearLayout &) const { return std::nullopt; }
};

// Its operands are read by whoever multiplies.
struct DotRule : LayoutOpInterface::ExternalModel<DotRule, tile::DotOp> {
  bool takesAnyLayout(Operation *, unsigned operand) const { return operand < 2; }
};

struct GatherRule : LayoutOpInterface::ExternalModel<GatherRule, tile::GatherOp> {
  bool takesAnyLayout(Operation *, unsigned operand) const { return operand == 0; }
};

struct HistogramRule : LayoutOpInterface::ExternalModel<HistogramRule, tile::HistogramOp> {
  bool givesAnyLayout(Operation *) const { return true; }
};

// On packs: where the elements are, or through shared memory.
template <typename Op> struct PackRule : LayoutOpInterface::ExternalModel<PackRule<Op>, Op> {
  bool takesAnyLayout(Operation *op, unsigned) const { return !runsOnRegisters(op); }
  bool givesAnyLayout(Operation *op) const { return !runsOnRegisters(op); }
};

// Each element by itself.
template <typename Op> struct ElementsRule : LayoutOpInterface::ExternalModel<ElementsRule<Op>, Op> {
  bool takesAnyLayout(Operation *, unsigned) const { return true; }
};

} // namespace

void nacre::simt::attachLayoutRules(MLIRContext *context) {
  tile::ExpandDimsOp::attachInterface<ExpandDimsRule>(*context);
  tile::BroadcastOp::attachInterface<BroadcastRule>(*context);
  tile::ReshapeOp::attachInterface<ReshapeRule>(*context);
  tile::PermuteOp::attachInterface<PermuteRule>(*context);
  tile::JoinOp::attachInterface<JoinRule>(*context);
  tile::SplitOp::attachInterface<SplitRule>(*context);
  tile::ConcatenateOp::attachInterface<ConcatenateRule>(*context);
  tile::ReduceOp::attachInterface<ReduceRule>(*context);
  tile::DotOp::attachInterface<DotRule>(*context);
  tile::GatherOp::attachInterface<GatherRule>(*context);
  tile::HistogramOp::attachInterface<HistogramRule>(*context);
  tile::MapOp::attachInterface<PackRule<tile::MapOp>>(*context);
  tile::InlineAsmOp::attachInterface<PackRule<tile::InlineAsmOp>>(*context);
  tile::ExtractOp::attachInterface<ElementsRule<tile::ExtractOp>>(*context);
  tile::PrintOp::attachInterface<ElementsRule<tile::PrintOp>>(*context);
  tile::AssertOp::attachInterface<ElementsRule<tile::AssertOp>>(*context);
}
