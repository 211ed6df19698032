// Which host memory a kernel may touch, and the error of touching anything else.
#pragma once

#include "compiler/language/meaning/Diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
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
    uint64_t origin;  // its element 0: a view may begin after its memory does
    uint32_t number;  // from 1 on, by which pointers made from it are known
    bool isReadOnly = false;
    // "element 64 of 'x' (valid: 0 to 63)", of elements of this size.
    std::string describe(uint64_t address, uint64_t size) const;
  };
  bool isComplete = true; // false: the kernel was given memory that is not here

  // Gives the range's number.
  uint32_t add(uint64_t begin, uint64_t end, std::string name);
  uint32_t add(uint64_t begin, uint64_t end, std::string name, uint64_t origin, bool isReadOnly = false);
  // Sorted by where they begin.
  llvm::ArrayRef<Range> all() const { return ranges; }
  // The range of this number, or null.
  const Range *numbered(uint32_t number) const;
  // The range that holds all of [address, address + size), or null.
  const Range *find(uint64_t address, uint64_t size) const;
  // "16 bytes past the end of x", "8 bytes before y", or empty when nothing is near.
  std::string describe(uint64_t address) const;

private:
  std::vector<Range> ranges; // sorted by begin
};

// The memory of this process as the system tells it, for addresses that no known array explains.
class ProcessMemory {
public:
  struct Area {
    uint64_t begin, end;
    bool isWritable;
  };
  // All that may be read, as the system tells it now.
  static std::vector<Area> current();
  // Whether all of [address, address + size) is there, and may be written to if that is asked.
  bool allows(uint64_t address, uint64_t size, bool forWriting);
  // The same by what `allows` saw last, without asking the system again.
  bool knows(uint64_t address, uint64_t size, bool forWriting) const;

private:
  std::vector<Area> areas; // sorted; of the last time that something was not found
};

// An access to what a kernel may not touch: which access, lanes, program and address. The location is the kernel's
// line.
class MemoryFault : public CompileError {
public:
  MemoryFault(Diagnostic diagnostic, uint64_t address) : CompileError(std::move(diagnostic)), address(address) {}
  uint64_t address; // of the first lane at fault
};

} // namespace nacre
