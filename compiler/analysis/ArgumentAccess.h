// Which arguments of a kernel it reads and writes through. An array that may not be written is refused before the
// launch; packages that reorder launches (torch.compile) ask what a kernel may touch.
#pragma once

#include <cstdint>

namespace mlir {
class ModuleOp;
}

namespace nacre {

// Bit i stands for argument i of the first 64.
struct ArgumentAccess {
  uint64_t surelyWritten = 0; // the address of a store comes from this argument and no other
  uint64_t maybeWritten = 0;  // no store can go elsewhere; all bits: a store may go anywhere
  uint64_t maybeRead = 0;     // no load can come from elsewhere
};

ArgumentAccess argumentAccess(mlir::ModuleOp module);

} // namespace nacre
