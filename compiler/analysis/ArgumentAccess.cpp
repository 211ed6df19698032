// See ArgumentAccess.h.
#include "compiler/analysis/ArgumentAccess.h"
#include "compiler/analysis/PointerRoots.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/IR/BuiltinOps.h"

namespace nacre {

ArgumentAccess argumentAccess(mlir::ModuleOp module) {
  ArgumentAccess access;
  auto wrote = [&](mlir::Value pointer) {
    PointerRoots roots = pointerRoots(pointer);
    access.maybeWritten |= roots.arguments;
    if (roots.isCertain())
      access.surelyWritten |= roots.arguments;
  };
  auto read = [&](mlir::Value pointer) { access.maybeRead |= pointerRoots(pointer).arguments; };
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
    } else if (mlir::isa<tile::DescriptorLoadOp, tile::DescriptorGatherOp>(operation)) {
      read(operation->getOperand(0));
    } else if (mlir::isa<tile::DescriptorStoreOp, tile::DescriptorScatterOp>(operation)) {
      wrote(operation->getOperand(0));
    } else if (mlir::isa<tile::DescriptorReduceOp>(operation)) {
      wrote(operation->getOperand(0));
      read(operation->getOperand(0));
    } else if (mlir::isa<tile::InlineAsmOp, tile::ExternalCallOp>(operation)) {
      for (mlir::Value operand : operation->getOperands())
        if (tile::isPointerLike(operand.getType())) {
          wrote(operand);
          read(operand);
          access.surelyWritten &= ~pointerRoots(operand).arguments;
        }
    }
  });
  return access;
}

} // namespace nacre
