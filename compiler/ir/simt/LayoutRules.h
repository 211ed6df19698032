// The rules of layouts of the tile dialect's operations, as models of LayoutOpInterface.
#pragma once

namespace mlir {
class MLIRContext;
}

namespace nacre::simt {

// The tile dialect must be loaded.
void attachLayoutRules(mlir::MLIRContext *context);

} // namespace nacre::simt
