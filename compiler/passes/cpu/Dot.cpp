// dot: operands packed into scratch memory, then a register-blocked kernel over them.
//
// A is packed row-major, B in panels of as many columns as the kernel's accumulators span, both in the type that is computed
// in. The kernel keeps a block of the result, a few rows by one panel, in vector registers while it walks along k: one vector
// load per B vector, one broadcast per A element, and a multiply-add for each pair of them. The result accumulates in memory,
// in place when a loop carries it.
#include "compiler/passes/cpu/Nest.h"
#include "compiler/passes/cpu/PackCache.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

namespace {

// The sizes of one dot and how it is cut.
struct DotShape {
  int64_t batch, m, n, k;
  int64_t lanes;      // elements of a vector register
  int64_t panel;      // columns of a panel; a power of two
  int64_t rows;       // rows of a register block
};

struct Piece { int64_t offset, width; }; // some columns of a panel, as one vector

SmallVector<Piece> piecesOf(int64_t columns, int64_t lanes) {
  SmallVector<Piece> pieces;
  int64_t offset = 0;
  for (int64_t width = lanes; width >= 1; width /= 2)
    while (columns - offset >= width) {
      pieces.push_back({offset, width});
      offset += width;
    }
  return pieces;
}

// A floating or integer type that products are summed in.
Type computeType(Type accumulator) {
  if (isa<FloatType>(accumulator) && accumulator.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(accumulator.getContext());
  return accumulator;
}

Value toComputeType(Emit &b, Value value, Type from, Type to) {
  if (isa<FloatType>(to))
    return convertFloat(b, value, from, to, tile::Rounding::NearestEven);
  if (from == to)
    return value;
  Type type = to;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = b.vectorType(to, vector.getDimSize(0));
  return arith::ExtSIOp::create(b, type, value);
}

Value multiplyAdd(Emit &b, Value x, Value y, Value sum) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return math::FmaOp::create(b, x, y, sum);
  return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), sum);
}

class DotLowering {
public:
  DotLowering(Lowering &lowering, tile::DotOp op, DotShape shape, Type type)
      : lowering(lowering), b(lowering.b), op(op), shape(shape), type(type), size(byteSize(type)) {}

  Value packA() {
    Value a = op.getA();
    const Buffer *existing = lowering.buffer(a);
    if (existing && existing->element == type && existing->strides.back() == 1)
      return existing->pointer;
    Buffer packed = lowering.allocate(type, tile::shapeOf(a.getType()), op->getBlock());
    return packOnce(a, packed, [&](Value target) {
      pack(a, target, [&](ArrayRef<Value> index) {
        Value offset = b.index(0);
        for (auto [axis, stride] : llvm::enumerate(packed.strides))
          offset = b.add(offset, b.mul(index[axis], b.index(stride)));
        return offset;
      }, shape.k);
    });
  }

  Value packB() {
    int64_t panels = (shape.n + shape.panel - 1) / shape.panel;
    Buffer packed = lowering.allocate(type, {shape.batch, panels, shape.k, shape.panel}, op->getBlock());
    return packOnce(op.getB(), packed, [&](Value target) {
      pack(op.getB(), target, [&](ArrayRef<Value> index) {
        Value column = index.back(), k = index[index.size() - 2];
        Value offset = b.mul(k, b.index(shape.panel));
        offset = b.add(offset, b.mul(divide(column), b.index(shape.k * shape.panel)));
        offset = b.add(offset, remainder(column));
        return index.size() == 3 ? b.add(offset, b.mul(index[0], b.index(panels * shape.k * shape.panel))) : offset;
      }, shape.panel);
    });
  }

  void multiply(Value a, Value packedB, Value c) {
    loop(shape.batch, [&](Value batch) {
      Value aBatch = advance(a, batch, shape.m * shape.k), cBatch = advance(c, batch, shape.m * shape.n);
      int64_t panels = (shape.n + shape.panel - 1) / shape.panel;
      Value bBatch = advance(packedB, batch, panels * shape.k * shape.panel);
      int64_t whole = shape.n / shape.panel;
      loop(whole, [&](Value panel) {
        emitPanel(aBatch, advance(bBatch, panel, shape.k * shape.panel), advance(cBatch, panel, shape.panel),
                  piecesOf(shape.panel, shape.lanes));
      });
      if (int64_t rest = shape.n % shape.panel)
        emitPanel(aBatch, advance(bBatch, b.index(whole), shape.k * shape.panel),
                  advance(cBatch, b.index(whole), shape.panel), piecesOf(rest, shape.lanes));
    });
  }

private:
  // Packs into `packed`, or finds what an earlier program on this thread packed.
  Value packOnce(Value operand, const Buffer &packed, llvm::function_ref<void(Value target)> pack) {
    std::optional<PackCache> cache = PackCache::find(lowering, op, operand);
    if (!cache) {
      pack(packed.pointer);
      return packed.pointer;
    }
    int64_t bytes = size;
    for (int64_t extent : packed.shape)
      bytes *= extent;
    return cache->emit(packed.pointer, bytes, pack);
  }
  Value divide(Value column) { return arith::ShRUIOp::create(b, column, b.index(llvm::Log2_64(shape.panel))); }
  Value remainder(Value column) { return arith::AndIOp::create(b, column, b.index(shape.panel - 1)); }
  Value advance(Value pointer, Value index, int64_t elements) {
    return b.offsetBytes(pointer, b.mul(index, b.index(elements * size)));
  }
  void loop(int64_t count, llvm::function_ref<void(Value)> body) {
    if (count == 0)
      return;
    if (count == 1)
      return body(b.index(0));
    auto loop = scf::ForOp::create(b, b.index(0), b.index(count), b.index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  // Writes the operand, converted, to `target` at the element offset `place` gives for its indices; neighbours along the last axis
  // are neighbours there, in runs of `run`. The operand is read along the axis that its memory is contiguous in; when that is not the
  // last one, squares of it are turned in registers.
  void pack(Value value, Value target, llvm::function_ref<Value(ArrayRef<Value>)> place, int64_t run) {
    Nest nest(lowering, tile::shapeOf(value.getType()));
    int last = nest.shape.size() - 1;
    auto address = [&](ArrayRef<Value> index) { return b.offsetBytes(target, b.mul(place(index), b.index(size))); };
    Nest turned(lowering, nest.shape);
    turned.lane = last - 1;
    std::swap(turned.order[last], turned.order[last - 1]);
    auto readsAlong = [&](Nest &other) { return other.readsNeighbours(value, other.identity(other.shape.size())); };
    if (readsAlong(nest) || !readsAlong(turned)) {
      nest.emitLoops(
          [&](Nest &inner) {
            Lanes lanes = converted(inner, value);
            Value pointer = address(inner.indices);
            inner.store(type, inner.width > 1 ? Lanes::linear(pointer, b.index(size)) : Lanes::uniform(pointer), lanes, {});
          },
          value, std::min(shape.lanes, run));
      return;
    }
    // Columns `square` at a time; those that do not fill a square one by one.
    int64_t square = std::min({shape.lanes, run, int64_t(1) << llvm::Log2_64(nest.shape[last]),
                               int64_t(1) << llvm::Log2_64(nest.shape[last - 1])});
    auto storeOneByOne = [&](Nest &inner, const Lanes &lanes) {
      for (int64_t i = 0; i < inner.width; ++i) {
        SmallVector<Value> index(inner.indices);
        index[last - 1] = b.add(index[last - 1], b.index(i));
        b.store(inner.width > 1 && !lanes.isUniform() ? b.lane(inner.vectorOf(lanes, type), i) : lanes.value, address(index), size);
      }
    };
    turned.movedLevel = last;
    turned.movedStep = square;
    turned.emitLoops(
        [&](Nest &inner) {
          Value first = inner.indices[last];
          SmallVector<Value> vectors;
          for (int64_t i = 0; i < square; ++i) {
            inner.moveIndex(first, i);
            Lanes lanes = converted(inner, value);
            if (inner.width != square)
              storeOneByOne(inner, lanes);
            else
              vectors.push_back(inner.vectorOf(lanes, type));
          }
          inner.moveIndex(first, 0);
          if (inner.width != square)
            return;
          transpose(vectors);
          for (auto [i, vector] : llvm::enumerate(vectors)) {
            SmallVector<Value> index(inner.indices);
            index[last - 1] = b.add(index[last - 1], b.index(i));
            b.store(vector, address(index), size);
          }
        },
        value, square);
    if (int64_t rest = nest.shape[last] % square) {
      Nest remaining(lowering, nest.shape);
      remaining.lane = turned.lane;
      remaining.order.assign(turned.order.begin(), turned.order.end());
      int64_t from = nest.shape[last] - rest;
      remaining.shape[last] = rest;
      remaining.movedLevel = last;
      remaining.emitLoops(
          [&](Nest &inner) {
            Value index = inner.indices[last];
            inner.moveIndex(index, from);
            storeOneByOne(inner, converted(inner, value));
            inner.moveIndex(index, 0);
          },
          value, square);
    }
  }

  // Turns as many vectors of as many lanes: exchanges, for each bit, the elements whose row and lane differ in that bit.
  void transpose(SmallVectorImpl<Value> &vectors) {
    int64_t count = vectors.size();
    for (int64_t bit = 1; bit < count; bit *= 2)
      for (int64_t row = 0; row < count; ++row) {
        if (row & bit)
          continue;
        SmallVector<int64_t> low, high;
        for (int64_t i = 0; i < count; ++i) {
          low.push_back(i & bit ? count + i - bit : i);
          high.push_back(i & bit ? count + i : i + bit);
        }
        Value upper = vectors[row], lower = vectors[row | bit];
        vectors[row] = vector::ShuffleOp::create(b, upper, lower, low);
        vectors[row | bit] = vector::ShuffleOp::create(b, upper, lower, high);
      }
  }

  Lanes converted(Nest &nest, Value value) {
    Type from = getElementTypeOrSelf(value.getType());
    Lanes lanes = nest.evaluate(value, nest.identity(nest.shape.size()));
    if (from == type)
      return lanes;
    if (lanes.isUniform())
      return Lanes::uniform(toComputeType(b, lanes.value, from, type));
    return Lanes::varying(toComputeType(b, nest.vectorOf(lanes, from), from, type));
  }

  void emitPanel(Value a, Value panel, Value c, ArrayRef<Piece> pieces) {
    int64_t whole = shape.m / shape.rows;
    loop(whole, [&](Value block) {
      emitBlock(advance(a, block, shape.rows * shape.k), panel, advance(c, block, shape.rows * shape.n), pieces, shape.rows);
    });
    if (int64_t rest = shape.m % shape.rows)
      emitBlock(advance(a, b.index(whole), shape.rows * shape.k), panel, advance(c, b.index(whole), shape.rows * shape.n),
                pieces, rest);
  }

  void emitBlock(Value a, Value panel, Value c, ArrayRef<Piece> pieces, int64_t rows) {
    auto vectorType = [&](const Piece &piece) -> Type { return piece.width > 1 ? Type(b.vectorType(type, piece.width)) : type; };
    auto cell = [&](int64_t row, const Piece &piece) { return b.offsetBytes(c, b.index((row * shape.n + piece.offset) * size)); };
    SmallVector<Value> sums;
    for (int64_t row = 0; row < rows; ++row)
      for (const Piece &piece : pieces)
        sums.push_back(b.load(vectorType(piece), cell(row, piece), size));
    auto walk = scf::ForOp::create(b, b.index(0), b.index(shape.k), b.index(1), sums);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(walk.getBody());
      Value k = walk.getInductionVar();
      Value row = advance(panel, k, shape.panel), column = advance(a, k, 1);
      SmallVector<Value> loaded, next;
      for (const Piece &piece : pieces)
        loaded.push_back(b.load(vectorType(piece), b.offsetBytes(row, b.index(piece.offset * size)), size));
      for (int64_t i = 0; i < rows; ++i) {
        Value element = b.load(type, b.offsetBytes(column, b.index(i * shape.k * size)), size);
        for (auto [j, piece] : llvm::enumerate(pieces)) {
          Value spread = piece.width > 1 ? b.splat(element, piece.width) : element;
          next.push_back(multiplyAdd(b, spread, loaded[j], walk.getRegionIterArgs()[i * pieces.size() + j]));
        }
      }
      scf::YieldOp::create(b, next);
    }
    for (int64_t row = 0; row < rows; ++row)
      for (auto [j, piece] : llvm::enumerate(pieces))
        b.store(walk.getResult(row * pieces.size() + j), cell(row, piece), size);
  }

  Lowering &lowering;
  Emit &b;
  tile::DotOp op;
  DotShape shape;
  Type type;
  int64_t size;
};

} // namespace

void Lowering::lowerDot(Operation *operation) {
  auto op = cast<tile::DotOp>(operation);
  Block *owner = op->getBlock();
  ArrayRef<int64_t> a = tile::shapeOf(op.getA().getType()), c = tile::shapeOf(op.getType());
  bool batched = c.size() == 3;
  Type element = getElementTypeOrSelf(op.getType()), type = computeType(element);
  DotShape shape{batched ? c[0] : 1, c[c.size() - 2], c.back(), a.back(), target.vectorBytes / byteSize(type), 0, 0};
  bool many = target.registers >= 32;
  shape.panel = shape.lanes * (many ? 4 : 2);
  shape.rows = many ? 4 : 6;
  while (shape.panel / 2 >= shape.n && shape.panel > 1)
    shape.panel /= 2;

  // The result: in place over a carried accumulator, or a buffer of its own that starts as the accumulator.
  Buffer sums;
  bool direct = element == type;
  std::optional<Buffer> inPlace = direct ? destinationInPlace(op.getResult(), operation) : std::nullopt;
  sums = inPlace ? *inPlace : allocate(type, c, owner);
  const Buffer *accumulator = buffer(op.getAccumulator());
  if (!accumulator || accumulator->pointer != sums.pointer) {
    Nest nest(*this, c);
    nest.emitLoops(
        [&](Nest &inner) {
          Coordinates coordinates = inner.identity(inner.shape.size());
          Lanes lanes = inner.evaluate(op.getAccumulator(), coordinates);
          if (!direct)
            lanes = lanes.isUniform() ? Lanes::uniform(toComputeType(b, lanes.value, element, type))
                                      : Lanes::varying(toComputeType(b, inner.vectorOf(lanes, element), element, type));
          inner.writeBuffer(sums, lanes, coordinates);
        },
        ArrayRef<Value>{op.getAccumulator()});
  }
  DotLowering dot(*this, op, shape, type);
  Value packedA = dot.packA();
  Value packedB = dot.packB();
  dot.multiply(packedA, packedB, sums.pointer);
  if (direct) {
    buffers[op.getResult()] = sums;
    return;
  }
  Buffer rounded = allocate(op.getType(), owner);
  Nest nest(*this, c);
  nest.emitLoops(
      [&](Nest &inner) {
        Coordinates coordinates = inner.identity(inner.shape.size());
        Lanes lanes = inner.readBuffer(sums, coordinates);
        Value value = convertFloat(b, lanes.value, type, element, tile::Rounding::NearestEven);
        inner.writeBuffer(rounded, inner.width > 1 ? Lanes::varying(value) : Lanes::uniform(value), coordinates);
      },
      {});
  buffers[op.getResult()] = rounded;
}
