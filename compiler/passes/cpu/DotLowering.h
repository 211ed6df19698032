// One dot: how it is cut, its operands in memory, and the register-blocked kernel over them.
//
// B is packed in panels of as many columns as the kernel's accumulators span. A is read where it lies when its rows are
// contiguous, complete and of the type that is computed in; else it is packed row-major. The kernel keeps a block of
// the result, a few rows by one panel, in vector registers while it walks along k: one vector load per B vector, one
// broadcast per A element, and a multiply-add for each pair of them. The result accumulates in memory, in place when a
// loop carries it.
//
// Where the machine multiplies pairs of bf16, both operands stay bf16: an A element is then a pair along k, and B's
// panels hold the two rows of a pair interleaved. Where it has tile registers too (AMX), they take the place of the
// vector registers.
#pragma once

#include "compiler/passes/cpu/Nest.h"

namespace nacre::cpu {

// The sizes of one dot and how it is cut.
struct DotShape {
  int64_t batch, m, n, k;
  int64_t lanes; // elements of a vector register
  int64_t panel; // columns of a panel; a power of two
  int64_t rows;  // rows of a register block
};

class DotLowering {
public:
  DotLowering(Lowering &lowering, tile::DotOp op);

  // Adds the product, and those of `earlier` dots of the same types, to `sums`, which is [batch, m, n] of
  // computeType(), or writes them there when the sum starts from zero.
  void run(llvm::ArrayRef<tile::DotOp> earlier, const Buffer &sums, bool fromZero);
  mlir::Type computeType() const { return type; }

private:
  // Where a row of A begins: `base` plus a fixed stride, or the address `rows` lists for it.
  struct OperandA {
    mlir::Value base;
    mlir::Value rows;
    mlir::Value ahead; // bytes from a row to the one the next iteration will want, when known
  };

  // The operands of one of the products that are summed. `panels` begins with the batch and the panel at hand.
  struct Product {
    OperandA a;
    mlir::Value panels;
  };

  // DotPack.cpp
  Product prepare() { return {prepareA(), packB()}; }
  OperandA prepareA();
  mlir::Value packA();
  mlir::Value packB();
  std::optional<OperandA> readInPlace();
  mlir::Value packOnce(mlir::Value operand, const Buffer &packed, llvm::function_ref<void(mlir::Value target)> pack);
  using Place = llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)>;
  void pack(mlir::Value value, mlir::Value target, Place place, int64_t run);
  void packTurned(Nest &turned, mlir::Value value, llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> address,
                  int64_t run);
  void packPairs(mlir::Value value, mlir::Value target, Place place);
  void transpose(llvm::SmallVectorImpl<mlir::Value> &vectors);
  Lanes converted(Nest &nest, mlir::Value value);

  // DotTiles.cpp
  struct StridedA {
    mlir::Value base, stride; // bytes from row to row
  };
  bool fitsTileRegisters() const;
  StridedA strided(const OperandA &a);
  void multiplyTiles(llvm::ArrayRef<Product> products, mlir::Value c);
  void emitTileBlock(llvm::ArrayRef<StridedA> a, mlir::Value firstRow, llvm::ArrayRef<mlir::Value> panels,
                     mlir::Value c, int64_t rows, int64_t columns);
  void tileInstruction(llvm::StringRef name, llvm::ArrayRef<int64_t> registers, llvm::ArrayRef<mlir::Value> operands);

  // DotKernel.cpp
  void multiply(llvm::ArrayRef<Product> products, mlir::Value c);
  struct Piece {
    int64_t offset, width;
  }; // some columns of a panel, as one vector
  static llvm::SmallVector<Piece> piecesOf(int64_t columns, int64_t lanes);
  void emitPanel(llvm::ArrayRef<Product> products, mlir::Value c, llvm::ArrayRef<Piece> pieces);
  void emitBlock(llvm::ArrayRef<Product> products, mlir::Value firstRow, mlir::Value c, llvm::ArrayRef<Piece> pieces,
                 int64_t rows);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum, int64_t width);
  void loop(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  mlir::Value advance(mlir::Value pointer, mlir::Value index, int64_t bytes);
  int64_t panelCount() const { return (shape.n + shape.panel - 1) / shape.panel; }

  Lowering &lowering;
  Emit &b;
  tile::DotOp op;
  DotShape shape;
  mlir::Type type;        // that products are summed in
  mlir::Type operandType; // that operands are kept in: `type`, or bf16
  bool pairs;             // bf16 pairs
  bool fromZero = false;
  int64_t size; // bytes of an operand element
};

} // namespace nacre::cpu
