// The interfaces of SimtInterfaces.td, and what their methods give.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace nacre::simt {

// Where a value comes from.
struct Registers {
  unsigned operand = 0; // which operand
  uint32_t number = 0;  // which of its registers
};

struct ScratchUse {
  int64_t bytes = 0; // 0: none is used
  // The operation writes first, then all threads of the block meet, then it reads. Otherwise every warp uses bytes of
  // its own, and no barrier of the block stands within the operation.
  bool meetsWithin = true;
  // Depending on values, it may use nothing and have no barrier at all, not even the one before it.
  bool mayBeIdle = false;
};

} // namespace nacre::simt

#include "compiler/ir/simt/SimtInterfaces.h.inc"
