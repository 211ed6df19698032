// Machine code as text, for those who show it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nacre {

struct DisassembledInstruction {
  uint64_t address = 0; // in its section
  std::string file;     // of the source; empty: not known
  int line = 0;
  std::string text; // with the names of what it refers to: "callq expf"
};

struct DisassembledFunction {
  std::string name;
  std::vector<DisassembledInstruction> instructions;
};

} // namespace nacre
