// dot: the result's place, then the product into it. See DotLowering.h.
#include "compiler/passes/cpu/DotLowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// Tile registers (AMX) take whole ones of 16 rows, 16 sums and 32 products along k.
static bool fitsTileRegisters(int64_t m, int64_t n, int64_t k) { return m % 16 == 0 && n % 16 == 0 && k % 32 == 0; }

static BlockingAttr blockingOf(tile::DotOp op, const VectorTarget &target) {
  ArrayRef<int64_t> a = tile::shapeOf(op.getA().getType()), c = tile::shapeOf(op.getType());
  Type left = op.getA().getType().getElementType(), right = op.getB().getType().getElementType();
  Type sum = op.getType().getElementType();
  if (isa<FloatType>(sum) && sum.getIntOrFloatBitWidth() < 32)
    sum = Float32Type::get(op.getContext());
  int64_t batch = c.size() == 3 ? c[0] : 1, m = c[c.size() - 2], n = c.back(), k = a.back();
  int64_t lanes = target.vectorBytes / byteSize(sum);
  bool many = target.registers >= 32;
  int64_t panel = lanes * (many ? 4 : 2), rows = many ? 4 : 6;
  while (panel / 2 >= n && panel > 1)
    panel /= 2;
  // Pairs need whole ones along k, and columns that the instruction's vectors cover.
  bool pairs = target.bf16Dot && sum.isF32() && left.isBF16() && right.isBF16() && k % 2 == 0 && n % 4 == 0;
  Engine engine = !pairs                                           ? Engine::Vectors
                  : target.bf16Tiles && fitsTileRegisters(m, n, k) ? Engine::Tiles
                                                                   : Engine::Pairs;
  return BlockingAttr::get(op.getContext(), batch, m, n, k, pairs ? left : sum, sum, lanes, panel, rows, engine);
}

DotLowering::DotLowering(Lowering &lowering, tile::DotOp op)
    : lowering(lowering), b(lowering.b), op(op), blocking(blockingOf(op, lowering.target)),
      operandType(blocking.getOperand()), size(byteSize(operandType)) {}

void DotLowering::run(ArrayRef<tile::DotOp> earlier, const Buffer &sums, bool fromZero) {
  SmallVector<Product> products;
  for (tile::DotOp dot : earlier)
    products.push_back(DotLowering(lowering, dot).prepare());
  products.push_back(prepare());
  SmallVector<Value> rows, panels, ahead;
  SmallVector<bool> tables;
  for (const Product &product : products) {
    rows.push_back(product.a.rows ? product.a.rows : product.a.base);
    tables.push_back(product.a.rows != nullptr);
    panels.push_back(product.panels);
    if (product.a.ahead)
      ahead.push_back(product.a.ahead);
  }
  MicroKernelOp::create(b, sums.pointer, rows, panels, ahead, blocking, tables, fromZero);
}

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
