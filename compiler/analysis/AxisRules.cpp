// See AxisRules.h: making and rearranging of tiles, and hints. Arithmetic is in AxisArithmetic.cpp.
#include "compiler/analysis/AxisRules.h"
#include <numeric>

using namespace mlir;
using namespace nacre;

// ---- Sources

AxisInfo AxisRules::entry(Value value) {
  AxisInfo info = AxisInfo::unknown(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  auto kernel = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  if (kernel && info.facts.empty())
    if (auto known = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), tile::divisibilityAttribute))
      info.every = IntegerFacts::powerOfTwoIn(known.getInt());
  if (info.facts.empty() && isa<IntegerType>(value.getType()))
    info.every = std::max(info.every, integers.promisedDivisor(value));
  return info;
}

AxisInfo AxisRules::index(Value index, const AxisInfo &lowerBound, const AxisInfo &step) {
  AxisInfo info = AxisInfo::unknown(index.getType());
  info.every = std::min(lowerBound.every, step.every);
  return info;
}

AxisInfo AxisRules::constant(Attribute attribute, Type type) {
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute))
    attribute = elements.isSplat() ? elements.getSplatValue<Attribute>() : Attribute();
  else if (!tile::shapeOf(type).empty())
    attribute = {};
  AxisInfo scalar = AxisInfo::unknown(getElementTypeOrSelf(type));
  if (!attribute)
    return AxisInfo::unknown(type);
  if (auto number = dyn_cast<IntegerAttr>(attribute); number && number.getValue().getBitWidth() <= 64)
    scalar.every = IntegerFacts::powerOfTwoIn(number.getValue().getSExtValue());
  return spread(type, scalar);
}

AxisInfo AxisRules::arange(tile::ArangeOp op) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  AxisFacts &axis = info.facts[0];
  auto start = static_cast<int64_t>(op.getStart());
  unsigned bits = op.getType().getElementTypeBitWidth();
  axis.contiguity = axis.extent;
  axis.run = llvm::isIntN(bits, start) && llvm::isIntN(bits, start + axis.extent - 1) ? axis.extent : 1;
  axis.divisibility = IntegerFacts::powerOfTwoIn(start);
  info.every = axis.extent == 1 ? axis.divisibility : 1;
  return info;
}

// ---- Rearranging

AxisInfo AxisRules::spread(Type type, const AxisInfo &scalar) {
  AxisInfo info = AxisInfo::unknown(type);
  info.every = scalar.every;
  info.unit = scalar.unit;
  for (AxisFacts &axis : info.facts) {
    axis.constancy = axis.extent;
    axis.divisibility = scalar.every;
  }
  return info;
}

AxisInfo AxisRules::expandDims(tile::ExpandDimsOp op, const AxisInfo &source) {
  AxisInfo info = source;
  AxisFacts axis;
  axis.divisibility = source.every;
  info.facts.insert(info.facts.begin() + op.getAxis(), axis);
  return info;
}

AxisInfo AxisRules::broadcast(tile::BroadcastOp op, const AxisInfo &source) {
  AxisInfo info = source;
  for (auto [index, extent] : llvm::enumerate(op.getType().getShape()))
    if (info.facts[index].extent != extent) {
      AxisFacts axis;
      axis.extent = axis.constancy = extent;
      axis.divisibility = source.divisibilityAt(index, 1);
      info.facts[index] = axis;
    }
  return info;
}

AxisInfo AxisRules::permute(tile::PermuteOp op, const AxisInfo &source) {
  AxisInfo info = source;
  for (auto [index, from] : llvm::enumerate(op.getOrder()))
    info.facts[index] = source.facts[from];
  return info;
}

// Row-major order is kept, so that axes of the source and of the result fall into ranges of equal products, each by
// itself. Within a range the last axis is what neighbours in memory would be; others keep what is constant over whole
// rows.
AxisInfo AxisRules::reshape(tile::ReshapeOp op, const AxisInfo &source) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  info.every = source.every;
  ArrayRef<int64_t> to = op.getType().getShape();
  size_t from = 0, into = 0;
  while (from < source.facts.size() || into < to.size()) {
    // The next range: [from, fromEnd) becomes [into, intoEnd).
    size_t fromEnd = from, intoEnd = into;
    int64_t fromCount = 1, intoCount = 1;
    auto takeFrom = [&] { fromCount *= source.facts[fromEnd++].extent; };
    auto takeInto = [&] { intoCount *= to[intoEnd++]; };
    if (from < source.facts.size())
      takeFrom();
    if (into < to.size())
      takeInto();
    while (fromCount != intoCount)
      fromCount < intoCount ? takeFrom() : takeInto();
    // As one axis: the last axis of the source, and those before it while rows are constant as a whole.
    SmallVector<size_t> wide;
    for (size_t axis = from; axis < fromEnd; ++axis)
      if (source.facts[axis].extent != 1)
        wide.push_back(axis);
    AxisFacts line;
    line.divisibility = source.every;
    line.extent = fromCount;
    AxisInfo flat;
    flat.every = source.every;
    flat.unit = source.unit;
    if (!wide.empty()) {
      const AxisFacts &last = source.facts[wide.back()];
      line.contiguity = std::gcd(last.contiguity, last.extent);
      line.run = std::gcd(last.run, last.extent);
      line.divisibility = source.divisibilityAt(wide.back(), line.contiguity);
      line.constancy = std::gcd(last.constancy, last.extent);
      int64_t rows = last.extent; // elements of the axes looked at
      for (size_t axis : llvm::drop_begin(llvm::reverse(wide))) {
        if (line.constancy != rows)
          break;
        line.constancy = rows * std::gcd(source.facts[axis].constancy, source.facts[axis].extent);
        rows *= source.facts[axis].extent;
      }
      if (wide.size() == 1)
        line = last;
    }
    line.extent = fromCount;
    flat.facts.push_back(line);
    // And cut into the axes of the result, from the last on.
    int64_t inner = 1;
    for (size_t axis = intoEnd; axis-- > into;) {
      AxisFacts &result = info.facts[axis];
      if (inner == 1 && result.extent != 1) {
        result.contiguity = std::gcd(line.contiguity, result.extent);
        result.run = std::gcd(line.run, result.extent);
        result.constancy = std::gcd(line.constancy, result.extent);
        result.divisibility = flat.divisibilityAt(0, result.contiguity);
        if (result.extent == line.extent)
          result = line;
      } else {
        result.constancy = line.constancy % inner == 0 ? std::gcd(line.constancy / inner, result.extent) : 1;
        result.divisibility = flat.divisibilityAt(0, 1);
      }
      inner *= result.extent;
    }
    from = fromEnd;
    into = intoEnd;
  }
  return info;
}

// Along the axis the second part starts in the middle of a group unless the first's extent is a multiple of it.
AxisInfo AxisRules::concatenate(tile::ConcatenateOp op, const AxisInfo &first, const AxisInfo &second) {
  auto axis = static_cast<size_t>(op.getAxis());
  AxisInfo info = AxisInfo::join(first, second);
  int64_t seam = first.facts[axis].extent;
  AxisFacts &along = info.facts[axis];
  along.contiguity = std::gcd(along.contiguity, seam);
  along.run = std::gcd(along.run, seam);
  along.constancy = std::gcd(along.constancy, seam);
  along.divisibility =
      std::min(first.divisibilityAt(axis, along.contiguity), second.divisibilityAt(axis, along.contiguity));
  along.extent = op.getType().getShape()[axis];
  return info;
}

AxisInfo AxisRules::join(tile::JoinOp op, const AxisInfo &first, const AxisInfo &second) {
  AxisInfo info = AxisInfo::join(first, second);
  AxisFacts axis;
  axis.extent = 2;
  axis.divisibility = info.every;
  info.facts.push_back(axis);
  return info;
}

// ---- Hints

// The promises about one value: of all hints about it in the block, for `max_contiguous(multiple_of(x, 16), 16)`
// promises that every 16th element is a multiple of 16, and each hint alone would say something else.
static void collectHints(Value value, Block *block, SmallVectorImpl<tile::HintOp> &hints) {
  for (Operation *user : value.getUsers())
    if (auto hint = dyn_cast<tile::HintOp>(user); hint && hint->getBlock() == block) {
      hints.push_back(hint);
      collectHints(hint, block, hints);
    }
}

AxisInfo AxisRules::hint(tile::HintOp op, const AxisInfo &source) {
  Value root = op.getSource();
  while (auto outer = root.getDefiningOp<tile::HintOp>())
    root = outer.getSource();
  SmallVector<tile::HintOp> hints;
  collectHints(root, op->getBlock(), hints);

  AxisInfo info = source;
  auto promised = [&](tile::HintKind kind, size_t axis) {
    int64_t most = 0;
    for (tile::HintOp hint : hints)
      if (hint.getKind() == kind && axis < hint.getValues().size())
        most = std::max(most, hint.getValues()[axis]);
    return most;
  };
  if (info.facts.empty()) {
    if (int64_t divisor = promised(tile::HintKind::Divisibility, 0))
      info.every = std::max(info.every, IntegerFacts::powerOfTwoIn(divisor));
    return info;
  }
  for (auto [index, axis] : llvm::enumerate(info.facts)) {
    int64_t contiguity = std::min(promised(tile::HintKind::Contiguity, index), axis.extent);
    axis.constancy = std::max(axis.constancy, std::min(promised(tile::HintKind::Constancy, index), axis.extent));
    axis.run = std::max(axis.run, contiguity);
    bool isPromised = contiguity >= axis.contiguity;
    if (isPromised)
      axis.contiguity = contiguity;
    axis.divisibility = source.divisibilityAt(index, axis.contiguity);
    if (int64_t number = promised(tile::HintKind::Divisibility, index)) {
      // Of the first elements of contiguous runs: those that were promised. Runs that are only known may be parts of
      // longer ones.
      int64_t divisor = IntegerFacts::powerOfTwoIn(number);
      if (!isPromised && axis.contiguity < axis.extent && axis.contiguity > 1)
        divisor = std::min(divisor, IntegerFacts::product(IntegerFacts::powerOfTwoIn(axis.contiguity), info.unit));
      axis.divisibility = std::max(axis.divisibility, divisor);
    }
  }
  return info;
}

// ---- All operations

AxisInfo AxisRules::result(OpResult result, ArrayRef<const AxisInfo *> operands) {
  Operation *op = result.getOwner();
  Type type = result.getType();
  AxisInfo info;
  if (isa<ub::PoisonOp>(op))
    return info;
  Attribute attribute;
  if (matchPattern(op, m_Constant(&attribute)))
    info = constant(attribute, type);
  else if (auto arange = dyn_cast<tile::ArangeOp>(op))
    info = this->arange(arange);
  else if (isa<tile::SplatOp>(op))
    info = spread(type, *operands[0]);
  else if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    info = expandDims(expand, *operands[0]);
  else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
    info = this->broadcast(broadcast, *operands[0]);
  else if (auto permute = dyn_cast<tile::PermuteOp>(op))
    info = this->permute(permute, *operands[0]);
  else if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    info = this->reshape(reshape, *operands[0]);
  else if (auto concatenate = dyn_cast<tile::ConcatenateOp>(op))
    info = this->concatenate(concatenate, *operands[0], *operands[1]);
  else if (auto join = dyn_cast<tile::JoinOp>(op))
    info = this->join(join, *operands[0], *operands[1]);
  else if (isa<tile::SplitOp>(op)) {
    info = *operands[0];
    info.facts.pop_back();
  } else if (isa<tile::ExtractOp>(op)) {
    info = AxisInfo::unknown(type);
    info.every = operands[0]->every;
  } else if (auto hint = dyn_cast<tile::HintOp>(op))
    info = this->hint(hint, *operands[0]);
  else if (auto load = dyn_cast<tile::LoadOp>(op))
    // Equal addresses give equal elements.
    info = load.getIsVolatile() ? AxisInfo::unknown(type) : function(type, operands);
  else if (op->getNumRegions() == 0 && isMemoryEffectFree(op) && op->hasTrait<OpTrait::Elementwise>())
    info = elementwise(result, operands);
  else
    info = AxisInfo::unknown(type);

  if (info.facts.empty() && isa<IntegerType>(type))
    info.every = std::max(info.every, integers.promisedDivisor(result));
  // What every element has, the elements of each axis have, and the other way round where groups are of one.
  for (size_t axis = 0; axis < info.facts.size(); ++axis)
    info.every = std::max(info.every, info.divisibilityAt(axis, 1));
  for (AxisFacts &axis : info.facts)
    axis.divisibility = std::max(axis.divisibility, info.every);
  return info;
}
