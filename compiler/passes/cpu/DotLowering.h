// One dot: how it is cut, its operands in memory, and the micro-kernel (MicroKernel.h) over them.
//
// B is packed in panels of as many columns as the kernel's accumulators span. A is read where it lies when its rows are
// contiguous, complete and of the type that is computed in; else it is packed row-major. The result accumulates in
// memory, in place when a loop carries it. Where the machine multiplies pairs of bf16, both operands stay bf16.
#pragma once

#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/Nest.h"

namespace nacre::cpu {

class DotLowering {
public:
  DotLowering(Lowering &lowering, tile::DotOp op);

  // Adds the product, and those of `earlier` dots of the same types, to `sums`, which is [batch, m, n] of
  // computeType(), or writes them there when the sum starts from zero.
  void run(llvm::ArrayRef<tile::DotOp> earlier, const Buffer &sums, bool fromZero);
  mlir::Type computeType() const { return blocking.getSum(); }

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

  Lowering &lowering;
  Emit &b;
  tile::DotOp op;
  BlockingAttr blocking;
  mlir::Type operandType; // that operands are kept in
  int64_t size;           // bytes of an operand element
};

} // namespace nacre::cpu
