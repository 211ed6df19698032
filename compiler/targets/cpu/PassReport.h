// Watches a pipeline for the person who debugs it.
#pragma once

#include "mlir/Pass/PassManager.h"

namespace nacre::cpu {

// Prints the module to stderr after every pass that changed it, under a line with the pass's flag and its time; a pass
// that changed nothing gets its line alone.
void reportPasses(mlir::PassManager &passes);

} // namespace nacre::cpu
