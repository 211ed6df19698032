// Addresses are followed backwards to the arguments they may come from. What cannot be followed (a pointer read from
// memory or made from a number, inline assembly, a function of a library) may be any of them.
#include "runtime/ArgumentAccess.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace nacre {

namespace {

struct Roots {
  uint64_t arguments = 0;
  bool isCertain = true; // one argument, and no other way for the address to come about
};

class Tracing {
public:
  Roots trace(mlir::Value pointer) {
    Roots roots;
    follow(pointer, roots);
    roots.isCertain &= (roots.arguments & (roots.arguments - 1)) == 0;
    return roots;
  }

private:
  void unknown(Roots &roots) {
    roots.arguments = ~uint64_t(0);
    roots.isCertain = false;
  }

  void follow(mlir::Value pointer, Roots &roots) {
    if (!visited.insert(pointer).second)
      return;
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(pointer))
      followArgument(argument, roots);
    else
      followResult(mlir::cast<mlir::OpResult>(pointer), roots);
  }

  void followArgument(mlir::BlockArgument argument, Roots &roots) {
    mlir::Operation *parent = argument.getOwner()->getParentOp();
    unsigned index = argument.getArgNumber();
    if (mlir::isa<mlir::func::FuncOp>(parent)) {
      if (index < 64)
        roots.arguments |= uint64_t(1) << index;
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
    } else {
      unknown(roots);
    }
  }

  void followResult(mlir::OpResult result, Roots &roots) {
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
    if (mlir::isa<mlir::ub::PoisonOp>(definition)) // never read
      return;
    bool isFollowed = false;
    bool isOpaque = mlir::isa<tile::LoadOp, tile::IntToPtrOp, tile::InlineAsmOp, tile::ExternalCallOp>(definition);
    if (!isOpaque && definition->getNumRegions() == 0)
      for (mlir::Value operand : definition->getOperands())
        if (tile::isPointerLike(operand.getType())) {
          follow(operand, roots);
          isFollowed = true;
        }
    if (!isFollowed)
      unknown(roots);
  }

  llvm::DenseSet<mlir::Value> visited;
};

} // namespace

ArgumentAccess argumentAccess(mlir::ModuleOp module) {
  ArgumentAccess access;
  auto wrote = [&](mlir::Value pointer) {
    Roots roots = Tracing().trace(pointer);
    access.maybeWritten |= roots.arguments;
    if (roots.isCertain)
      access.surelyWritten |= roots.arguments;
  };
  auto read = [&](mlir::Value pointer) { access.maybeRead |= Tracing().trace(pointer).arguments; };
  module.walk([&](mlir::Operation *operation) {
    if (auto load = mlir::dyn_cast<tile::LoadOp>(operation)) {
      read(load.getPointer());
    } else if (auto store = mlir::dyn_cast<tile::StoreOp>(operation)) {
      wrote(store.getPointer());
    } else if (auto atomic = mlir::dyn_cast<tile::AtomicRmwOp>(operation)) {
      wrote(atomic.getPointer());
      read(atomic.getPointer());
    } else if (auto exchange = mlir::dyn_cast<tile::AtomicCasOp>(operation)) {
      wrote(exchange.getPointer());
      read(exchange.getPointer());
    } else if (mlir::isa<tile::InlineAsmOp, tile::ExternalCallOp>(operation)) {
      for (mlir::Value operand : operation->getOperands())
        if (tile::isPointerLike(operand.getType())) {
          wrote(operand);
          read(operand);
          access.surelyWritten &= ~Tracing().trace(operand).arguments;
        }
    }
  });
  return access;
}

} // namespace nacre
