// The register-blocked kernel on vectors. See MicroKernel.h.
#include "compiler/passes/cpu/MicroKernel.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

MicroKernel::MicroKernel(Emit &b, MicroKernelOp op)
    : b(b), op(op), blocking(op.getBlocking()), batch(blocking.getBatch()), m(blocking.getM()), n(blocking.getN()),
      k(blocking.getK()), panel(blocking.getPanel()), size(byteSize(blocking.getOperand())),
      sumSize(byteSize(blocking.getSum())) {
  OperandRange::iterator ahead = op.getAhead().begin();
  for (auto [rows, isTable, panels] : llvm::zip_equal(op.getRows(), op.getTables(), op.getPanels())) {
    Rows of;
    (isTable ? of.table : of.base) = rows;
    if (isTable && !op.getAhead().empty())
      of.ahead = *ahead++;
    products.push_back({of, panels});
  }
}

void MicroKernel::emit() {
  if (blocking.getEngine() == Engine::Tiles)
    multiplyTiles(op.getSums());
  else
    multiply(op.getSums());
}

SmallVector<MicroKernel::Piece> MicroKernel::piecesOf(int64_t columns, int64_t lanes) {
  SmallVector<Piece> pieces;
  int64_t offset = 0;
  for (int64_t width = lanes; width >= 1; width /= 2)
    while (columns - offset >= width) {
      pieces.push_back({offset, width});
      offset += width;
    }
  return pieces;
}

void MicroKernel::multiply(Value c) {
  int64_t panelBytes = k * panel * size;
  b.loop(batch, [&](Value index) {
    SmallVector<Product> ofBatch(products);
    for (Product &product : ofBatch) {
      if (product.rows.base)
        product.rows.base = b.advance(product.rows.base, index, m * k * size);
      product.panels = b.advance(product.panels, index, blocking.panelCount() * panelBytes);
    }
    Value cBatch = b.advance(c, index, m * n * sumSize);
    auto emit = [&](Value number, int64_t columns) {
      SmallVector<Product> ofPanel(ofBatch);
      for (Product &product : ofPanel)
        product.panels = b.advance(product.panels, number, panelBytes);
      emitPanel(ofPanel, b.advance(cBatch, number, panel * sumSize), piecesOf(columns, blocking.getLanes()));
    };
    int64_t whole = n / panel;
    b.loop(whole, [&](Value number) { emit(number, panel); });
    if (int64_t rest = n % panel)
      emit(b.index(whole), rest);
  });
}

void MicroKernel::emitPanel(ArrayRef<Product> ofPanel, Value c, ArrayRef<Piece> pieces) {
  int64_t rows = blocking.getRows(), whole = m / rows, rowBytes = n * sumSize;
  SmallVector<Value> excess = excessOf(ofPanel, pieces);
  b.loop(whole, [&](Value block) {
    emitBlock(ofPanel, b.mul(block, b.index(rows)), b.advance(c, block, rows * rowBytes), pieces, excess, rows);
  });
  if (int64_t rest = m % rows)
    emitBlock(ofPanel, b.index(whole * rows), b.advance(c, b.index(whole), rows * rowBytes), pieces, excess, rest);
}

// What the sums of a panel are too large by: rows of quads hold 128 more than A's elements, so each sum has 128 times
// the column's sum of B too much. Nothing for other engines.
SmallVector<Value> MicroKernel::excessOf(ArrayRef<Product> ofPanel, ArrayRef<Piece> pieces) {
  SmallVector<Value> sums;
  if (blocking.getEngine() != Engine::Quads)
    return sums;
  Type i32 = b.getI32Type();
  for (const Piece &piece : pieces)
    sums.push_back(b.zero(b.vectorType(i32, piece.width)));
  for (const Product &product : ofPanel) {
    auto walk = scf::ForOp::create(b, b.index(0), b.index(k / 4), b.index(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(walk.getBody());
    SmallVector<Value> running(walk.getRegionIterArgs());
    Value row = b.advance(product.panels, walk.getInductionVar(), panel * 4);
    for (auto [sum, piece] : llvm::zip_equal(running, pieces)) {
      Type type = b.vectorType(i32, piece.width);
      Value columns = b.load(type, b.offsetBytes(row, b.index(piece.offset * 4)), size);
      sum = multiplyAdd(b.constant(type, 0x80808080), columns, sum, piece.width);
    }
    scf::YieldOp::create(b, running);
    sums.assign(walk.getResults().begin(), walk.getResults().end());
  }
  return sums;
}

Value MicroKernel::multiplyAdd(Value x, Value y, Value sum, int64_t width) {
  if (blocking.getGroup() > 1) {
    bool quads = blocking.getEngine() == Engine::Quads;
    Type operand = quads ? b.vectorType(b.getI8Type(), 4 * width) : b.vectorType(b.getBF16Type(), 2 * width);
    auto name = b.getStringAttr((quads ? "llvm.x86.avx512.vpdpbusd." : "llvm.x86.avx512bf16.dpbf16ps.") +
                                std::to_string(32 * width));
    return LLVM::CallIntrinsicOp::create(
               b, sum.getType(), name,
               ValueRange{sum, LLVM::BitcastOp::create(b, operand, x), LLVM::BitcastOp::create(b, operand, y)})
        .getResult(0);
  }
  if (isa<FloatType>(blocking.getSum()))
    return math::FmaOp::create(b, x, y, sum);
  return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), sum);
}

void MicroKernel::emitBlock(ArrayRef<Product> ofPanel, Value firstRow, Value c, ArrayRef<Piece> pieces,
                            ArrayRef<Value> excess, int64_t rows) {
  Type type = blocking.getSum();
  int64_t group = blocking.getGroup();
  // What a step along k reads of a row and of a column: an element, or a group as one integer.
  Type unit = group > 1 ? Type(b.getI32Type()) : type;
  int64_t unitSize = group > 1 ? 4 : size, steps = k / group;
  assert((group == 1 || group * size == unitSize) && "groups have 32 bits");
  auto shaped = [&](Type element, const Piece &piece) -> Type {
    return piece.width > 1 ? Type(b.vectorType(element, piece.width)) : element;
  };
  auto cell = [&](int64_t row, const Piece &piece) {
    return b.offsetBytes(c, b.index((row * n + piece.offset) * sumSize));
  };
  SmallVector<Value> sums;
  for (int64_t row = 0; row < rows; ++row)
    for (const Piece &piece : pieces)
      sums.push_back(op.getFromZero() ? b.zero(shaped(type, piece))
                                      : b.load(shaped(type, piece), cell(row, piece), sumSize));
  for (auto [i, value] : llvm::enumerate(excess))
    for (int64_t row = 0; row < rows; ++row) {
      Value &sum = sums[row * pieces.size() + i];
      sum = arith::SubIOp::create(b, sum, value);
    }

  for (const Product &product : ofPanel) {
    const Rows &a = product.rows;
    SmallVector<Value> rowStarts;
    for (int64_t row = 0; row < rows; ++row) {
      Value index = b.add(firstRow, b.index(row));
      rowStarts.push_back(a.table ? b.load(b.pointerType(), b.advance(a.table, index, 8), 8)
                                  : b.advance(a.base, index, k * size));
    }
    if (a.ahead)
      for (Value start : rowStarts)
        for (int64_t offset = 0; offset < std::min<int64_t>(k * size, 512); offset += 64)
          LLVM::Prefetch::create(b, b.offsetBytes(b.offsetBytes(start, a.ahead), b.index(offset)), /*rw=*/0,
                                 /*hint=*/2, /*cache=*/1);
    // Several steps at a time: a short loop of fixed length would be mispredicted once a block.
    int64_t unroll = steps % 4 == 0 ? 4 : steps % 2 == 0 ? 2 : 1;
    auto walk = scf::ForOp::create(b, b.index(0), b.index(steps), b.index(unroll), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(walk.getBody());
    SmallVector<Value> running(walk.getRegionIterArgs());
    for (int64_t step = 0; step < unroll; ++step) {
      Value along = b.add(walk.getInductionVar(), b.index(step));
      Value row = b.advance(product.panels, along, panel * unitSize);
      SmallVector<Value> loaded;
      for (const Piece &piece : pieces)
        loaded.push_back(b.load(shaped(unit, piece), b.offsetBytes(row, b.index(piece.offset * unitSize)), size));
      for (int64_t i = 0; i < rows; ++i) {
        Value element = b.load(unit, b.advance(rowStarts[i], along, unitSize), size);
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
