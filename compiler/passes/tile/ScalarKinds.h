// The language's number for an element type, as the runtime takes it.
#pragma once

#include "mlir/IR/Types.h"
#include <cstdint>

namespace nacre {

// A value of nacre::ScalarKind; `isSigned` says how to read an integer. Pointers count as unsigned 64-bit integers.
uint8_t scalarKindOf(mlir::Type element, bool isSigned);

} // namespace nacre
