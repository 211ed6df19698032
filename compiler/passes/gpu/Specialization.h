// Which loops of a kernel get a producer, and what that has to run: the facts behind Specialize.h, which says when it
// is legal. `Specialization::make` decides it. Nothing is changed here.
#pragma once

#include "compiler/passes/gpu/LoopPlan.h"

namespace nacre::simt {

struct Specialization {
  std::vector<LoopPlan> plans; // in the order of the text
  // What the coordinates, bounds and branches are made of, outside of the plans' loops: operations, and arguments of
  // the loops around.
  llvm::SetVector<mlir::Operation *> operations;
  llvm::SetVector<mlir::Value> carried;
  std::string refusal; // why not; empty: it may be done
  bool pays = false;   // where no loop asks for it either, by the model in Specialize.h

  static Specialization make(mlir::func::FuncOp kernel, const SoftwarePipelineOptions &options, bool hasProducers);
  const LoopPlan *planOf(mlir::Operation *loop) const;
  // Whether one of the loops is the operation, or stands in it.
  bool concerns(mlir::Operation *op) const;

private:
  bool need(mlir::Value value);
  bool needAll(const LoopPlan &plan);
  bool fits(mlir::func::FuncOp kernel, int64_t sharedBytes);
  bool isWorthWhile(int64_t warps, int64_t sharedBytes) const;

  int64_t sharedInUse = 0; // of a block, rings and all that is in use beside them
};

// Whether two loops' loads can go through the same rings, one loop after the other.
bool mayShareRings(const LoopPlan &first, const LoopPlan &second);

} // namespace nacre::simt
