// The kernel of products of bf16 on tile registers (AMX). See MicroKernel.h.
//
// A tile register holds 16 rows of 64 bytes. Four of the eight are a block of the result, 32 x 32 sums of f32; the
// others hold 32 rows of A and 32 columns of B at 32 consecutive k. B's panels hold pairs along k side by side, as the
// instruction wants them. The registers are named outright: each kernel configures them, uses them and releases them.
#include "compiler/passes/cpu/MicroKernel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static constexpr int64_t tileRows = 16, tileBytes = 64, tileDepth = tileBytes / 2, blockTiles = 2;

void MicroKernel::tileInstruction(StringRef name, ArrayRef<int64_t> registers, ArrayRef<Value> operands) {
  SmallVector<Value> all;
  for (int64_t number : registers)
    all.push_back(LLVM::ConstantOp::create(b, b.getI8Type(), number));
  all.append(operands.begin(), operands.end());
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86." + name), all);
}

// Rows of a fixed stride: A where it lies when its rows turn out to be so, else a copy.
MicroKernel::StridedRows MicroKernel::strided(const Rows &rows) {
  Value rowBytes = b.index(k * size);
  if (!rows.table)
    return {rows.base, rowBytes};
  auto address = [&](Value row) {
    return LLVM::PtrToIntOp::create(b, b.getI64Type(), b.load(b.pointerType(), b.advance(rows.table, row, 8), 8));
  };
  Value first = address(b.index(0)), stride = b.sub(address(b.index(1)), first);
  // Every row is where the stride says: the differences, gathered by `or`, are nothing.
  auto check = scf::ForOp::create(b, b.index(2), b.index(m), b.index(1), ValueRange{b.index(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(check.getBody());
    Value row = check.getInductionVar();
    Value difference = b.sub(address(row), b.add(first, b.mul(row, stride)));
    scf::YieldOp::create(b, ValueRange{arith::OrIOp::create(b, check.getRegionIterArg(0), difference)});
  }
  Value regular = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, check.getResult(0), b.index(0));
  Value copy = scratch.emplace_back(ScratchOp::create(b, m * k * size));
  auto choose = scf::IfOp::create(b, TypeRange{b.pointerType(), b.getI64Type()}, regular, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choose.thenBlock());
  scf::YieldOp::create(b, ValueRange{b.load(b.pointerType(), rows.table, 8), stride});
  b.setInsertionPointToStart(choose.elseBlock());
  b.loop(m, [&](Value row) {
    LLVM::MemcpyOp::create(b, b.advance(copy, row, k * size), b.load(b.pointerType(), b.advance(rows.table, row, 8), 8),
                           rowBytes, /*isVolatile=*/false);
  });
  scf::YieldOp::create(b, ValueRange{copy, rowBytes});
  return {choose.getResult(0), choose.getResult(1)};
}

// `rows` by `columns` tiles of the result at `c`; `panels` begin at the first of the columns.
void MicroKernel::emitTileBlock(ArrayRef<StridedRows> a, Value firstRow, ArrayRef<Value> panels, Value c, int64_t rows,
                                int64_t columns) {
  int64_t sums = rows * columns;
  Value sumStride = b.index(n * sumSize), panelStride = b.index(panel * 2 * size);
  auto sumPlace = [&](int64_t row, int64_t column) {
    return b.offsetBytes(c, b.index((row * tileRows * n + column * tileRows) * sumSize));
  };
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      if (op.getFromZero())
        tileInstruction("tilezero", {row * columns + column}, {});
      else
        tileInstruction("tileloadd64", {row * columns + column}, {sumPlace(row, column), sumStride});
    }
  for (auto [operand, start] : llvm::zip(a, panels)) {
    Value aStart = b.offsetBytes(operand.base, b.mul(firstRow, operand.stride));
    auto walk = scf::ForOp::create(b, b.index(0), b.index(k), b.index(tileDepth));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(walk.getBody());
    Value along = walk.getInductionVar();
    Value bRow = b.advance(start, along, panel * size);
    for (int64_t column = 0; column < columns; ++column)
      tileInstruction("tileloadd64", {sums + rows + column},
                      {b.offsetBytes(bRow, b.index(column * tileBytes)), panelStride});
    for (int64_t row = 0; row < rows; ++row) {
      Value place = b.offsetBytes(b.advance(aStart, along, size), b.mul(b.index(row * tileRows), operand.stride));
      tileInstruction("tileloadd64", {sums + row}, {place, operand.stride});
      for (int64_t column = 0; column < columns; ++column)
        tileInstruction("tdpbf16ps", {row * columns + column, sums + row, sums + rows + column}, {});
    }
  }
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      tileInstruction("tilestored64", {row * columns + column}, {sumPlace(row, column), sumStride});
}

void MicroKernel::multiplyTiles(Value c) {
  SmallVector<StridedRows> operands;
  for (const Product &product : products)
    operands.push_back(strided(product.rows));
  // Palette 1, then for each of the eight registers the bytes of a row (16 bits, from byte 16 on) and the rows (8 bits,
  // from byte 48 on).
  Value configuration = scratch.emplace_back(ScratchOp::create(b, 64));
  auto setWord = [&](int64_t word, int64_t value) {
    b.store(b.index(value), b.offsetBytes(configuration, b.index(8 * word)), 8);
  };
  constexpr int64_t fourWidths = tileBytes * 0x0001000100010001, eightHeights = tileRows * 0x0101010101010101;
  const int64_t words[8] = {1, 0, fourWidths, fourWidths, 0, 0, eightHeights, 0};
  for (auto [word, value] : llvm::enumerate(words))
    setWord(word, value);
  tileInstruction("ldtilecfg", {}, {configuration});

  int64_t panelBytes = k * panel * size, block = blockTiles * tileRows;
  // Runs `body` on every block of up to `blockTiles` tiles along an extent.
  auto forBlocks = [&](int64_t extent, llvm::function_ref<void(Value first, int64_t tiles)> body) {
    b.loop(extent / block, [&](Value index) { body(b.mul(index, b.index(block)), blockTiles); });
    if (int64_t rest = extent % block / tileRows)
      body(b.index(extent / block * block), rest);
  };
  b.loop(batch, [&](Value index) {
    SmallVector<StridedRows> a(operands);
    SmallVector<Value> panels;
    for (auto [operand, product] : llvm::zip(a, products)) {
      operand.base = b.advance(operand.base, index, m * k * size);
      panels.push_back(b.advance(product.panels, index, blocking.panelCount() * panelBytes));
    }
    Value cBatch = b.advance(c, index, m * n * sumSize);
    forBlocks(n, [&](Value column, int64_t columns) {
      Value number = arith::ShRUIOp::create(b, column, b.index(llvm::Log2_64(panel)));
      Value inPanel = arith::AndIOp::create(b, column, b.index(panel - 1));
      SmallVector<Value> starts;
      for (Value start : panels)
        starts.push_back(b.offsetBytes(b.advance(start, number, panelBytes), b.mul(inPanel, b.index(2 * size))));
      forBlocks(m, [&](Value row, int64_t rows) {
        Value place =
            b.offsetBytes(b.offsetBytes(cBatch, b.mul(row, b.index(n * sumSize))), b.mul(column, b.index(sumSize)));
        emitTileBlock(a, row, starts, place, rows, columns);
      });
    });
  });
  tileInstruction("tilerelease", {}, {});
  for (Value memory : scratch)
    ReleaseOp::create(b, memory);
}
