// How values go from thread to thread: by words between lanes, and at addresses of shared memory that are linear
// functions of the thread's number. What the lowerings of conversions, reductions, scans and the like share.
#pragma once

#include "compiler/ir/layout/Conversion.h"
#include "compiler/passes/gpu/Lowering.h"

namespace nacre::simt {

// Values of one type, sent by a function of 32-bit words; narrow values share words.
llvm::SmallVector<mlir::Value> sendWords(Lowering &lowering, llvm::ArrayRef<mlir::Value> values, mlir::Type element,
                                         llvm::function_ref<mlir::Value(mlir::Value)> send);

// Whether the parity of the thread's bits under the masks is odd.
mlir::Value oddParity(Lowering &lowering, uint32_t lanes, uint32_t warps);
// Whether these bits of the thread's lane and warp are all 0; null if there are none.
mlir::Value bitsAreZero(Lowering &lowering, uint32_t lanes, uint32_t warps);

// Addresses of elements in shared memory. Their offsets, in elements, are the exclusive or of the thread's share, which
// `thread` gives (one axis; its registers are not looked at), and a number known at compile time. That number becomes
// part of the instruction where the thread's share has none of its bits.
class SharedAddresses {
public:
  SharedAddresses(Lowering &lowering, mlir::Value base, const LinearLayout &thread, int64_t elementSize);
  mlir::Value at(uint32_t offset);

private:
  Lowering &lowering;
  mlir::Value base;
  LinearLayout thread;
  int64_t elementSize;
  uint32_t moving = 0;
  std::map<uint32_t, mlir::Value> pointers; // by the bits that both have
};

// Of an access to global memory on a tile of the type: the registers of each instruction, in the order of memory, by
// the attribute simt.vector.
llvm::SmallVector<llvm::SmallVector<uint32_t>> groupRegisters(mlir::Operation *op, mlir::Type type);

// Neighbours in shared memory, by one access; null predicate: always.
void writeShared(Lowering &lowering, llvm::ArrayRef<mlir::Value> values, mlir::Type element, mlir::Value address,
                 mlir::Value predicate);
llvm::SmallVector<mlir::Value> readShared(Lowering &lowering, mlir::Type element, unsigned count, mlir::Value address,
                                          mlir::Value predicate = {});

// Where arrays of so many elements, one of each type, begin one after the other; at the end how long they are together.
llvm::SmallVector<int64_t> arrayStarts(llvm::ArrayRef<mlir::Type> elements, int64_t count);

// The registers of a tile in another layout, through scratch memory from `base` on where the plan asks for it. Nobody
// may use that memory any more, or needs a barrier before (the caller's).
llvm::SmallVector<mlir::Value> convertRegisters(Lowering &lowering, const Conversion &plan,
                                                llvm::ArrayRef<mlir::Value> source, mlir::Type element,
                                                unsigned destinationRegisters, llvm::function_ref<mlir::Value()> base);

// The plan, and whether its memory is that of the cluster's first block, which all blocks write and read (Clusters.h).
struct ClusterConversion : Conversion {
  bool reachesAcrossBlocks = false;
};
ClusterConversion planFor(mlir::Type element, const LinearLayout &from, const LinearLayout &to);

// The bytes of shared memory that these operations need while they run.
int64_t reduceScratch(tile::ReduceOp op);
int64_t scanScratch(tile::ScanOp op);
int64_t gatherScratch(tile::GatherOp op);
int64_t histogramScratch(tile::HistogramOp op);

// Values of several types that are combined as one by the region of a reduction or scan.
class Combiner {
public:
  Combiner(Lowering &lowering, mlir::Region &region) : lowering(lowering), region(region) {}

  // A value that may be missing: where `exists` is false. Null: it is there.
  struct Partial {
    llvm::SmallVector<mlir::Value> values;
    mlir::Value exists;
  };
  // The value of the two, left before right, or of the one that is there.
  Partial combine(const Partial &left, const Partial &right);
  llvm::SmallVector<mlir::Value> combine(llvm::ArrayRef<mlir::Value> left, llvm::ArrayRef<mlir::Value> right);
  Partial select(mlir::Value condition, const Partial &yes, const Partial &no);
  // All in the given order, as a balanced tree.
  Partial combineAll(llvm::SmallVector<Partial> partials);
  // The types of the values, and i1 where one may be missing.
  static llvm::SmallVector<mlir::Type> elementTypes(mlir::Operation *op);
  bool isCommutative() const;
  // Failure: the region could not be lowered, which has been reported.
  mlir::LogicalResult status() const { return mlir::failure(hasFailed); }

private:
  Lowering &lowering;
  mlir::Region &region;
  bool hasFailed = false;
};

} // namespace nacre::simt
