// A kernel given as tile IR instead of source: what must be known of it before it is compiled.
#pragma once

#include "compiler/language/meaning/Type.h"
#include <string>
#include <vector>

namespace nacre {

struct IRKernel {
  std::string name;
  std::vector<Type> arguments;     // scalars and pointers
  std::vector<int> divisibilities; // one an argument; 1: nothing is known
};

// Reads tile IR. Throws CompileError when it cannot be read or holds no function marked as a kernel.
IRKernel readIRKernel(const std::string &text, const std::string &fileName);

} // namespace nacre
