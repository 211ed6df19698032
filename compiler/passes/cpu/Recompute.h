// May a value be computed elsewhere than where it stands? One question, which all of the lowering asks here.
//
//   a number, arange                  anywhere
//   a tile in memory                  as long as it is there
//   elementwise, or moving elements   where all that it reads may be
//   a load                            never by itself: whoever runs one elsewhere, or again, asks mayRun() of what it
//                                     reads and isUnchangedBetween() of memory; volatile loads stay
//
// What is in memory changes while a kernel is lowered, and answers with it: whoever changes it calls forget(). Scratch
// memory is kept for the readers of what may be computed anew, too (isComputedAnew).
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "llvm/ADT/DenseMap.h"

namespace nacre::cpu {

// Whether no operation after `from` and before `to`, which stands later in its block, writes memory or orders accesses.
bool isUnchangedBetween(mlir::Operation *from, mlir::Operation *to);

class Recompute {
public:
  using IsInMemory = std::function<bool(mlir::Value)>;
  explicit Recompute(IsInMemory isInMemory) : isInMemory(std::move(isInMemory)) {}

  // The value, by the code that is emitted now; no load runs.
  bool mayCompute(mlir::Value value);
  // The results of an elementwise operation, although they are in memory.
  bool mayComputeFrom(mlir::Operation *op);
  // The load, which runs no other one.
  bool mayRun(tile::LoadOp load);
  // Whether the operation gives indices, pointers or masks that may have lanes in closed form, which is better than
  // their copy in memory: they are computed anew where they are read, if they may be.
  bool isComputedAnew(mlir::Operation *op);

  void forget() { known.clear(); }

private:
  bool isMadeOfArange(mlir::Value value);

  IsInMemory isInMemory;
  llvm::DenseMap<mlir::Value, bool> known, madeOfArange;
};

} // namespace nacre::cpu
