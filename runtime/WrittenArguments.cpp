#include "runtime/WrittenArguments.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace nacre {

namespace {

// The argument of the kernel that a pointer comes from; none when there is more than one source, or none.
mlir::BlockArgument rootArgument(mlir::Value pointer) {
  while (true) {
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(pointer)) {
      mlir::Operation *parent = argument.getOwner()->getParentOp();
      if (mlir::isa<mlir::func::FuncOp>(parent))
        return argument;
      // Carried by a loop: a pointer that is moved along stays within its array.
      auto loop = mlir::dyn_cast<mlir::LoopLikeOpInterface>(parent);
      mlir::OpOperand *initial = loop ? loop.getTiedLoopInit(argument) : nullptr;
      if (!initial)
        return nullptr;
      pointer = initial->get();
      continue;
    }
    mlir::Operation *definition = pointer.getDefiningOp();
    mlir::Value source;
    for (mlir::Value operand : definition->getOperands()) {
      if (!tile::isPointerLike(operand.getType()))
        continue;
      if (source || definition->getNumRegions() != 0)
        return nullptr;
      source = operand;
    }
    if (!source || mlir::isa<tile::LoadOp>(definition)) // a pointer read from memory
      return nullptr;
    pointer = source;
  }
}

} // namespace

uint64_t writtenArguments(mlir::ModuleOp module) {
  uint64_t written = 0;
  auto addRoot = [&](mlir::Value pointer) {
    mlir::BlockArgument root = rootArgument(pointer);
    if (root && root.getArgNumber() < 64)
      written |= uint64_t(1) << root.getArgNumber();
  };
  module.walk([&](mlir::Operation *operation) {
    if (auto store = mlir::dyn_cast<tile::StoreOp>(operation))
      addRoot(store.getPointer());
    else if (auto atomic = mlir::dyn_cast<tile::AtomicRmwOp>(operation))
      addRoot(atomic.getPointer());
    else if (auto exchange = mlir::dyn_cast<tile::AtomicCasOp>(operation))
      addRoot(exchange.getPointer());
  });
  return written;
}

} // namespace nacre
