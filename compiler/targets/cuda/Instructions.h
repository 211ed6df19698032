// The machine of the CUDA target, as the lowering of gpu IR sees it (passes/gpu/Machine.h): instructions of PTX, as
// LLVM intrinsics (llvm.call_intrinsic of llvm.nvvm.*) where LLVM keeps what they mean, else as inline PTX. No NVVM
// dialect: its header alone doubles the time to compile a file.
//
// What it makes of a kernel, which the rest of this folder relies on: a module in LLVM dialect in which one function
// has the calling convention of kernels; each argument that arrives is one parameter, in order: a pointer (address
// space 1), an integer or a float, fp16 and bf16 as f32; then the record of checked accesses, where there are such
// (passes/gpu/AccessRecord.h). The block's shared memory is one external array in address space 3, aligned to 1024
// bytes. The module says the rest in attributes: gpu.num_warps, gpu.lanes, gpu.shared (ir/gpu/Gpu.td),
// gpu.access_sites and the options of the launch (ir/tile/KernelAttributes.h).
//
// The files: Instructions.cpp (threads, numbers, telling the host), GlobalAccesses.cpp (loads, stores), Atomics.cpp,
// Matrices.cpp (matrices in shared memory), MatrixInstructions.cpp (matrix products),
// AsyncCopies.cpp (cp.async, tensor copies and the barriers that they complete on).
#pragma once

#include "compiler/passes/gpu/Machine.h"
#include "compiler/targets/cuda/Architectures.h"

namespace nacre::cuda {

std::vector<gpu::MatrixInstruction> matrixInstructionsOf(const Architecture &architecture);

class Instructions : public gpu::Machine {
public:
  explicit Instructions(const Architecture &architecture)
      : architecture(architecture), matrixRows(matrixInstructionsOf(architecture)) {}

  int64_t lanes() const override { return 32; }
  int64_t sharedBytes() const override { return architecture.sharedBytes; }
  void declareKernel(mlir::LLVM::LLVMFuncOp function, int64_t threads) const override;

  mlir::Value threadId(gpu::Builder &b) const override;
  mlir::Value programId(gpu::Builder &b, int axis) const override;
  mlir::Value gridSize(gpu::Builder &b, int axis) const override;
  mlir::Value clock(gpu::Builder &b) const override;
  mlir::Value cycles(gpu::Builder &b) const override;
  mlir::Value processor(gpu::Builder &b) const override;

  void blockBarrier(gpu::Builder &b) const override;
  void warpBarrier(gpu::Builder &b) const override;
  mlir::Value isElected(gpu::Builder &b) const override;
  mlir::Value opaque(gpu::Builder &b, mlir::Value value) const override;
  mlir::Value anyThread(gpu::Builder &b, mlir::Value predicate) const override;
  void leave(gpu::Builder &b) const override;
  mlir::Value shuffleXor(gpu::Builder &b, mlir::Value value, uint32_t mask) const override;
  mlir::Value shuffleFrom(gpu::Builder &b, mlir::Value value, mlir::Value from) const override;
  mlir::Value shuffleUp(gpu::Builder &b, mlir::Value value, uint32_t distance) const override;
  void fence(gpu::Builder &b, bool isGlobal) const override;

  llvm::SmallVector<mlir::Value> load(gpu::Builder &b, mlir::Type word, mlir::Value address, mlir::Value predicate,
                                      llvm::ArrayRef<mlir::Value> otherwise,
                                      const gpu::AccessHints &hints) const override;
  void store(gpu::Builder &b, llvm::ArrayRef<mlir::Value> words, mlir::Value address, mlir::Value predicate,
             const gpu::AccessHints &hints) const override;
  bool loadsMatrices() const override { return true; }
  bool storesMatrices() const override { return architecture.has(90); }
  llvm::SmallVector<mlir::Value> loadMatrices(gpu::Builder &b, mlir::Value address, unsigned count,
                                              bool isTransposed) const override;
  void storeMatrices(gpu::Builder &b, llvm::ArrayRef<mlir::Value> words, mlir::Value address,
                     bool isTransposed) const override;
  mlir::Value atomic(gpu::Builder &b, mlir::Type element, mlir::Value address, mlir::Value value, mlir::Value predicate,
                     const gpu::AtomicAccess &access) const override;
  mlir::Value compareAndSwap(gpu::Builder &b, mlir::Value address, mlir::Value expected, mlir::Value desired,
                             mlir::Value predicate, const gpu::AtomicAccess &access) const override;

  llvm::ArrayRef<gpu::MatrixInstruction> matrixInstructions() const override { return matrixRows; }
  llvm::SmallVector<mlir::Value> multiply(gpu::Builder &b, const gpu::MatrixInstruction &row,
                                          llvm::ArrayRef<mlir::Value> left, llvm::ArrayRef<mlir::Value> right,
                                          llvm::ArrayRef<mlir::Value> sums) const override;
  llvm::SmallVector<mlir::Value> startProducts(gpu::Builder &b, const gpu::MatrixInstruction &row,
                                               llvm::ArrayRef<gpu::MatrixProduct> products,
                                               int64_t steps) const override;
  void commitProducts(gpu::Builder &b, const gpu::MatrixInstruction &row) const override;
  void waitForProducts(gpu::Builder &b, unsigned pending, llvm::MutableArrayRef<mlir::Value> sums,
                       llvm::ArrayRef<mlir::Value> held) const override;

  std::optional<gpu::BoxCopies> boxCopies() const override;
  void initBarrier(gpu::Builder &b, mlir::Value barrier, mlir::Value predicate) const override;
  void expectBytes(gpu::Builder &b, mlir::Value barrier, int64_t bytes, mlir::Value predicate) const override;
  void awaitBarrier(gpu::Builder &b, mlir::Value barrier, mlir::Value phase) const override;
  void copyBox(gpu::Builder &b, mlir::Value map, llvm::ArrayRef<mlir::Value> coordinates, mlir::Value target,
               mlir::Value barrier, mlir::Value predicate) const override;
  void storeBox(gpu::Builder &b, mlir::Value map, llvm::ArrayRef<mlir::Value> coordinates, mlir::Value source,
                std::optional<tile::AtomicKind> kind, mlir::Value predicate) const override;
  void finishStores(gpu::Builder &b, bool areLast, mlir::Value predicate) const override;
  bool copiesAsynchronously() const override { return architecture.has(80); }
  void copyWords(gpu::Builder &b, int64_t bytes, mlir::Value source, mlir::Value target, mlir::Value isRead,
                 mlir::Value predicate) const override;
  void commitCopies(gpu::Builder &b) const override;
  void waitCopies(gpu::Builder &b, int64_t pending) const override;

  mlir::Value convertFloat(gpu::Builder &b, mlir::Value value, mlir::Type from, mlir::Type to,
                           tile::Rounding rounding) const override;
  mlir::Value compute(gpu::Builder &b, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands) const override;

  void print(gpu::Builder &b, mlir::Value format, llvm::ArrayRef<mlir::Value> arguments) const override;
  void failAssertion(gpu::Builder &b, mlir::Value message, mlir::Value file, uint32_t line,
                     mlir::Value function) const override;

private:
  const Architecture &architecture;
  std::vector<gpu::MatrixInstruction> matrixRows;
};

} // namespace nacre::cuda
