// What the lowering of simt IR asks of a machine: the instructions that are no arithmetic. A target answers with its
// own (targets/cuda/Instructions.cpp); nothing in this folder knows one by name.
//
// What every GPU has is Machine. What only some have is a part of it, a class of its own: MatrixMoves, AsyncProducts,
// AsyncCopies, BoxCopies, Clusters. A machine answers null for a part that it lacks. The passes that make operations of a part ask
// for it first, and do nothing without it; Lowering::lower refuses such an operation where IR that others wrote has it.
//
// Values are scalars of LLVM's types. A predicate is an i1, or null: always. Addresses are pointers in address space 1
// (global memory) or 3 (shared memory): LLVM has the same numbers for every GPU. What Clusters gives is in one of its own.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "compiler/passes/gpu/HoistDescriptors.h"
#include "compiler/passes/gpu/MatrixInstruction.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nacre::simt {

using Builder = mlir::ImplicitLocOpBuilder;

// How an access to global memory is to be treated.
struct AccessHints {
  tile::CacheModifier cache = tile::CacheModifier::None;
  tile::EvictionPolicy eviction = tile::EvictionPolicy::Normal;
  bool isVolatile = false;
  bool isPlain() const {
    return cache == tile::CacheModifier::None && eviction == tile::EvictionPolicy::Normal && !isVolatile;
  }
};

// One atomic on one element, or on neighbours that the machine updates with one instruction.
struct AtomicAccess {
  tile::AtomicKind kind = tile::AtomicKind::AddI;
  tile::MemoryOrder order = tile::MemoryOrder::Relaxed;
  tile::MemoryScope scope = tile::MemoryScope::GPU;
  bool wantsResult = true;
};

// An operand of asynchronous matrix instructions: words in registers, of one instruction after the other along k, or a
// place in a tile in shared memory.
struct MatrixOperand {
  llvm::SmallVector<mlir::Value> words;
  mlir::Value start;                     // an address
  llvm::SmallVector<uint32_t> offsets;   // from there, in bytes, of each instruction along k
  unsigned rowBytes = 0, panelBytes = 0; // of a row; from rows to those that continue them
  bool isTransposed = false;             // rows lie along m or n, not along k
};

// One sum of asynchronous matrix instructions.
struct MatrixProduct {
  MatrixOperand left, right;
  llvm::SmallVector<mlir::Value> sums;
};

// Matrices of eight rows of 16 bytes in shared memory, moved by a warp (ir/layout/SharedAccess.h): 1, 2 or 4 of them, a
// word of each a lane. The lane's address is that of one row.
class MatrixMoves {
public:
  virtual ~MatrixMoves() = default;
  virtual llvm::SmallVector<mlir::Value> loadMatrices(Builder &b, mlir::Value address, unsigned count,
                                                      bool isTransposed) const = 0;
  // A machine may load matrices alone.
  virtual bool storesMatrices() const = 0;
  virtual void storeMatrices(Builder &b, llvm::ArrayRef<mlir::Value> words, mlir::Value address,
                             bool isTransposed) const = 0;
};

// Products of matrices that run while the threads go on: the rows of matrixInstructions that are `isAsync`.
class AsyncProducts {
public:
  virtual ~AsyncProducts() = default;
  // Start any number, commit: one group. The sums may be looked at when all but the last `pending`
  // groups have been waited for, theirs not among them. What is started together is so many instructions along k for
  // each product, added to its sums; the sums come back one product after the other. (What is started apart waits for
  // registers that were written in between: a group is best started at once.)
  virtual llvm::SmallVector<mlir::Value> startProducts(Builder &b, const MatrixInstruction &row,
                                                       llvm::ArrayRef<MatrixProduct> products, int64_t steps) const = 0;
  virtual void commitProducts(Builder &b, const MatrixInstruction &row) const = 0;
  // `held`: words of left operands of what is waited for. Instructions under way read their registers, which nobody may
  // write before.
  virtual void waitForProducts(Builder &b, unsigned pending, llvm::MutableArrayRef<mlir::Value> sums,
                               llvm::ArrayRef<mlir::Value> held) const = 0;
};

// Copies of words to shared memory while the threads go on.
class AsyncCopies {
public:
  virtual ~AsyncCopies() = default;
  // Of 4, 8 or 16 bytes, by every thread for itself; zeros where `isRead` is false (null: always true).
  virtual void copyWords(Builder &b, int64_t bytes, mlir::Value source, mlir::Value target, mlir::Value isRead,
                         mlir::Value predicate) const = 0;
  // The thread's copies since the last commit are a group; waits until all groups but the last `pending` are done.
  virtual void commitCopies(Builder &b) const = 0;
  virtual void waitCopies(Builder &b, int64_t pending) const = 0;
};

// Copies of tiles through tensor maps (HoistDescriptors.h) while the threads go on, the barriers on which they complete,
// and what warps need that do nothing but start them. What one thread starts has a predicate that says which.
class BoxCopies {
public:
  virtual ~BoxCopies() = default;
  virtual BoxLimits limits() const = 0;
  // An i1 that is true in one lane of the warp, always the same one; all lanes come here.
  virtual mlir::Value isElected(Builder &b) const = 0;
  // Every thread of the warps that come here has so many registers from now on, more than before or fewer.
  virtual void setRegisters(Builder &b, int64_t count, bool areMore) const = 0;
  // A barrier in shared memory, 8 bytes, whose phase ends when so many threads have arrived, and as many bytes as one of
  // them said; all may wait for the end of its phase. Phases have the numbers 0, 1, 0, 1, ... Before the first one
  // there was one with the number 1.
  virtual void initBarrier(Builder &b, mlir::Value barrier, int64_t arrivals, mlir::Value predicate) const = 0;
  virtual void arrive(Builder &b, mlir::Value barrier, mlir::Value predicate) const = 0;
  virtual void expectBytes(Builder &b, mlir::Value barrier, int64_t bytes, mlir::Value predicate) const = 0;
  virtual void awaitBarrier(Builder &b, mlir::Value barrier, mlir::Value phase) const = 0;
  // Coordinates are i32, the outermost first. Of one thread, all its stores are done when finishStores is; those that
  // nothing comes after have read shared memory then, and are done when the kernel is.
  virtual void copyBox(Builder &b, mlir::Value map, llvm::ArrayRef<mlir::Value> coordinates, mlir::Value target,
                       mlir::Value barrier, mlir::Value predicate) const = 0;
  virtual void storeBox(Builder &b, mlir::Value map, llvm::ArrayRef<mlir::Value> coordinates, mlir::Value source,
                        std::optional<tile::AtomicKind> kind, mlir::Value predicate) const = 0;
  virtual void finishStores(Builder &b, bool areLast, mlir::Value predicate) const = 0;
};

// Clusters: blocks that run at the same time and reach each other's shared memory. A program of several blocks is run by
// one; blocks of a cluster are neighbours along the first axis of the grid.
class Clusters {
public:
  virtual ~Clusters() = default;
  virtual mlir::Value blockRank(Builder &b) const = 0; // i32, in the cluster
  // Of an address of the block's own shared memory: the same place in that of the cluster's first block.
  virtual mlir::Value inFirstBlock(Builder &b, mlir::Value address) const = 0;
  // All threads of the cluster meet; what they have written before, in any memory, all see after it.
  virtual void clusterBarrier(Builder &b) const = 0;
};

class Machine {
public:
  virtual ~Machine() = default;

  // --- The parts that not every machine has; null: not this one.
  virtual const MatrixMoves *matrixMoves() const { return nullptr; }
  virtual const AsyncProducts *asyncProducts() const { return nullptr; }
  virtual const AsyncCopies *asyncCopies() const { return nullptr; }
  virtual const BoxCopies *boxCopies() const { return nullptr; }
  virtual const Clusters *clusters() const { return nullptr; }

  virtual int64_t lanes() const = 0;
  virtual int64_t sharedBytes() const = 0; // that a block may have
  // The kernel's function, before its body is made: its calling convention, the threads of a block, and the blocks of a
  // cluster.
  virtual void declareKernel(mlir::LLVM::LLVMFuncOp function, int64_t threads, int64_t ctas) const = 0;

  // --- Where we are; all i32.
  virtual mlir::Value threadId(Builder &b) const = 0;
  virtual mlir::Value programId(Builder &b, int axis) const = 0;
  virtual mlir::Value gridSize(Builder &b, int axis) const = 0;
  virtual mlir::Value clock(Builder &b) const = 0;  // i64, nanoseconds of a clock that all share
  virtual mlir::Value cycles(Builder &b) const = 0; // i64, of a clock of the processor's own
  virtual mlir::Value processor(Builder &b) const = 0;

  // --- Between threads.
  // Of so many threads, the first of the block; 0: of all.
  virtual void blockBarrier(Builder &b, int64_t threads) const = 0;
  virtual void warpBarrier(Builder &b) const = 0;
  // A block barrier; whether the i1 is true in one of its threads.
  virtual mlir::Value anyThread(Builder &b, mlir::Value predicate) const = 0;
  // Ends the thread; all threads of the block come here.
  virtual void leave(Builder &b) const = 0;
  // Every lane gets the 32-bit value of another: of its number with the bits of `mask` flipped; of lane `from`.
  virtual mlir::Value shuffleXor(Builder &b, mlir::Value value, uint32_t mask) const = 0;
  virtual mlir::Value shuffleFrom(Builder &b, mlir::Value value, mlir::Value from) const = 0;
  // Makes the thread's writes to shared memory (and global memory) visible to matrix instructions and copies that read
  // through the async proxy. Nothing where there is no such proxy.
  virtual void fence(Builder &, bool /*isGlobal*/) const {}

  // --- Memory.
  // `count` words of the integer type, together aligned to their size; the values of `otherwise` where the predicate is
  // false.
  virtual llvm::SmallVector<mlir::Value> load(Builder &b, mlir::Type word, mlir::Value address, mlir::Value predicate,
                                              llvm::ArrayRef<mlir::Value> otherwise,
                                              const AccessHints &hints) const = 0;
  virtual void store(Builder &b, llvm::ArrayRef<mlir::Value> words, mlir::Value address, mlir::Value predicate,
                     const AccessHints &hints) const = 0;
  // The old value, of the value's type; undefined where the predicate is false, null when no result is wanted and there
  // is none. The element is one of the language's, the value in its form in memory.
  virtual mlir::Value atomic(Builder &b, mlir::Type element, mlir::Value address, mlir::Value value,
                             mlir::Value predicate, const AtomicAccess &access) const = 0;
  virtual mlir::Value compareAndSwap(Builder &b, mlir::Value address, mlir::Value expected, mlir::Value desired,
                                     mlir::Value predicate, const AtomicAccess &access) const = 0;

  // --- Products. Words hold neighbours along k; sums are of the instruction's sumType.
  virtual llvm::ArrayRef<MatrixInstruction> matrixInstructions() const { return {}; }
  const MatrixInstruction *matrixInstruction(llvm::StringRef name) const {
    llvm::ArrayRef<MatrixInstruction> rows = matrixInstructions();
    const auto *found = llvm::find_if(rows, [&](const MatrixInstruction &row) { return row.name == name; });
    return found == rows.end() ? nullptr : found;
  }
  // sums + left x right of one instruction that is not asynchronous.
  virtual llvm::SmallVector<mlir::Value> multiply(Builder &b, const MatrixInstruction &row,
                                                  llvm::ArrayRef<mlir::Value> left, llvm::ArrayRef<mlir::Value> right,
                                                  llvm::ArrayRef<mlir::Value> sums) const = 0;
  // The same integer of 32 or 64 bits, of which the optimizer knows nothing.
  virtual mlir::Value opaque(Builder &b, mlir::Value value) const = 0;

  // --- Numbers. Null where the machine has no instruction: the general way is taken.
  // From and to are the language's float types; the value and the result are in their forms in registers.
  virtual mlir::Value convertFloat(Builder &b, mlir::Value value, mlir::Type from, mlir::Type to,
                                   tile::Rounding rounding) const = 0;
  // An operation of `math` or `arith` on scalars of its own types.
  virtual mlir::Value compute(Builder &b, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands) const = 0;

  // --- Telling the host.
  // As printf: one call of one thread. Text is null-terminated memory.
  virtual void print(Builder &b, mlir::Value format, llvm::ArrayRef<mlir::Value> arguments) const = 0;
  // Ends the launch.
  virtual void failAssertion(Builder &b, mlir::Value message, mlir::Value file, uint32_t line,
                             mlir::Value function) const = 0;
};

} // namespace nacre::simt
