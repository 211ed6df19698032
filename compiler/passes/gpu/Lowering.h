// The lowering of one kernel from tiles in layouts to the scalar code of one thread; pass `lower-to-llvm`.
//
// The kernel's blocks are walked in order, and the code of each operation is emitted at once, in the order in which it
// is to run: that order is what the code generator keeps. A tile is as many scalars as its layout has registers
// (`registers`); they are never packed into a struct. What an operation does between threads goes through Machine.
//
// The files: Lowering.cpp (the walk, places of elements), LowerElementwise.cpp, LowerControl.cpp, LowerMemory.cpp,
// LowerAtomics.cpp, LowerShapes.cpp, LowerConvert.cpp, LowerReduce.cpp, LowerScan.cpp, LowerGather.cpp (histograms
// too), DistanceGather.cpp, LowerShared.cpp (what else goes through shared memory), LowerSharedTiles.cpp (simt.allocate
// and so on), LowerDot.cpp (simt.dot), LowerCopies.cpp (by the hardware), LowerDebugging.cpp, LowerChecks.cpp,
// LowerMarks.cpp, LowerInlineCode.cpp;
// Exchange.cpp is what those share that move data between threads. A file adds its operations to the switch in
// Lowering::lower.
#pragma once

#include "compiler/ir/simt/AccessRecord.h"
#include "compiler/ir/simt/ScopeRecord.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "compiler/passes/gpu/Machine.h"
#include <map>
#include <memory>

namespace nacre::simt {

// Whether the kernel checks accesses or has asserts: the address of their record is then the argument that follows
// those of the launch (AccessRecord.h).
bool hasChecks(mlir::func::FuncOp kernel);
// Whether it has marks of the profiler's: the address of their record is the argument after that one (ScopeRecord.h).
bool hasMarks(mlir::func::FuncOp kernel);
// Whether the operation is part of a function of single elements (of a reduction, a scan, a map): threads part there.
bool isOfElements(mlir::Operation *op);
// Whether the operation calls such a function, which has asserts, from code that all threads run together.
bool assertsInFunctions(mlir::Operation *op);

// So many elements, counted from `first` on, which lie in scratch memory at once; no `count`: all.
struct ScratchPart {
  int64_t first = 0, count = 0;
};
// The parts of elements of so many bytes, each as large as an operation's scratch memory may be and a multiple of
// `unit` long; one without `count` where they fit.
llvm::SmallVector<ScratchPart> scratchParts(int64_t elements, int64_t bytes, int64_t unit = 1);
// How many elements the largest of them has.
int64_t elementsAtOnce(int64_t elements, int64_t bytes, int64_t unit = 1);

class Lowering {
public:
  Lowering(mlir::func::FuncOp kernel, const Machine &machine);
  // Emits the kernel's function after the kernel. Failure has been reported on the operation.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> run();

  Builder b;
  const Machine &machine;
  const BlockShape block;
  const bool mayFuse; // a product and a sum of the kernel may be rounded once

  // ---- Values
  // The registers of a tile, in its layout's order; of a scalar the one value.
  llvm::ArrayRef<mlir::Value> registers(mlir::Value value);
  mlir::Value scalar(mlir::Value value) { return registers(value).front(); }
  void define(mlir::Value value, llvm::ArrayRef<mlir::Value> registers);
  // Those that the launch gives: without the records of checks and marks and the tensor maps, which come after them.
  unsigned argumentCount();
  // How many registers values of the type take.
  static unsigned registerCount(mlir::Type type);
  // The type an element has in a register: fp8 are bytes, pointers LLVM's; and in memory, where i1 takes a byte too.
  mlir::Type registerType(mlir::Type element);
  mlir::Type memoryType(mlir::Type element);
  static int64_t byteSize(mlir::Type element);
  mlir::Value toMemory(mlir::Value value, mlir::Type element);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);

  // ---- Places
  mlir::Value threadId(); // i32, as everything below
  mlir::Value laneId();
  mlir::Value warpId();
  mlir::Value blockRank();    // in its cluster
  mlir::Value threadNumber(); // in the cluster: that of the thread in its block, and the block's above
  mlir::Value programId(int axis);
  mlir::Value gridSize(int axis);
  // The coordinate of a register's element along an axis; and the row-major index of the element in the tile.
  mlir::Value coordinate(const LinearLayout &layout, uint32_t reg, unsigned axis);
  mlir::Value elementIndex(mlir::Type tile, uint32_t reg);
  // Whether the element lies in the tile, not in its padding; null: always.
  mlir::Value isInside(mlir::Type tile, uint32_t reg);
  // Whether this thread is the one of those that hold the same elements which acts for all; null: they are all alone.
  mlir::Value isHolder(const LinearLayout &layout);
  // The same of the threads that share the scratch memory of the operation: of the cluster, or of each block.
  mlir::Value isScratchHolder(const LinearLayout &layout);
  // The same for a scalar: thread 0, of the cluster or of each block.
  mlir::Value isFirstThread();
  mlir::Value isFirstThreadOfBlock();
  // Of either, by the type of the value; within code of one element (`elements`) the thread acts for itself.
  mlir::Value actor(mlir::Type type);
  mlir::Value both(mlir::Value left, mlir::Value right); // of two predicates, either of which may be null

  // ---- Small things
  mlir::Value constant(mlir::Type type, int64_t value); // of an integer type
  mlir::Value i32(int64_t value) { return constant(b.getI32Type(), value); }
  mlir::Value zero(mlir::Type type); // of any register type
  mlir::Value byteOffset(mlir::Value pointer, mlir::Value bytes);
  mlir::Value bitcast(mlir::Value value, mlir::Type type); // pointers too; the value itself where it has the type
  // The address of a constant text, null-terminated.
  mlir::Value text(llvm::StringRef text);
  // Registers as words of 32 bits (or 64, or one shorter word), as memory has them; and back.
  llvm::SmallVector<mlir::Value> packWords(llvm::ArrayRef<mlir::Value> elements, mlir::Type element);
  llvm::SmallVector<mlir::Value> unpackWords(llvm::ArrayRef<mlir::Value> words, mlir::Type element, int64_t count);
  mlir::Type wordType(mlir::Type element, int64_t count);

  // ---- Operations
  // One elementwise operation on one register of each operand; null: it has none that is known (reported).
  mlir::Value elementwise(mlir::Operation *op, unsigned result, llvm::ArrayRef<mlir::Value> operands);
  // A region of scalars (of a reduction, a scan, a map), on these arguments.
  llvm::SmallVector<mlir::Value> inlineRegion(mlir::Region &region, llvm::ArrayRef<mlir::Value> arguments);
  mlir::Value convertFloat(mlir::Value value, mlir::Type from, mlir::Type to, tile::Rounding rounding);

  // ---- Shared memory
  // The operation's scratch: where PlaceShared put it, or at the start of the array where nobody did. Before it is
  // written and between writes and reads of other threads stands a barrier.
  mlir::Value scratch(mlir::Operation *op);
  void barrierBefore(mlir::Operation *op); // unless the pass place-barriers has ordered this operation already
  // Of the block's threads, or of the cluster's where the operation's scratch memory is the cluster's.
  void barrier();
  // Of all threads that run the program.
  void programBarrier();
  // One element, counted from `base` on; and a whole tile at its row-major places, by the threads that act for them.
  mlir::Value sharedElement(mlir::Value base, mlir::Type element, mlir::Value index);
  // Where the predicate is false a load gives `otherwise`, or 0. A null predicate: always.
  mlir::Value loadShared(mlir::Value base, mlir::Type element, mlir::Value index, mlir::Value predicate,
                         mlir::Value otherwise = {});
  void storeShared(mlir::Value value, mlir::Value base, mlir::Type element, mlir::Value index, mlir::Value predicate);
  void writeTile(mlir::Value tile, mlir::Value base, ScratchPart part = {});
  void readTile(mlir::Value tile, mlir::Value base) {
    llvm::SmallVector<mlir::Value> results;
    readRegisters(tile.getType(), base, {}, results);
    define(tile, results);
  }
  // The registers whose elements are of the part; the others stay as they are. `results` is empty at first.
  void readRegisters(mlir::Type tile, mlir::Value base, ScratchPart part, llvm::SmallVectorImpl<mlir::Value> &results);
  // Of an element's number: whether it is of the part (null: always); it is counted from the part's start on
  // afterwards.
  mlir::Value isOfPart(mlir::Value &index, ScratchPart part);

  // One register of a tile. A tile that only a product reads is got from shared memory piece by piece, where the
  // product asks for it: not all of it is in registers at once.
  mlir::Value registerOf(mlir::Value tile, uint32_t reg);
  bool isReadOnDemand(mlir::Value tile) const { return readsOnDemand.contains(tile); }

  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerInReach(mlir::Operation *op);

  // What one thread has read or done for all that hold copies of an element goes to them: the registers of the
  // operation's result.
  void shareResult(mlir::Operation *op, llvm::MutableArrayRef<mlir::Value> registers);

  // ---- Checks
  // Whether the launch gave a record; and which program has claimed it by now: 0 for none.
  mlir::Value hasRecord();
  mlir::Value refusedProgram();
  // Every thread comes here: they leave when a program has claimed the record.
  void leaveIfRefused();

  // How many regions around the code being emitted run for single elements: threads part there, and do not meet.
  int elements = 0;
  // Whether the code being emitted is one thread's of the warps that produce.
  bool isProducer = false;
  // Whether the operation whose code is emitted exchanges data between the blocks of the cluster (Clusters.h): its
  // scratch memory is then the first block's, and the cluster meets where a block does otherwise.
  bool acrossBlocks = false;
  // Whether the cluster has met since anybody used memory.
  bool hasClusterMet = false;

private:
  friend class Hoisted;
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  mlir::LogicalResult lowerConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult lowerArange(tile::ArangeOp op);
  mlir::LogicalResult lowerShape(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  mlir::LogicalResult lowerAtomicRmw(tile::AtomicRmwOp op);
  mlir::LogicalResult lowerAtomicCas(tile::AtomicCasOp op);
  mlir::LogicalResult lowerTell(tile::TellOp op);
  void prepareMarks();
  void tellMarks();
  mlir::LogicalResult lowerPrint(tile::PrintOp op);
  mlir::LogicalResult lowerAssert(tile::AssertOp op);
  mlir::LogicalResult lowerCheckAccess(tile::CheckAccessOp op);
  void tellSites();
  mlir::LogicalResult lowerConvert(ConvertOp op);
  mlir::LogicalResult lowerThroughMemory(mlir::Operation *op); // reshape, concatenate that move values
  mlir::LogicalResult lowerWrite(WriteOp op);
  mlir::LogicalResult lowerRead(ReadOp op);
  mlir::LogicalResult lowerMatrixDot(DotOp op);
  mlir::LogicalResult lowerWaitDots(WaitDotsOp op);
  mlir::LogicalResult lowerExtract(tile::ExtractOp op);
  mlir::LogicalResult lowerAllocateBarriers(AllocateBarriersOp op);
  mlir::LogicalResult lowerCopyBox(CopyBoxOp op);
  mlir::LogicalResult lowerAwait(AwaitOp op);
  mlir::LogicalResult lowerProducer(ProducerOp op);
  mlir::LogicalResult lowerRelease(ReleaseOp op);
  mlir::LogicalResult lowerCopyOut(CopyOutOp op);
  mlir::LogicalResult lowerCopy(CopyOp op);
  mlir::LogicalResult lowerScalarSplit(tile::SplitOp op);
  mlir::LogicalResult lowerDot(tile::DotOp op);
  mlir::LogicalResult lowerMap(tile::MapOp op);
  mlir::LogicalResult lowerInlineAsm(tile::InlineAsmOp op);
  mlir::LogicalResult lowerExternalCall(tile::ExternalCallOp op);
  mlir::LogicalResult lowerReduce(tile::ReduceOp op);
  mlir::LogicalResult lowerScan(tile::ScanOp op);
  mlir::LogicalResult lowerGather(tile::GatherOp op);
  mlir::LogicalResult lowerHistogram(tile::HistogramOp op);
  mlir::LogicalResult fail(mlir::Operation *op, const llvm::Twine &message);

  // Code at the start of the kernel, made once: what depends on the thread alone.
  mlir::Value atEntry(llvm::function_ref<mlir::Value()> make);
  mlir::Value threadPart(const LinearLayout &layout, unsigned axis);
  mlir::Value isZero(uint32_t bits);
  // The address of one of a ring of barriers.
  mlir::Value barrierAt(mlir::Value barriers, mlir::Value index);

  mlir::func::FuncOp kernel;
  mlir::ModuleOp module;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Operation *entryMarker = nullptr;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> values;
  mlir::Value thread, lane, warp, rank, number, firstThread, firstThreadOfBlock;
  std::map<std::vector<uint32_t>, mlir::Value> threadParts, holders;
  llvm::DenseMap<mlir::Attribute, mlir::Value> texts;
  mlir::Value record; // of checks; null: the kernel has none
  std::vector<AccessSite> sites;
  mlir::Value markRecord;                                     // null: the kernel has no marks
  mlir::Value writesMarks, markArea, markCapacity, markCount; // whether, where, how many and how often a thread writes
  std::vector<MarkPlace> markPlaces;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> heldByDots; // words that one under way reads
  llvm::DenseMap<mlir::Value, std::shared_ptr<class SharedRead>> readsOnDemand;
  llvm::DenseMap<mlir::Value, mlir::Value>
      phases;                     // of barriers whose waits do not name them: the address of a variable
  bool needsEntryBarrier = false; // what is prepared at the start is for all threads
  int64_t meeting = 0;            // the threads that meet in barriers; 0: all of the block
};

} // namespace nacre::simt
