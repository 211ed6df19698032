// Decides, before any loop is emitted, how each tile operation will be computed.
//
//   Virtual     never stored: recomputed, element by element, inside the loops of whatever reads it
//   Pinned      computed once, in the loop that stands at its place in the program; kept in registers for readers in
//               the same loop, written to scratch memory for later ones. Loads, and values worth computing once.
//   Standalone  emitted by itself, its operands and results in memory: products, scans, atomics, prints, ...
//   Deferred    a load that only feeds a packed operand of a product: read once, while that is packed
//
// A value is worth pinning when it is costly and would be computed more than once: it has several readers, is read
// inside a loop that it stands outside of, or is spread along an axis by a broadcast.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "llvm/ADT/DenseSet.h"

namespace nacre::cpu {

enum class Place { Scalar, Virtual, Pinned, Standalone, Deferred, Control };

class Plan {
public:
  explicit Plan(mlir::func::FuncOp kernel);

  Place place(mlir::Operation *op) const { return places.lookup(op); }
  // Not so inside of functions that combine elements, which are emitted as a whole.
  bool isPlanned(mlir::Operation *op) const { return places.contains(op); }
  // The value must be in memory as a whole, row-major and contiguous, once it is computed.
  bool isForced(mlir::Value value) const { return forced.contains(value); }

  // The operations that read `value`, looking through virtual and deferred ones, each as its ancestor in `block`.
  llvm::SmallSetVector<mlir::Operation *, 8> readers(mlir::Value value, mlir::Block *block) const;

private:
  void decide(mlir::Operation *op);
  bool feedsOnlyPacking(mlir::Operation *load) const;
  int cost(mlir::Value value) const;

  llvm::DenseMap<mlir::Operation *, Place> places;
  llvm::DenseSet<mlir::Value> forced;
  llvm::DenseSet<mlir::Value> kept; // read as a whole, however it lies
  llvm::DenseMap<mlir::Value, int> costs;
};

// True for operations computed element by element: arith, math, and the elementwise ones of the tile dialect.
bool isElementwise(mlir::Operation *op);
bool isTile(mlir::Value value);
// Whether a combine function's block branches or loops.
bool holdsControl(mlir::Block &block);
// Whether the operation gives elements of its operand new places and computes nothing.
bool movesElements(mlir::Operation *op);
// A reshape that only inserts or drops axes of extent 1.
bool isUnitReshape(tile::ReshapeOp op);

} // namespace nacre::cpu
