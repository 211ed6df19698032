// What pipeline makes ahead in a loop: its loads, where they go, what is computed for them, which dots stay under way.
// When that is legal is said in Pipeline.h, and decided in `LoopPlan::make`. Nothing is changed here.
#pragma once

#include "compiler/passes/gpu/LateDots.h"
#include "compiler/passes/gpu/SharedAccesses.h"
#include "compiler/passes/gpu/SoftwarePipeline.h"
#include "llvm/ADT/SetVector.h"

namespace nacre::simt {

// One load, and where it goes.
struct Stage {
  mlir::Operation *load;
  SharedType tile; // one slot
  mlir::Value ring, barriers;
  mlir::Value released; // barriers of a ring that is filled by a producer: whoever reads a slot says so there
  // Of boxes: bytes that its copy announces to the barriers; 0: they are those of a load before it, whose copy
  // announces them and who is waited for.
  int64_t expected = 0;

  int64_t bytes() const {
    return tile.getLayout().getValue().count(Place::Offset) * elementBytes(tile.getElementType());
  }
};

// An operand in registers of a dot under way that is a slot's tile, perhaps with its axes exchanged: read from there
// part by part.
struct OperandInParts {
  DotOp dot;
  mlir::Operation *load;
  llvm::SmallVector<mlir::Operation *, 2> between; // changes of layout and of axes, from the dot on
  bool isExchanged = false;
};

// An operand in registers of a dot under way that is made from such tiles: read from the rings an iteration before its
// dot.
struct OperandAhead {
  DotOp dot;
  llvm::SetVector<mlir::Operation *> loads, operations; // what it is made from, in the order of the text
};

// The loads of a loop that are made ahead, and what is computed for them.
struct LoopPlan {
  mlir::scf::ForOp loop;
  llvm::SmallVector<Stage> stages;
  llvm::SetVector<mlir::Operation *> slice;      // operations of the body that make addresses, in the order of the text
  llvm::SetVector<unsigned> carried;             // carried values that these need
  std::optional<LateDots> lateDots;              // which take each other's results
  llvm::SmallVector<DotOp> dotsUnderWay;         // that may be waited for an iteration later
  llvm::SmallVector<OperandAhead> operandsAhead; // of these
  llvm::SmallVector<OperandInParts> operandsInParts;
  int64_t slots = 0;    // of a ring
  int64_t distance = 0; // iterations ahead
  bool hasWords = false, hasBoxes = false;

  static std::optional<LoopPlan> make(mlir::scf::ForOp loop, const SoftwarePipelineOptions &options);

private:
  bool addLoad(mlir::Operation *load, const SoftwarePipelineOptions &options);
  bool addSlice(mlir::Value value, llvm::SetVector<mlir::Operation *> &operations,
                llvm::SetVector<unsigned> &arguments);
  void findDotsUnderWay(const SoftwarePipelineOptions &options);
  std::optional<OperandAhead> operandAhead(DotOp dot);
  std::optional<OperandInParts> operandInParts(DotOp dot);
  int64_t bytesBesideRings() const;
};

// The write of the load's result, in this layout or another, into a tile that nothing else fills, where that is all
// that is done with the result: the ring takes the tile's place.
WriteOp onlyWrite(mlir::Operation *load);

} // namespace nacre::simt
