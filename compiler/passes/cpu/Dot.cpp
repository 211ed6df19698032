// dot: the result's place, then the product into it. See DotLowering.h.
#include "compiler/passes/cpu/DotLowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

void Lowering::lowerDot(Operation *operation) {
  auto op = cast<tile::DotOp>(operation);
  Block *owner = op->getBlock();
  ArrayRef<int64_t> c = tile::shapeOf(op.getType());
  // What it goes on with may be the sum of dots that were left for it.
  SmallVector<tile::DotOp> earlier;
  tile::DotOp first = op;
  while (auto previous = first.getAccumulator().getDefiningOp<tile::DotOp>()) {
    if (plan.place(previous) != Place::Deferred)
      break;
    first = previous;
    earlier.insert(earlier.begin(), first);
  }
  Value start = first.getAccumulator();
  DotLowering dot(*this, op);
  Type element = getElementTypeOrSelf(op.getType()), type = dot.computeType();
  bool direct = element == type;
  auto converted = [&](Nest &nest, const Lanes &lanes, Type from, Type to) {
    if (from == to)
      return lanes;
    if (lanes.isUniform())
      return Lanes::uniform(convertFloat(b, lanes.value, from, to, tile::Rounding::NearestEven));
    return Lanes::varying(convertFloat(b, nest.vectorOf(lanes, from), from, to, tile::Rounding::NearestEven));
  };

  // In place over a carried accumulator, or a buffer of its own that starts as the accumulator.
  std::optional<Buffer> inPlace = direct ? destinationInPlace(op.getResult(), operation) : std::nullopt;
  Buffer sums = inPlace ? *inPlace : allocate(type, c, owner);
  const Buffer *accumulator = buffer(start);
  bool fromZero = matchPattern(start, m_AnyZeroFloat()) || matchPattern(start, m_Zero());
  if (!fromZero && (!accumulator || accumulator->pointer != sums.pointer)) {
    Nest nest(*this, c);
    nest.emitLoops(
        [&](Nest &inner) {
          Coordinates coordinates = inner.identity(inner.shape.size());
          inner.writeBuffer(sums, converted(inner, inner.evaluate(start, coordinates), element, type), coordinates);
        },
        ArrayRef<Value>{start});
  }
  dot.run(earlier, sums, fromZero);
  if (inPlace)
    buffers.erase(destinations.find(op.getResult())->second.first);
  if (direct) {
    hold(op.getResult(), sums);
    return;
  }
  Buffer rounded = allocate(op.getType(), owner);
  Nest nest(*this, c);
  nest.emitLoops(
      [&](Nest &inner) {
        Coordinates coordinates = inner.identity(inner.shape.size());
        inner.writeBuffer(rounded, converted(inner, inner.readBuffer(sums, coordinates), type, element), coordinates);
      },
      {});
  hold(op.getResult(), rounded);
}
