// Tiles whose memory is contiguous along another axis than the lanes of their loops.
//
// A load or a store whose neighbours in memory lie along another axis than the lanes (LaneAxis.cpp) would gather or
// scatter every element; instead squares of the tile are transposed in registers on their way to or from scratch
// memory, and both sides read and write whole vectors.
#pragma once

#include "compiler/passes/cpu/Nest.h"

namespace nacre::cpu {

// Transposes as many vectors of as many lanes, in registers.
void transposeSquare(Emit &b, llvm::SmallVectorImpl<mlir::Value> &vectors);

// Copies elements so that neighbours along `to` become neighbours in memory, where the nest runs its lanes along
// another axis, and innermost. Of the axis `to` `square` elements are taken at a time; those that do not fill a square
// one by one.
struct TurnedCopy {
  Lowering &lowering;
  mlir::Value source;                                         // what `evaluate` looks at
  mlir::Type element;                                         // that is written
  int from, to;                                               // axes of the tile
  int64_t square;                                             // a power of two, at most either extent and the steps
  std::function<Lanes(Nest &)> evaluate;                      // the elements at the nest's indices
  std::function<mlir::Value(llvm::ArrayRef<mlir::Value>)> at; // where the element at the indices is written
  mlir::Operation *member = nullptr;                          // a load that these loops run
  std::function<void(Nest &)> prepare = {};                   // what else the nest is told

  void emit();
};

// The axis along which the neighbours of a load or store lie, where the nest runs its lanes along another one and a
// detour through memory pays; else none. Legal for every load and store that is not volatile: the elements of one
// access are read and written in no promised order, and all are read before the first is written.
std::optional<int> turnedAxis(Nest &nest, mlir::Operation *access);
// Runs the load along the axis `from`, and leaves its elements in `target`, which lies along `to`.
void copyTurned(Lowering &lowering, tile::LoadOp load, const Buffer &target, int from, int to);

} // namespace nacre::cpu
