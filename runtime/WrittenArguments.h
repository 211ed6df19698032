// Which arguments of a kernel it writes through: an array that may not be written is refused before the launch.
#pragma once

#include <cstdint>

namespace mlir {
class ModuleOp;
}

namespace nacre {

// Bit i: the kernel stores through its argument i (of the first 64). Only stores whose address comes from one argument for sure
// are counted; a pointer chosen at run time or made from a number is not followed.
uint64_t writtenArguments(mlir::ModuleOp module);

} // namespace nacre
