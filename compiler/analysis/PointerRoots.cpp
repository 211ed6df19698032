#include "compiler/analysis/PointerRoots.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace nacre {

namespace {

class Tracing {
public:
  PointerRoots trace(mlir::Value pointer) {
    PointerRoots roots;
    follow(pointer, roots);
    return roots;
  }

private:
  void unknown(PointerRoots &roots) {
    roots.arguments = ~uint64_t(0);
    roots.isKnown = false;
  }

  void follow(mlir::Value pointer, PointerRoots &roots) {
    if (!visited.insert(pointer).second)
      return;
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(pointer))
      followArgument(argument, roots);
    else
      followResult(mlir::cast<mlir::OpResult>(pointer), roots);
  }

  void followArgument(mlir::BlockArgument argument, PointerRoots &roots) {
    mlir::Operation *parent = argument.getOwner()->getParentOp();
    unsigned index = argument.getArgNumber();
    if (auto function = mlir::dyn_cast<mlir::func::FuncOp>(parent)) {
      // Counted as the calling convention does; of a descriptor it is the base, which comes first.
      unsigned slot = 0;
      for (unsigned before = 0; before < index; ++before)
        slot += tile::argumentSlots(function, before);
      if (slot < 64)
        roots.arguments |= uint64_t(1) << slot;
      else
        unknown(roots);
    } else if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(parent)) {
      follow(loop.getInitArgs()[index - 1], roots); // the first is the loop's index
      follow(loop.getYieldedValues()[index - 1], roots);
    } else if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getBeforeBody()) {
        follow(loop.getInits()[index], roots);
        follow(loop.getYieldOp()->getOperand(index), roots);
      } else {
        follow(loop.getConditionOp().getArgs()[index], roots);
      }
    } else if (auto map = mlir::dyn_cast<tile::MapOp>(parent)) {
      follow(map.getOperands()[index / map.getPack()], roots);
    } else if (mlir::isa<tile::ReduceOp, tile::ScanOp>(parent)) {
      followCombined(parent, index % parent->getNumOperands(), roots);
    } else {
      unknown(roots);
    }
  }

  // What a reduction or a scan combines: elements of its operand, and what its function made of such.
  void followCombined(mlir::Operation *combination, unsigned index, PointerRoots &roots) {
    follow(combination->getOperand(index), roots);
    follow(combination->getRegion(0).front().getTerminator()->getOperand(index), roots);
  }

  void followResult(mlir::OpResult result, PointerRoots &roots) {
    mlir::Operation *definition = result.getOwner();
    unsigned index = result.getResultNumber();
    if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(definition)) {
      follow(loop.getInitArgs()[index], roots);
      return follow(loop.getYieldedValues()[index], roots);
    }
    if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(definition))
      return follow(loop.getConditionOp().getArgs()[index], roots);
    if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(definition)) {
      follow(branch.thenYield().getOperand(index), roots);
      return follow(branch.elseYield().getOperand(index), roots);
    }
    if (mlir::isa<tile::ReduceOp, tile::ScanOp>(definition))
      return followCombined(definition, index, roots);
    if (mlir::isa<mlir::ub::PoisonOp>(definition)) // never read
      return;
    bool isFollowed = false;
    bool isOpaque = mlir::isa<tile::LoadOp, tile::IntToPtrOp, tile::InlineAsmOp, tile::ExternalCallOp>(definition);
    if (!isOpaque && definition->getNumRegions() == 0)
      for (mlir::Value operand : definition->getOperands())
        if (tile::isPointerLike(operand.getType()) || mlir::isa<tile::DescriptorType>(operand.getType())) {
          follow(operand, roots);
          isFollowed = true;
        }
    if (!isFollowed)
      unknown(roots);
  }

  llvm::DenseSet<mlir::Value> visited;
};

} // namespace

PointerRoots pointerRoots(mlir::Value pointer) { return Tracing().trace(pointer); }

} // namespace nacre
