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

} // namespace nacre::simt

#include "compiler/ir/simt/SimtInterfaces.h.inc"
