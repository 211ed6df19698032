// The kernel of a dot of bf16 on tile registers (AMX). See DotLowering.h.
//
// A tile register holds 16 rows of 64 bytes. Four of the eight are a block of the result, 32 x 32 sums of f32; the
// others hold 32 rows of A and 32 columns of B at 32 consecutive k. B's panels hold pairs along k side by side, as the
// instruction wants them. The registers are named outright: each dot configures them, uses them and releases them.
#include "compiler/passes/cpu/DotLowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static constexpr int64_t tileRows = 16, tileBytes = 64, tileDepth = tileBytes / 2, blockTiles = 2;

bool DotLowering::fitsTileRegisters() const {
  return pairs && lowering.target.bf16Tiles && shape.m % tileRows == 0 && shape.n % tileRows == 0 &&
         shape.k % tileDepth == 0;
}

void DotLowering::tileInstruction(StringRef name, ArrayRef<int64_t> registers, ArrayRef<Value> operands) {
  SmallVector<Value> all;
  for (int64_t number : registers)
    all.push_back(LLVM::ConstantOp::create(b, b.getI8Type(), number));
  all.append(operands.begin(), operands.end());
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86." + name), all);
}

// Rows of a fixed stride: A where it lies when its rows turn out to be so, else a copy.
DotLowering::StridedA DotLowering::strided(const OperandA &a) {
  Value rowBytes = b.index(shape.k * size);
  if (!a.rows)
    return {a.base, rowBytes};
  auto address = [&](Value row) {
    return LLVM::PtrToIntOp::create(b, b.getI64Type(), b.load(b.pointerType(), advance(a.rows, row, 8), 8));
  };
  Value first = address(b.index(0)), stride = b.sub(address(b.index(1)), first);
  // Every row is where the stride says: the differences, gathered by `or`, are nothing.
  auto check = scf::ForOp::create(b, b.index(2), b.index(shape.m), b.index(1), ValueRange{b.index(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(check.getBody());
    Value row = check.getInductionVar();
    Value difference = b.sub(address(row), b.add(first, b.mul(row, stride)));
    scf::YieldOp::create(b, ValueRange{arith::OrIOp::create(b, check.getRegionIterArg(0), difference)});
  }
  Value regular = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, check.getResult(0), b.index(0));
  Buffer copy = lowering.allocate(operandType, {shape.m, shape.k}, op->getBlock());
  auto choose = scf::IfOp::create(b, TypeRange{b.pointerType(), b.getI64Type()}, regular, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choose.thenBlock());
  scf::YieldOp::create(b, ValueRange{b.load(b.pointerType(), a.rows, 8), stride});
  b.setInsertionPointToStart(choose.elseBlock());
  loop(shape.m, [&](Value row) {
    LLVM::MemcpyOp::create(b, advance(copy.pointer, row, shape.k * size),
                           b.load(b.pointerType(), advance(a.rows, row, 8), 8), rowBytes, /*isVolatile=*/false);
  });
  scf::YieldOp::create(b, ValueRange{copy.pointer, rowBytes});
  return {choose.getResult(0), choose.getResult(1)};
}

// `rows` by `columns` tiles of the result at `c`; `panels` begin at the first of the columns.
void DotLowering::emitTileBlock(ArrayRef<StridedA> a, Value firstRow, ArrayRef<Value> panels, Value c, int64_t rows,
                                int64_t columns) {
  int64_t sumSize = byteSize(type), sums = rows * columns;
  Value sumStride = b.index(shape.n * sumSize), panelStride = b.index(shape.panel * 2 * size);
  auto sumPlace = [&](int64_t row, int64_t column) {
    return b.offsetBytes(c, b.index((row * tileRows * shape.n + column * tileRows) * sumSize));
  };
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      if (fromZero)
        tileInstruction("tilezero", {row * columns + column}, {});
      else
        tileInstruction("tileloadd64", {row * columns + column}, {sumPlace(row, column), sumStride});
    }
  for (auto [operand, panel] : llvm::zip(a, panels)) {
    Value aStart = b.offsetBytes(operand.base, b.mul(firstRow, operand.stride));
    auto walk = scf::ForOp::create(b, b.index(0), b.index(shape.k), b.index(tileDepth));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(walk.getBody());
    Value k = walk.getInductionVar();
    Value bRow = advance(panel, k, shape.panel * size);
    for (int64_t column = 0; column < columns; ++column)
      tileInstruction("tileloadd64", {sums + rows + column},
                      {b.offsetBytes(bRow, b.index(column * tileBytes)), panelStride});
    for (int64_t row = 0; row < rows; ++row) {
      Value place = b.offsetBytes(advance(aStart, k, size), b.mul(b.index(row * tileRows), operand.stride));
      tileInstruction("tileloadd64", {sums + row}, {place, operand.stride});
      for (int64_t column = 0; column < columns; ++column)
        tileInstruction("tdpbf16ps", {row * columns + column, sums + row, sums + rows + column}, {});
    }
  }
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      tileInstruction("tilestored64", {row * columns + column}, {sumPlace(row, column), sumStride});
}

void DotLowering::multiplyTiles(ArrayRef<Product> products, Value c) {
  SmallVector<StridedA> operands;
  for (const Product &product : products)
    operands.push_back(strided(product.a));
  // Palette 1, then for each of the eight registers the bytes of a row (16 bits, from byte 16 on) and the rows (8 bits,
  // from byte 48 on).
  Buffer configuration = lowering.allocate(b.getI64Type(), {8}, op->getBlock());
  auto setWord = [&](int64_t word, int64_t value) {
    b.store(b.index(value), b.offsetBytes(configuration.pointer, b.index(8 * word)), 8);
  };
  constexpr int64_t fourWidths = tileBytes * 0x0001000100010001, eightHeights = tileRows * 0x0101010101010101;
  const int64_t words[8] = {1, 0, fourWidths, fourWidths, 0, 0, eightHeights, 0};
  for (auto [word, value] : llvm::enumerate(words))
    setWord(word, value);
  tileInstruction("ldtilecfg", {}, {configuration.pointer});

  int64_t sumSize = byteSize(type), panelBytes = shape.k * shape.panel * size, block = blockTiles * tileRows;
  // Runs `body` on every block of up to `blockTiles` tiles along an extent.
  auto forBlocks = [&](int64_t extent, llvm::function_ref<void(Value first, int64_t tiles)> body) {
    loop(extent / block, [&](Value index) { body(b.mul(index, b.index(block)), blockTiles); });
    if (int64_t rest = extent % block / tileRows)
      body(b.index(extent / block * block), rest);
  };
  loop(shape.batch, [&](Value batch) {
    SmallVector<StridedA> a(operands);
    SmallVector<Value> panels;
    for (auto [operand, product] : llvm::zip(a, products)) {
      operand.base = advance(operand.base, batch, shape.m * shape.k * size);
      panels.push_back(advance(product.panels, batch, panelCount() * panelBytes));
    }
    Value cBatch = advance(c, batch, shape.m * shape.n * sumSize);
    forBlocks(shape.n, [&](Value column, int64_t columns) {
      Value panel = arith::ShRUIOp::create(b, column, b.index(llvm::Log2_64(shape.panel)));
      Value inPanel = arith::AndIOp::create(b, column, b.index(shape.panel - 1));
      SmallVector<Value> starts;
      for (Value start : panels)
        starts.push_back(b.offsetBytes(advance(start, panel, panelBytes), b.mul(inPanel, b.index(2 * size))));
      forBlocks(shape.m, [&](Value row, int64_t rows) {
        Value place = b.offsetBytes(b.offsetBytes(cBatch, b.mul(row, b.index(shape.n * sumSize))),
                                    b.mul(column, b.index(sumSize)));
        emitTileBlock(a, row, starts, place, rows, columns);
      });
    });
  });
  tileInstruction("tilerelease", {}, {});
}
