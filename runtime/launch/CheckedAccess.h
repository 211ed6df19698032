// An access that a kernel checks before it makes it (debug=True), looked at with the arrays of the launch: the same
// answer and the same words on every device.
#pragma once

#include "runtime/launch/Launch.h"

namespace nacre {

struct CheckedAccess {
  const uint32_t *program;
  llvm::StringRef access; // "load"
  bool writes;
  uint32_t kind, size;                  // of an element: its ScalarKind, its bytes
  int32_t argument;                     // whose array it must be; negative: any
  const llvm::ArrayRef<int64_t> *shape; // null: a single element
  const uint64_t *addresses;            // one an element
  const uint8_t *mask;                  // null: all elements
  llvm::StringRef file;
  uint32_t line, column; // from 1 on; 0: not known
};

// The error, where an element lies outside of what it may touch.
std::optional<OutOfBoundsError> refusalOf(const CheckedAccess &access, const KnownArrays &arrays);

} // namespace nacre
