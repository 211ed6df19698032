// Which host memory a kernel may touch, and the error of touching anything else.
#pragma once

#include "compiler/language/Diagnostic.h"
#include <cstdint>
#include <string>
#include <vector>

namespace nacre {

// Known arrays as address ranges [begin, end). Without one, accesses are not checked.
class MemoryMap {
public:
  struct Range {
    uint64_t begin, end;
    std::string name; // the argument's name, for messages
  };
  void add(uint64_t begin, uint64_t end, std::string name);
  // The range that holds all of [address, address + size), or null.
  const Range *find(uint64_t address, uint64_t size) const;
  // "16 bytes past the end of x", "8 bytes before y", or empty when nothing is near.
  std::string describe(uint64_t address) const;

private:
  std::vector<Range> ranges; // sorted by begin
};

// An access outside every known array: which access, lanes, program and address. The location is the kernel's line.
class MemoryFault : public CompileError {
public:
  MemoryFault(Diagnostic diagnostic, uint64_t address) : CompileError(std::move(diagnostic)), address(address) {}
  uint64_t address; // of the first lane at fault
};

} // namespace nacre
