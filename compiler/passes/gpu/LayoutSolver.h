// The layouts of a kernel's tiles, solved in a side table; assign-layouts commits the answer.
//
// Tiles that are cheap to compute from nothing but constants, aranges and scalars (index arithmetic, mostly) have no
// layout of their own: each user gets them in the layout that it wants, computed again. That is rematerialization, and
// it is decided before anything else (`isCloned`).
//
// All other tiles fall into groups that must share one layout: what elementwise operations, loops and branches, scans
// and accesses join. Between groups stand operations that turn one layout into another: shapes and reductions
// (relations). Groups are taken by weight, the heaviest first; each takes the layout of least cost among what its
// accesses ask for and what its relations to groups already decided give. Then what is left takes what its relations
// give, or a default where that costs less. A product with a plan (choose-dots) asks for the layout of its result as an
// access does. At last an access that its group's layout suits badly may leave the group, its value converted.
#pragma once

#include "compiler/passes/gpu/CandidateLayouts.h"

namespace nacre::simt {

class LayoutSolver {
public:
  LayoutSolver(mlir::func::FuncOp kernel, AxisAnalysis &analysis, const BlockShape &block);
  void solve();

  // Whether users get their own copies of the tile.
  bool isCloned(mlir::Value value);
  // Of a tile that is not cloned.
  const LinearLayout &layoutOf(mlir::Value value) { return *groups[groupOf(value)].layout; }
  // In which the operation works: its operands, but for those that may be in any layout.
  const LinearLayout *layoutOf(mlir::Operation *op);
  // Operands in any layout: of a product, of what goes through shared memory, of prints.
  static bool takesAnyLayout(mlir::OpOperand &operand);

  const BlockShape block;

private:
  // One operation between two groups: its operands are in the one, its results in the other.
  struct Relation {
    mlir::Operation *op;
    unsigned operands, results;
  };
  struct Group {
    mlir::RankedTensorType type;                                      // some tile of it
    llvm::SmallVector<std::pair<AccessDescription, double>> accesses; // with how often they run
    llvm::SmallVector<Relation> relations;
    llvm::SmallVector<std::pair<mlir::Operation *, double>> reductions;
    llvm::SmallVector<std::pair<LinearLayout, double>> products; // the layouts that their plans want
    llvm::SmallVector<std::pair<int64_t, double>> plainProducts; // without a plan: how deep they are
    int64_t pack = 1;
    double weight = 0;
    std::optional<LinearLayout> layout;
  };

  void collect(mlir::Operation *op);
  void collectCarried(mlir::Operation *op);
  unsigned nodeOf(mlir::Value value);
  unsigned nodeOf(mlir::Operation *op);
  void join(unsigned node, mlir::Value value); // unless it is no tile or cloned
  unsigned groupOf(mlir::Value value) { return find(nodeOf(value)); }
  unsigned find(unsigned node);
  void unite(unsigned left, unsigned right);
  double cost(const Group &group, const LinearLayout &layout);
  void choose(Group &group);
  void setAccessesApart();
  // What the other sides of the group's relations suggest, where they are decided.
  llvm::SmallVector<LinearLayout> suggestions(const Group &group);

  mlir::func::FuncOp kernel;
  AxisAnalysis &analysis;
  llvm::DenseMap<mlir::Value, bool> cloned;
  llvm::DenseMap<mlir::Value, unsigned> valueNodes;
  llvm::DenseMap<mlir::Operation *, unsigned> operationNodes;
  llvm::SmallVector<mlir::Operation *> ordered; // those of operationNodes, as in the program
  llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<mlir::RankedTensorType> types;
  llvm::SmallVector<Relation> relations;
  llvm::DenseMap<unsigned, Group> groups;
  llvm::DenseMap<mlir::Operation *, LinearLayout> apart; // accesses in layouts of their own
  unsigned newNode(mlir::Type type);
};

} // namespace nacre::simt
