// The register-blocked kernel of a dot. See DotLowering.h.
#include "compiler/passes/cpu/DotLowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

DotLowering::DotLowering(Lowering &lowering, tile::DotOp op) : lowering(lowering), b(lowering.b), op(op) {
  ArrayRef<int64_t> a = tile::shapeOf(op.getA().getType()), c = tile::shapeOf(op.getType());
  Type element = getElementTypeOrSelf(op.getType());
  bool isSmall = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  type = isSmall ? Type(Float32Type::get(op.getContext())) : element;
  shape.batch = c.size() == 3 ? c[0] : 1;
  shape.m = c[c.size() - 2];
  shape.n = c.back();
  shape.k = a.back();
  shape.lanes = lowering.target.vectorBytes / byteSize(type);
  bool many = lowering.target.registers >= 32;
  shape.panel = shape.lanes * (many ? 4 : 2);
  shape.rows = many ? 4 : 6;
  while (shape.panel / 2 >= shape.n && shape.panel > 1)
    shape.panel /= 2;
  // Pairs need whole ones along k, and columns that the instruction's vectors cover.
  pairs = lowering.target.bf16Dot && type.isF32() && getElementTypeOrSelf(op.getA().getType()).isBF16() &&
          getElementTypeOrSelf(op.getB().getType()).isBF16() && shape.k % 2 == 0 && shape.n % 4 == 0;
  operandType = pairs ? getElementTypeOrSelf(op.getA().getType()) : type;
  size = byteSize(operandType);
}

void DotLowering::run(ArrayRef<tile::DotOp> earlier, const Buffer &sums, bool startsFromZero) {
  fromZero = startsFromZero;
  SmallVector<Product> products;
  for (tile::DotOp dot : earlier)
    products.push_back(DotLowering(lowering, dot).prepare());
  products.push_back(prepare());
  if (fitsTileRegisters())
    multiplyTiles(products, sums.pointer);
  else
    multiply(products, sums.pointer);
}

Value DotLowering::advance(Value pointer, Value index, int64_t bytes) {
  return b.offsetBytes(pointer, b.mul(index, b.index(bytes)));
}

void DotLowering::loop(int64_t count, llvm::function_ref<void(Value)> body) {
  if (count == 0)
    return;
  if (count == 1)
    return body(b.index(0));
  auto loop = scf::ForOp::create(b, b.index(0), b.index(count), b.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

SmallVector<DotLowering::Piece> DotLowering::piecesOf(int64_t columns, int64_t lanes) {
  SmallVector<Piece> pieces;
  int64_t offset = 0;
  for (int64_t width = lanes; width >= 1; width /= 2)
    while (columns - offset >= width) {
      pieces.push_back({offset, width});
      offset += width;
    }
  return pieces;
}

void DotLowering::multiply(ArrayRef<Product> products, Value c) {
  int64_t sumSize = byteSize(type), panelBytes = shape.k * shape.panel * size;
  loop(shape.batch, [&](Value batch) {
    SmallVector<Product> ofBatch(products);
    for (Product &product : ofBatch) {
      if (product.a.base)
        product.a.base = advance(product.a.base, batch, shape.m * shape.k * size);
      product.panels = advance(product.panels, batch, panelCount() * panelBytes);
    }
    Value cBatch = advance(c, batch, shape.m * shape.n * sumSize);
    auto emit = [&](Value panel, int64_t columns) {
      SmallVector<Product> ofPanel(ofBatch);
      for (Product &product : ofPanel)
        product.panels = advance(product.panels, panel, panelBytes);
      emitPanel(ofPanel, advance(cBatch, panel, shape.panel * sumSize), piecesOf(columns, shape.lanes));
    };
    int64_t whole = shape.n / shape.panel;
    loop(whole, [&](Value panel) { emit(panel, shape.panel); });
    if (int64_t rest = shape.n % shape.panel)
      emit(b.index(whole), rest);
  });
}

void DotLowering::emitPanel(ArrayRef<Product> products, Value c, ArrayRef<Piece> pieces) {
  int64_t whole = shape.m / shape.rows, rowBytes = shape.n * byteSize(type);
  loop(whole, [&](Value block) {
    emitBlock(products, b.mul(block, b.index(shape.rows)), advance(c, block, shape.rows * rowBytes), pieces,
              shape.rows);
  });
  if (int64_t rest = shape.m % shape.rows)
    emitBlock(products, b.index(whole * shape.rows), advance(c, b.index(whole), shape.rows * rowBytes), pieces, rest);
}

Value DotLowering::multiplyAdd(Value x, Value y, Value sum, int64_t width) {
  if (pairs) {
    Type operand = b.vectorType(b.getBF16Type(), 2 * width);
    auto name = b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps." + std::to_string(32 * width));
    return LLVM::CallIntrinsicOp::create(
               b, sum.getType(), name,
               ValueRange{sum, LLVM::BitcastOp::create(b, operand, x), LLVM::BitcastOp::create(b, operand, y)})
        .getResult(0);
  }
  if (isa<FloatType>(type))
    return math::FmaOp::create(b, x, y, sum);
  return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), sum);
}

void DotLowering::emitBlock(ArrayRef<Product> products, Value firstRow, Value c, ArrayRef<Piece> pieces, int64_t rows) {
  int64_t sumSize = byteSize(type);
  // What a step along k reads of a row and of a column: an element, or a pair as one integer.
  Type unit = pairs ? Type(b.getI32Type()) : type;
  int64_t unitSize = pairs ? 4 : size, steps = pairs ? shape.k / 2 : shape.k;
  auto shaped = [&](Type element, const Piece &piece) -> Type {
    return piece.width > 1 ? Type(b.vectorType(element, piece.width)) : element;
  };
  auto cell = [&](int64_t row, const Piece &piece) {
    return b.offsetBytes(c, b.index((row * shape.n + piece.offset) * sumSize));
  };
  SmallVector<Value> sums;
  for (int64_t row = 0; row < rows; ++row)
    for (const Piece &piece : pieces)
      sums.push_back(fromZero ? b.zero(shaped(type, piece)) : b.load(shaped(type, piece), cell(row, piece), sumSize));

  for (const Product &product : products) {
    const OperandA &a = product.a;
    SmallVector<Value> rowStarts;
    for (int64_t row = 0; row < rows; ++row) {
      Value index = b.add(firstRow, b.index(row));
      rowStarts.push_back(a.rows ? b.load(b.pointerType(), advance(a.rows, index, 8), 8)
                                 : advance(a.base, index, shape.k * size));
    }
    if (a.ahead)
      for (Value start : rowStarts)
        for (int64_t offset = 0; offset < std::min<int64_t>(shape.k * size, 512); offset += 64)
          LLVM::Prefetch::create(b, b.offsetBytes(b.offsetBytes(start, a.ahead), b.index(offset)), /*rw=*/0,
                                 /*hint=*/2, /*cache=*/1);
    // Several steps at a time: a short loop of fixed length would be mispredicted once a block.
    int64_t unroll = steps % 4 == 0 ? 4 : steps % 2 == 0 ? 2 : 1;
    auto walk = scf::ForOp::create(b, b.index(0), b.index(steps), b.index(unroll), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(walk.getBody());
    SmallVector<Value> running(walk.getRegionIterArgs());
    for (int64_t step = 0; step < unroll; ++step) {
      Value k = b.add(walk.getInductionVar(), b.index(step));
      Value row = advance(product.panels, k, shape.panel * unitSize);
      SmallVector<Value> loaded;
      for (const Piece &piece : pieces)
        loaded.push_back(b.load(shaped(unit, piece), b.offsetBytes(row, b.index(piece.offset * unitSize)), size));
      for (int64_t i = 0; i < rows; ++i) {
        Value element = b.load(unit, advance(rowStarts[i], k, unitSize), size);
        for (auto [j, piece] : llvm::enumerate(pieces)) {
          Value spread = piece.width > 1 ? b.splat(element, piece.width) : element;
          Value &sum = running[i * pieces.size() + j];
          sum = multiplyAdd(spread, loaded[j], sum, piece.width);
        }
      }
    }
    scf::YieldOp::create(b, running);
    sums.assign(walk.getResults().begin(), walk.getResults().end());
  }
  for (int64_t row = 0; row < rows; ++row)
    for (auto [j, piece] : llvm::enumerate(pieces))
      b.store(sums[row * pieces.size() + j], cell(row, piece), sumSize);
}
