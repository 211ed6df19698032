#include "compiler/passes/gpu/DistanceGather.h"
#include "compiler/passes/gpu/Exchange.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// ---- Recognition

// The axis of `from` that a reshape leaves as `axis` of `to`: none where it does more than add and drop axes of
// extent 1.
static std::optional<unsigned> axisBefore(ArrayRef<int64_t> from, ArrayRef<int64_t> to, unsigned axis) {
  SmallVector<unsigned> left, right;
  for (unsigned i = 0; i < from.size(); ++i)
    if (from[i] != 1)
      left.push_back(i);
  for (unsigned i = 0; i < to.size(); ++i)
    if (to[i] != 1)
      right.push_back(i);
  if (left.size() != right.size())
    return std::nullopt;
  for (auto [i, j] : llvm::zip(left, right)) {
    if (from[i] != to[j])
      return std::nullopt;
    if (j == axis)
      return i;
  }
  return std::nullopt;
}

// Whether each element is its own coordinate along the axis.
static bool isCoordinate(Value value, unsigned axis) {
  Operation *op = value.getDefiningOp();
  if (auto arange = dyn_cast_if_present<tile::ArangeOp>(op))
    return arange.getStart() == 0;
  if (auto convert = dyn_cast_if_present<ConvertOp>(op))
    return isCoordinate(convert.getSource(), axis);
  if (!isa_and_present<tile::ReshapeOp, tile::ExpandDimsOp, tile::BroadcastOp>(op))
    return false;
  Value source = op->getOperand(0);
  ArrayRef<int64_t> from = tile::shapeOf(source.getType()), to = tile::shapeOf(value.getType());
  if (isa<tile::BroadcastOp>(op))
    return from[axis] == to[axis] && isCoordinate(source, axis);
  std::optional<unsigned> before = axisBefore(from, to, axis);
  return before && isCoordinate(source, *before);
}

static Value withoutConverts(Value value) {
  while (auto convert = value.getDefiningOp<ConvertOp>())
    value = convert.getSource();
  return value;
}

static Value splatScalar(Value value) {
  auto splat = withoutConverts(value).getDefiningOp<tile::SplatOp>();
  return splat ? splat.getSource() : Value();
}

static std::optional<int64_t> splatConstant(Value value) {
  if (Value scalar = splatScalar(value))
    value = scalar;
  APInt number;
  return matchPattern(withoutConverts(value), m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                                      : std::nullopt;
}

std::optional<DistanceGather> nacre::simt::matchDistanceGather(tile::GatherOp op) {
  auto flip = withoutConverts(op.getIndex()).getDefiningOp<arith::XOrIOp>();
  const LinearLayout &layout = layoutOf(op.getType());
  if (!flip || op.getSource().getType() != op.getType() || !getElementTypeOrSelf(flip.getType()).isInteger(32))
    return std::nullopt;
  std::optional<LinearLayout> own = layout.isSplitOverBlocks(op.getAxis()) ? std::nullopt : layout.ofOneBlock();
  if (!own)
    return std::nullopt;
  for (auto [place, other] : {std::pair(flip.getLhs(), flip.getRhs()), std::pair(flip.getRhs(), flip.getLhs())}) {
    std::optional<int64_t> constant = splatConstant(other);
    Value distance = constant ? Value() : splatScalar(other);
    if ((constant || distance) && isCoordinate(place, op.getAxis()))
      if (std::optional<ScanPlan> axis = planScan(*own, op.getAxis()))
        return DistanceGather{distance, constant, std::move(*axis)};
  }
  return std::nullopt;
}

int64_t DistanceGather::scratchBytes(Type element) const {
  bool crossesWarps = false;
  for (auto [bit, input] : llvm::enumerate(axis.inputs))
    crossesWarps |= input.place == Place::Warp && (!constant || (*constant >> bit & 1));
  int64_t threads = int64_t(1) << (axis.layout.bits(Place::Lane) + axis.layout.bits(Place::Warp));
  return crossesWarps ? registersAtOnce(element) * threads * Lowering::byteSize(element) : 0;
}

int64_t DistanceGather::registersAtOnce(Type element) const {
  int64_t threads = int64_t(1) << (axis.layout.bits(Place::Lane) + axis.layout.bits(Place::Warp));
  int64_t most = mostScratchBytes / threads / Lowering::byteSize(element);
  return std::min<int64_t>(axis.layout.count(Place::Register), llvm::bit_floor<uint64_t>(most));
}

// ---- Lowering

namespace {

class Exchange {
public:
  Exchange(Lowering &lowering, tile::GatherOp op, const DistanceGather &gather)
      : lowering(lowering), b(lowering.b), op(op), gather(gather), element(getElementTypeOrSelf(op.getType())),
        distance(gather.constant ? Value() : lowering.scalar(gather.distance)),
        values(lowering.registers(op.getSource())) {}

  SmallVector<Value> run() {
    exchangeRegisters();
    exchangeWhere(Place::Lane, [&](Value lanes) { return betweenLanes(lanes); });
    exchangeWhere(Place::Warp, [&](Value warps) { return betweenWarps(warps); });
    return values;
  }

private:
  // The bits of a known distance that belong to a place, where the place's number has them.
  uint32_t knownShareOf(Place place) const {
    uint32_t share = 0;
    for (auto [bit, input] : llvm::enumerate(gather.axis.inputs))
      if (input.place == place && (*gather.constant >> bit & 1))
        share |= uint32_t(1) << input.bit;
    return share;
  }

  // The same of one known at run time; null: none does.
  Value shareOf(Place place) {
    std::map<int, uint32_t> masks; // by how far the bits are shifted
    for (auto [bit, input] : llvm::enumerate(gather.axis.inputs))
      if (input.place == place)
        masks[static_cast<int>(input.bit) - static_cast<int>(bit)] |= uint32_t(1) << bit;
    Value sum;
    for (auto [shift, mask] : masks) {
      Value bits = LLVM::AndOp::create(b, distance, lowering.i32(mask));
      if (shift > 0)
        bits = LLVM::ShlOp::create(b, bits, lowering.i32(shift));
      else if (shift < 0)
        bits = LLVM::LShrOp::create(b, bits, lowering.i32(-shift));
      sum = sum ? Value(LLVM::OrOp::create(b, sum, bits)) : bits;
    }
    return sum;
  }

  Value isNotZero(Value number) { return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, number, lowering.i32(0)); }

  void exchangeRegisters() {
    if (gather.constant) {
      SmallVector<Value> before = values;
      for (uint32_t reg = 0; reg < values.size(); ++reg)
        values[reg] = before[reg ^ knownShareOf(Place::Register)];
      return;
    }
    for (auto [bit, input] : llvm::enumerate(gather.axis.inputs)) {
      if (input.place != Place::Register)
        continue;
      Value isAsked = isNotZero(LLVM::AndOp::create(b, distance, lowering.i32(int64_t(1) << bit)));
      for (uint32_t reg = 0; reg < values.size(); ++reg) {
        uint32_t other = reg ^ (uint32_t(1) << input.bit);
        if (other < reg)
          continue;
        Value low = LLVM::SelectOp::create(b, isAsked, values[other], values[reg]);
        values[other] = LLVM::SelectOp::create(b, isAsked, values[reg], values[other]);
        values[reg] = low;
      }
    }
  }

  // All threads have the same distance: they take the same way.
  void exchangeWhere(Place place, llvm::function_ref<SmallVector<Value>(Value)> exchange) {
    if (gather.constant) {
      if (uint32_t share = knownShareOf(place))
        values = exchange(lowering.i32(share));
      return;
    }
    Value share = shareOf(place);
    if (!share)
      return;
    SmallVector<Type> types(values.size(), values.front().getType());
    auto branch = scf::IfOp::create(b, types, isNotZero(share), /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, values);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, exchange(share));
    values.assign(branch.result_begin(), branch.result_end());
  }

  SmallVector<Value> betweenLanes(Value lanes) {
    if (gather.constant)
      return sendWords(lowering, values, element,
                       [&](Value word) { return lowering.machine.shuffleXor(b, word, knownShareOf(Place::Lane)); });
    Value asked = LLVM::XOrOp::create(b, lowering.laneId(), lanes);
    return sendWords(lowering, values, element,
                     [&](Value word) { return lowering.machine.shuffleFrom(b, word, asked); });
  }

  // A warp's values lie together, each lane's vectors side by side; some registers after the other where memory is
  // short.
  SmallVector<Value> betweenWarps(Value warps) {
    int64_t size = Lowering::byteSize(element), lanes = lowering.block.lanes;
    int64_t atOnce = gather.registersAtOnce(element);
    int64_t width = std::min<int64_t>(16 / size, atOnce), vectorBytes = width * size;
    int64_t warpBytes = atOnce * size * lanes;
    Value base = lowering.scratch(op);
    auto placeOf = [&](Value warp) {
      Value lane = LLVM::MulOp::create(b, lowering.laneId(), lowering.i32(vectorBytes));
      Value start = LLVM::MulOp::create(b, warp, lowering.i32(warpBytes));
      return lowering.byteOffset(base, LLVM::AddOp::create(b, start, lane));
    };
    auto vectorAt = [&](Value place, int64_t first) {
      return first ? lowering.byteOffset(place, lowering.i32(first * size * lanes)) : place;
    };
    Value own = placeOf(lowering.warpId()), other = placeOf(LLVM::XOrOp::create(b, lowering.warpId(), warps));
    SmallVector<Value> result;
    for (int64_t start = 0; start < static_cast<int64_t>(values.size()); start += atOnce) {
      start ? lowering.barrier() : lowering.barrierBefore(op);
      for (int64_t first = 0; first < atOnce; first += width)
        writeShared(lowering, ArrayRef(values).slice(start + first, width), element, vectorAt(own, first), Value());
      lowering.barrier();
      for (int64_t first = 0; first < atOnce; first += width)
        llvm::append_range(result, readShared(lowering, element, width, vectorAt(other, first)));
    }
    return result;
  }

  Lowering &lowering;
  simt::Builder &b;
  tile::GatherOp op;
  const DistanceGather &gather;
  Type element;
  Value distance;
  SmallVector<Value> values;
};

} // namespace

SmallVector<Value> nacre::simt::lowerDistanceGather(Lowering &lowering, tile::GatherOp op,
                                                    const DistanceGather &gather) {
  return Exchange(lowering, op, gather).run();
}
