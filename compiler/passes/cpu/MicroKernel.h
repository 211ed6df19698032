// The loops of one cpu.micro_kernel.
//
// A register block, a few rows of the result by one panel of columns, stays in vector registers while the kernel walks
// along k: one vector load for each vector of B, one broadcast for each element of A, and a multiply-add for each pair
// of them. Where the machine multiplies pairs of bf16, an element of A is a pair along k, and B's panels hold the two
// rows of a pair interleaved; quads of int8 likewise. Tile registers (AMX) take the place of the vector registers where
// there are any.
#pragma once

#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/Emit.h"

namespace nacre::cpu {

class MicroKernel {
public:
  MicroKernel(Emit &b, MicroKernelOp op);
  // Emits the loops at the builder's place.
  void emit();

private:
  // Where a row of A begins: `base` plus a fixed stride, or the address `table` lists for it.
  struct Rows {
    mlir::Value base;
    mlir::Value table;
    mlir::Value ahead; // bytes from a row to the one the next iteration will want, when known
  };
  // The operands of one of the products that are summed. `panels` begins with the batch and the panel at hand.
  struct Product {
    Rows rows;
    mlir::Value panels;
  };

  // MicroKernel.cpp
  void multiply(mlir::Value c);
  struct Piece {
    int64_t offset, width;
  }; // some columns of a panel, as one vector
  static llvm::SmallVector<Piece> piecesOf(int64_t columns, int64_t lanes);
  void emitPanel(llvm::ArrayRef<Product> ofPanel, mlir::Value c, llvm::ArrayRef<Piece> pieces);
  void emitBlock(llvm::ArrayRef<Product> ofPanel, mlir::Value firstRow, mlir::Value c, llvm::ArrayRef<Piece> pieces,
                 llvm::ArrayRef<mlir::Value> excess, int64_t rows);
  llvm::SmallVector<mlir::Value> excessOf(llvm::ArrayRef<Product> ofPanel, llvm::ArrayRef<Piece> pieces);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum, int64_t width);

  // MicroKernelTiles.cpp
  struct StridedRows {
    mlir::Value base, stride; // bytes from row to row
  };
  StridedRows strided(const Rows &rows);
  void multiplyTiles(mlir::Value c);
  void emitTileBlock(llvm::ArrayRef<StridedRows> a, mlir::Value firstRow, llvm::ArrayRef<mlir::Value> panels,
                     mlir::Value c, int64_t rows, int64_t columns);
  void tileInstruction(llvm::StringRef name, llvm::ArrayRef<int64_t> registers, llvm::ArrayRef<mlir::Value> operands);

  Emit &b;
  MicroKernelOp op;
  BlockingAttr blocking;
  llvm::SmallVector<Product> products;
  llvm::SmallVector<mlir::Value> scratch; // released at the end
  const int64_t batch, m, n, k, panel;
  const int64_t size, sumSize; // bytes of an operand's element and of a sum
};

} // namespace nacre::cpu
