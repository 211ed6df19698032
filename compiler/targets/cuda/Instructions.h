// The machine of the CUDA target, as the lowering of simt IR sees it (passes/gpu/Machine.h): instructions of PTX, as
// LLVM intrinsics (llvm.call_intrinsic of llvm.nvvm.*) where LLVM keeps what they mean, else as inline PTX. No NVVM
// dialect: its header alone doubles the time to compile a file.
//
// What it makes of a kernel, which the rest of this folder relies on: a module in LLVM dialect in which one function
// has the calling convention of kernels; each argument that arrives is one parameter, in order: a pointer (address
// space 1), an integer or a float, fp16 and bf16 as f32; then the record of checked accesses, where there are such
// (ir/simt/AccessRecord.h). The block's shared memory is one external array in address space 3, aligned to 1024
// bytes. The module says the rest in attributes: simt.num_warps, simt.lanes, simt.shared (ir/simt/Simt.td),
// simt.access_sites and the options of the launch (ir/tile/KernelAttributes.h).
//
// The files: Instructions.cpp (threads, numbers, telling the host), GlobalAccesses.cpp (loads, stores), Atomics.cpp,
// Matrices.cpp (matrices in shared memory), MatrixInstructions.cpp (matrix products),
// AsyncCopies.cpp (cp.async, tensor copies and the barriers that they complete on).
#pragma once

#include "compiler/passes/gpu/Machine.h"
#include "compiler/targets/cuda/Architectures.h"

namespace nacre::cuda {

std::vector<simt::MatrixInstruction> matrixInstructionsOf(const Architecture &architecture);

class Instructions : public simt::Machine,
                     public simt::MatrixMoves,
                     public simt::AsyncProducts,
                     public simt::AsyncCopies,
                     public simt::BoxCopies,
                     public simt::Clusters {
public:
  explicit Instructions(const Architecture &architecture)
      : architecture(architecture), matrixRows(matrixInstructionsOf(architecture)) {}

  const simt::MatrixMoves *matrixMoves() const override { return this; }
  const simt::AsyncProducts *asyncProducts() const override {
    return architecture.hasWarpgroupProducts ? this : nullptr;
  }
  const simt::AsyncCopies *asyncCopies() const override { return architecture.has(80) ? this : nullptr; }
  const simt::BoxCopies *boxCopies() const override { return architecture.has(90) ? this : nullptr; }
  const simt::Clusters *clusters() const override { return architecture.has(90) ? this : nullptr; }

  int64_t lanes() const override { return warpSize; }
  int64_t sharedBytes() const override { return architecture.sharedBytes; }
  void declareKernel(mlir::LLVM::LLVMFuncOp function, int64_t threads, int64_t ctas) const override;

  mlir::Value threadId(simt::Builder &b) const override;
  mlir::Value programId(simt::Builder &b, int axis) const override;
  mlir::Value gridSize(simt::Builder &b, int axis) const override;
  mlir::Value blockRank(simt::Builder &b) const override;
  mlir::Value inFirstBlock(simt::Builder &b, mlir::Value address) const override;
  void clusterBarrier(simt::Builder &b) const override;
  mlir::Value clock(simt::Builder &b) const override;
  mlir::Value cycles(simt::Builder &b) const override;
  mlir::Value processor(simt::Builder &b) const override;

  void blockBarrier(simt::Builder &b, int64_t threads) const override;
  void warpBarrier(simt::Builder &b) const override;
  mlir::Value isElected(simt::Builder &b) const override;
  mlir::Value opaque(simt::Builder &b, mlir::Value value) const override;
  mlir::Value anyThread(simt::Builder &b, mlir::Value predicate) const override;
  void leave(simt::Builder &b) const override;
  void setRegisters(simt::Builder &b, int64_t count, bool areMore) const override;
  mlir::Value shuffleXor(simt::Builder &b, mlir::Value value, uint32_t mask) const override;
  mlir::Value shuffleFrom(simt::Builder &b, mlir::Value value, mlir::Value from) const override;
  void fence(simt::Builder &b, bool isGlobal) const override;

  llvm::SmallVector<mlir::Value> load(simt::Builder &b, mlir::Type word, mlir::Value address, mlir::Value predicate,
                                      llvm::ArrayRef<mlir::Value> otherwise,
                                      const simt::AccessHints &hints) const override;
  void store(simt::Builder &b, llvm::ArrayRef<mlir::Value> words, mlir::Value address, mlir::Value predicate,
             const simt::AccessHints &hints) const override;
  bool storesMatrices() const override { return architecture.has(90); }
  llvm::SmallVector<mlir::Value> loadMatrices(simt::Builder &b, mlir::Value address, unsigned count,
                                              bool isTransposed) const override;
  void storeMatrices(simt::Builder &b, llvm::ArrayRef<mlir::Value> words, mlir::Value address,
                     bool isTransposed) const override;
  mlir::Value atomic(simt::Builder &b, mlir::Type element, mlir::Value address, mlir::Value value,
                     mlir::Value predicate, const simt::AtomicAccess &access) const override;
  mlir::Value compareAndSwap(simt::Builder &b, mlir::Value address, mlir::Value expected, mlir::Value desired,
                             mlir::Value predicate, const simt::AtomicAccess &access) const override;

  llvm::ArrayRef<simt::MatrixInstruction> matrixInstructions() const override { return matrixRows; }
  llvm::SmallVector<mlir::Value> multiply(simt::Builder &b, const simt::MatrixInstruction &row,
                                          llvm::ArrayRef<mlir::Value> left, llvm::ArrayRef<mlir::Value> right,
                                          llvm::ArrayRef<mlir::Value> sums) const override;
  llvm::SmallVector<mlir::Value> startProducts(simt::Builder &b, const simt::MatrixInstruction &row,
                                               llvm::ArrayRef<simt::MatrixProduct> products,
                                               int64_t steps) const override;
  void commitProducts(simt::Builder &b, const simt::MatrixInstruction &row) const override;
  void waitForProducts(simt::Builder &b, unsigned pending, llvm::MutableArrayRef<mlir::Value> sums,
                       llvm::ArrayRef<mlir::Value> held) const override;

  simt::BoxLimits limits() const override { return {.sharedBytes = architecture.sharedBytes}; }
  void initBarrier(simt::Builder &b, mlir::Value barrier, int64_t arrivals, mlir::Value predicate) const override;
  void arrive(simt::Builder &b, mlir::Value barrier, mlir::Value predicate) const override;
  void expectBytes(simt::Builder &b, mlir::Value barrier, int64_t bytes, mlir::Value predicate) const override;
  void awaitBarrier(simt::Builder &b, mlir::Value barrier, mlir::Value phase) const override;
  void copyBox(simt::Builder &b, mlir::Value map, llvm::ArrayRef<mlir::Value> coordinates, mlir::Value target,
               mlir::Value barrier, mlir::Value predicate) const override;
  void storeBox(simt::Builder &b, mlir::Value map, llvm::ArrayRef<mlir::Value> coordinates, mlir::Value source,
                std::optional<tile::AtomicKind> kind, mlir::Value predicate) const override;
  void finishStores(simt::Builder &b, bool areLast, mlir::Value predicate) const override;
  void copyWords(simt::Builder &b, int64_t bytes, mlir::Value source, mlir::Value target, mlir::Value isRead,
                 mlir::Value predicate) const override;
  void commitCopies(simt::Builder &b) const override;
  void waitCopies(simt::Builder &b, int64_t pending) const override;

  mlir::Value convertFloat(simt::Builder &b, mlir::Value value, mlir::Type from, mlir::Type to,
                           tile::Rounding rounding) const override;
  mlir::Value compute(simt::Builder &b, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands) const override;

  void print(simt::Builder &b, mlir::Value format, llvm::ArrayRef<mlir::Value> arguments) const override;
  void failAssertion(simt::Builder &b, mlir::Value message, mlir::Value file, uint32_t line,
                     mlir::Value function) const override;

private:
  const Architecture &architecture;
  std::vector<simt::MatrixInstruction> matrixRows;
};

} // namespace nacre::cuda
