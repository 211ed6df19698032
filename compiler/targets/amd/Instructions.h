// The machine of the HIP target, as the lowering of simt IR sees it (passes/gpu/Machine.h): LLVM's own operations where
// they say all (loads, stores, atomics, fences with a scope), else its intrinsics llvm.amdgcn.*.
//
// What it makes of a kernel, which the rest of this folder relies on: a module in LLVM dialect in which one function has
// the calling convention of kernels; its parameters are those of lower-to-llvm, in order. A predicate is a branch: lanes
// that have none of it are switched off. The block's shared memory is one array in address space 3, which has no size
// yet (CodeObject.h: prepare).
//
// There are no matrices moved by a warp, no copies of boxes and no asynchronous products: none of these GPUs has them.
#pragma once

#include "compiler/passes/gpu/Machine.h"
#include "compiler/targets/amd/Architectures.h"

namespace nacre::amd {

class Instructions : public simt::Machine {
public:
  explicit Instructions(const Architecture &architecture) : architecture(architecture) {}

  int64_t lanes() const override { return architecture.lanes; }
  int64_t sharedBytes() const override { return architecture.sharedBytes; }
  void declareKernel(mlir::LLVM::LLVMFuncOp function, int64_t threads, int64_t /*ctas*/) const override;

  mlir::Value threadId(simt::Builder &b) const override;
  mlir::Value programId(simt::Builder &b, int axis) const override;
  mlir::Value gridSize(simt::Builder &b, int axis) const override;
  mlir::Value clock(simt::Builder &b) const override;
  mlir::Value cycles(simt::Builder &b) const override;
  mlir::Value processor(simt::Builder &b) const override;

  void blockBarrier(simt::Builder &b, int64_t threads) const override;
  void warpBarrier(simt::Builder &b) const override;
  mlir::Value anyThread(simt::Builder &b, mlir::Value predicate) const override;
  void leave(simt::Builder &b) const override;
  mlir::Value shuffleXor(simt::Builder &b, mlir::Value value, uint32_t mask) const override;
  mlir::Value shuffleFrom(simt::Builder &b, mlir::Value value, mlir::Value from) const override;

  llvm::SmallVector<mlir::Value> load(simt::Builder &b, mlir::Type word, mlir::Value address, mlir::Value predicate,
                                      llvm::ArrayRef<mlir::Value> otherwise,
                                      const simt::AccessHints &hints) const override;
  void store(simt::Builder &b, llvm::ArrayRef<mlir::Value> words, mlir::Value address, mlir::Value predicate,
             const simt::AccessHints &hints) const override;
  mlir::Value atomic(simt::Builder &b, mlir::Type element, mlir::Value address, mlir::Value value,
                     mlir::Value predicate, const simt::AtomicAccess &access) const override;
  mlir::Value compareAndSwap(simt::Builder &b, mlir::Value address, mlir::Value expected, mlir::Value desired,
                             mlir::Value predicate, const simt::AtomicAccess &access) const override;
  llvm::SmallVector<mlir::Value> multiply(simt::Builder &b, const simt::MatrixInstruction &row,
                                          llvm::ArrayRef<mlir::Value> left, llvm::ArrayRef<mlir::Value> right,
                                          llvm::ArrayRef<mlir::Value> sums) const override;

  mlir::Value opaque(simt::Builder &b, mlir::Value value) const override;
  mlir::Value convertFloat(simt::Builder &, mlir::Value, mlir::Type, mlir::Type, tile::Rounding) const override {
    return nullptr;
  }
  // The approximations of the hardware take subnormal numbers for 0: none is used.
  mlir::Value compute(simt::Builder &, mlir::Operation *, llvm::ArrayRef<mlir::Value>) const override {
    return nullptr;
  }

  // A kernel that prints is refused (Pipeline.cpp).
  void print(simt::Builder &b, mlir::Value format, llvm::ArrayRef<mlir::Value> arguments) const override;
  // Ends the launch by a trap: what is known of the assertion stands in the record of checks, where there is one.
  void failAssertion(simt::Builder &b, mlir::Value message, mlir::Value file, uint32_t line,
                     mlir::Value function) const override;

private:
  const Architecture &architecture;
};

} // namespace nacre::amd
