// Whether what is built now is called for single elements: the function of a map, a reduction or a scan. It has no time
// of its own, and nobody is told what it does.
#pragma once

#include "compiler/frontend/Generator.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace nacre {

inline bool isOfSingleElements(Generator &generator) {
  if (generator.isOnTiles())
    return true;
  mlir::Operation *owner = generator.ir().ops().getInsertionBlock()->getParentOp();
  while (owner && llvm::isa<mlir::scf::SCFDialect>(owner->getDialect()))
    owner = owner->getParentOp();
  return owner && !llvm::isa<mlir::FunctionOpInterface>(owner);
}

} // namespace nacre
