// The lowering of one kernel from tiles to loops over vectors; pass `lower-to-loops`.
//
// The kernel's blocks are walked in order. Scalar operations are translated at once. Tile operations that the Plan pins
// are collected into a group as long as they run over the same elements and none needs another's finished result; a
// group becomes one loop nest (Nest.h), evaluated element-wise on vectors. Everything else is emitted by itself. Tiles
// that outlive their loop live in scratch memory (cpu.scratch), from where they are computed to their last reader.
#pragma once

#include "compiler/analysis/AccessForm.h"
#include "compiler/passes/cpu/Emit.h"
#include "compiler/passes/cpu/Lanes.h"
#include "compiler/passes/cpu/Plan.h"
#include "compiler/passes/cpu/Recompute.h"
#include "compiler/passes/cpu/VectorTarget.h"

namespace nacre::cpu {

// A tile in scratch memory. Strides count elements.
struct Buffer {
  mlir::Value pointer;
  mlir::Type element;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides;

  mlir::Value at(Emit &b, llvm::ArrayRef<mlir::Value> index) const; // the element's address
  void layAlong(int axis);                                          // neighbours along the axis are side by side
};

// Rows of a product that are multiplied where they lie: a table of their addresses, and the bytes from a row to the one
// that the next iteration is likely to read, where that is known.
struct RowTable {
  mlir::Value addresses;
  mlir::Value ahead;
};

class Nest;

// What was decided of operations of a kernel while it was lowered, in words (PrintPlan.h).
using PlanNotes = llvm::DenseMap<mlir::Operation *, std::string>;

class Lowering {
public:
  // `notes`: null where nobody asks.
  Lowering(mlir::func::FuncOp kernel, const VectorTarget &target, PlanNotes *notes = nullptr);
  // Emits the replacement function after the kernel and returns it. Failure has been reported on the operation.
  mlir::FailureOr<mlir::func::FuncOp> run();
  // Whether it holds a loop that waits for memory to change: it then calls KernelContext::waiting.
  bool waits() const { return hasWaitingLoop; }

  // ---- Used by the nests and the standalone operations
  mlir::Value scalar(mlir::Value value) const;
  mlir::Value constantScalar(mlir::Attribute value, mlir::Type element); // as a register value
  // A whole tile in memory; it has been computed.
  const Buffer *buffer(mlir::Value value) const;
  Buffer allocate(mlir::RankedTensorType type, mlir::Block *owner);
  Buffer allocate(mlir::Type element, llvm::ArrayRef<int64_t> shape, mlir::Block *owner);
  // Scratch memory that keeps its contents from one program to the next on the same thread, though not across launches.
  mlir::Value allocateKept(int64_t bytes);
  // A load that later loops read again from the caller's memory, rather than from a copy; asked in such a loop.
  bool isReadAgain(tile::LoadOp load) const { return readAgain.contains(load) && done.contains(load); }
  // An i1, the same for the whole launch: the store writes more than the caches hold. Null for stores that never do.
  mlir::Value isStreaming(tile::StoreOp store);
  // Calls the function at this offset of the KernelContext, which comes first among its arguments; the result's value,
  // or null when `result` is.
  mlir::Value callContext(int64_t offset, llvm::ArrayRef<mlir::Value> arguments, mlir::Type result = nullptr);
  // The value is in memory from now on.
  void hold(mlir::Value value, const Buffer &buffer);
  // The allocated memory is not released as long as the value is to be read.
  void keepFor(mlir::Value value, mlir::Value pointer) { held[pointer].push_back(value); }
  mlir::LogicalResult fail(mlir::Operation *op, const llvm::Twine &message);
  // What is known along the axes of a value of the kernel.
  const AxisInfo &axisInfo(mlir::Value value) { return axisAnalysis().info(value); }
  // An address, or a number, taken apart by axis; null where it is no such sum.
  const AccessForm *accessForm(mlir::Value value) {
    if (!forms)
      forms.emplace(axisAnalysis());
    return forms->form(value);
  }
  // Whether the kernel multiplies tiles: what it reads is then planned with its products.
  bool multiplies();
  bool holdsAtomics();
  // The rows of neighbouring programs are interleaved (ProgramOrder.h): memory is accessed in long rows.
  bool takesTurns = false;

  // One elementwise operation on register values: all scalars, or all vectors of one width.
  mlir::Value elementwise(mlir::Operation *op, unsigned result, llvm::ArrayRef<mlir::Value> operands);
  // The combine region of a reduce or scan, on register values.
  llvm::SmallVector<mlir::Value> combine(mlir::Region &region, llvm::ArrayRef<mlir::Value> arguments);
  llvm::SmallVector<mlir::Value> combineLanes(mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments);
  // Writes the value, of any place in the plan, into `target`.
  void materialize(mlir::Value value, const Buffer &target);
  // The value's buffer; if it has none, a temporary one, filled now, that lasts for the operation being lowered.
  Buffer inMemory(mlir::Value value, mlir::Block *owner);

  Emit b;
  const VectorTarget target;
  Plan plan;
  IntegerFacts facts;
  Recompute recompute;
  llvm::DenseMap<mlir::Value, RowTable> rowTables; // of each cpu.rows that is read where it lies
  mlir::Value context;                             // the KernelContext
  mlir::Value programId[3];                        // i32
  mlir::Value gridSize[3];
  bool failed = false;

private:
  friend class Nest;
  AxisAnalysis &axisAnalysis() {
    if (!axes)
      axes.emplace(kernel);
    return *axes;
  }
  void lowerBlock(mlir::Block &block);
  void lowerScalar(mlir::Operation *op);
  void lowerStandalone(mlir::Operation *op);
  void lowerControl(mlir::Operation *op);
  void lowerFor(mlir::scf::ForOp op);
  void lowerIf(mlir::scf::IfOp op);
  void lowerWhile(mlir::scf::WhileOp op);
  // Moves the values a terminator hands over into the buffers that stand for the receiving values.
  void handOver(mlir::ValueRange values, llvm::ArrayRef<std::optional<Buffer>> targets, mlir::Block *from);

  void place(mlir::Value value, const Buffer &buffer); // it is in memory from now on, as somebody else keeps it
  void drop(mlir::Value value);                        // or not any more

  // Grouping
  // What a group does next: members that share one nest of loops, if any, whose lanes run along `lane`; then, where
  // `storeAxis` is there, the store after them by itself, along that axis.
  struct Step {
    llvm::ArrayRef<mlir::Operation *> together;
    int lane;
    std::optional<int> storeAxis;
  };
  // How a value is known to readers outside of the loops that compute it.
  enum class Kept { Not, InMemory, InPlace, ReadAgain };
  void note(mlir::Operation *op, const llvm::Twine &text);
  Step nextStep(llvm::ArrayRef<mlir::Operation *> rest);
  Kept keptAs(mlir::Value result, llvm::ArrayRef<mlir::Operation *> members, int lane);
  bool joins(mlir::Operation *op) const;
  bool readsPending(mlir::Value value, bool identity) const;
  void flush();
  void emitTogether(const Step &step);
  bool canWriteInPlace(mlir::BlockArgument argument, llvm::ArrayRef<mlir::Operation *> now);
  // The carried tile's memory, if the value may be written over it; from then on the old tile is gone.
  std::optional<Buffer> destinationInPlace(mlir::Value value, llvm::ArrayRef<mlir::Operation *> now);
  bool canReadAgain(mlir::Operation *op, int lane);
  bool readsOwnElement(mlir::Value tile) const;
  bool sharesLoopsWithStore(mlir::Operation *op) const;
  llvm::SmallSetVector<mlir::Operation *, 8> readersAnew(mlir::Value value, mlir::Block *block);
  bool isStillRead(mlir::Value value, mlir::Block *block);
  void releaseDead(mlir::Block *block);
  void releaseBlock(mlir::Block *block);

  // A store whose neighbours lie along `axis`, of a value that is computed along `lane` (Turned.cpp).
  void lowerTurnedStore(tile::StoreOp store, int lane, int axis);
  // Standalone operations (Multiply.cpp, Rearrange.cpp, Scan.cpp, Atomics.cpp, Effects.cpp)
  void lowerMultiply(mlir::Operation *op);
  void lowerScan(mlir::Operation *op);
  void lowerRearrangement(mlir::Operation *op);
  void lowerAtomic(mlir::Operation *op);
  void updateLocked(mlir::Operation *op, std::optional<Buffer> &old);
  void updateAlone(tile::AtomicRmwOp op, std::optional<Buffer> &old);
  void updateChosen(tile::AtomicRmwOp op, std::optional<Buffer> &old);
  bool isChosen(tile::AtomicRmwOp op);
  mlir::Value isAloneWithAtomics();
  void lowerPrint(mlir::Operation *op);
  void lowerTell(mlir::Operation *op);
  void lowerAssert(mlir::Operation *op);
  void lowerCheckAccess(mlir::Operation *op);
  // Calls the runtime unless `holds`, an i1 or a vector of them.
  void reportUnless(mlir::Operation *assertion, mlir::Value holds);
  // What runs on packs of elements (InlineCode.cpp)
  void lowerInlineAsm(mlir::Operation *op);
  void lowerExternalCall(mlir::Operation *op);
  void lowerMap(mlir::Operation *op);
  using PackBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<mlir::Value>)>;
  void lowerPacks(mlir::Operation *op, int64_t pack, PackBody body);
  mlir::Value scalarMemoryAccess(mlir::Operation *op);
  mlir::Value atomicElement(mlir::Operation *op, mlir::Value pointer, llvm::ArrayRef<mlir::Value> values);

  mlir::func::FuncOp kernel;
  mlir::func::FuncOp result;
  std::optional<AxisAnalysis> axes; // made when first asked for
  std::optional<AccessForms> forms;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> held; // memory -> the values that have lain there
  llvm::DenseMap<mlir::Value, std::pair<mlir::BlockArgument, Buffer>> destinations; // yielded value -> carried buffer
  llvm::DenseSet<mlir::Operation *> done;
  llvm::DenseSet<mlir::Operation *> readAgain;
  llvm::DenseMap<mlir::Operation *, mlir::Value> streaming;
  llvm::SmallVector<mlir::Operation *> group;

  mlir::Operation *frameAnchor = nullptr;               // what is the same for every program goes before it
  llvm::DenseMap<mlir::Block *, mlir::Block *> lowered; // a block of the kernel -> that of the loops
  std::optional<bool> hasAtomics, hasProducts;
  mlir::Value aloneWithAtomics; // an i1 of the frame
  bool hasWaitingLoop = false;
  PlanNotes *notes;
  int nestCount = 0; // groups' nests so far
  struct Allocation {
    mlir::Block *owner;
    mlir::Value pointer;
  };
  void release(const Allocation &allocation);
  llvm::SmallVector<Allocation> allocations;
};

} // namespace nacre::cpu
