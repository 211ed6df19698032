// A function of a user's library, as kernels and their compiled code name it.
#pragma once

#include <string>

namespace nacre {

struct ExternalFunction {
  std::string library; // an absolute path
  std::string digest;  // of the library's content
  std::string symbol;  // in the library

  // What compiled code calls it: neither the kernel nor another library has a symbol of this name.
  std::string linkName() const { return "nacre.extern." + digest + "." + symbol; }
};

} // namespace nacre
