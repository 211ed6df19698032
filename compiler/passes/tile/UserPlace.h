// Where in a text of the user's an operation comes from.
#pragma once

#include "mlir/IR/Location.h"
#include <string>

namespace nacre {

struct UserPlace {
  std::string file;
  unsigned line = 0, column = 0; // from 1 on; 0: not known
};

// The innermost place in a text of the user's, which is that of the call where the operation is part of the standard
// library.
UserPlace userPlace(mlir::Location location);

} // namespace nacre
