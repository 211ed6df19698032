// Tile IR from its text, for those who only look at it: a context of its own, with the dialects that tile IR is made
// of.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nacre::tile {

class TileText {
public:
  // Throws std::runtime_error when it cannot be read.
  explicit TileText(llvm::StringRef text);
  mlir::ModuleOp module() { return *parsed; }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> parsed;
};

} // namespace nacre::tile
