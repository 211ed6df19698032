// Whether what one access touches is memory that the kernel may touch: its addresses, chunk by chunk, and the error.
#pragma once

#include "compiler/language/meaning/Type.h"
#include "compiler/reference/MemoryMap.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace nacre {

class AccessCheck {
public:
  // `own`: the array that the pointer comes from, or null where that is not known: then it may be any array, and with
  // `process` any memory of the process. `size`: of an element.
  AccessCheck(const MemoryMap &memory, const MemoryMap::Range *own, ProcessMemory *process, uint64_t size, bool writes);

  // The next elements, those that `enabled` (bytes, or null) lets through.
  void check(const uint64_t *addresses, const uint8_t *enabled, int64_t count);

  bool hasFailed() const { return faults != 0; }
  uint64_t firstAddress() const { return address; }
  // `access` and `element` name what was done, `program` who did it; `shape` is null where it was a single element.
  Diagnostic diagnostic(llvm::StringRef access, Type element, const std::string &program,
                        const llvm::ArrayRef<int64_t> *shape, bool isMasked) const;

private:
  bool isAllowed(uint64_t address, uint64_t bytes);

  const MemoryMap &memory;
  const MemoryMap::Range *own;
  ProcessMemory *process;
  uint64_t size;
  bool writes, isForbidden;
  uint64_t knownBegin, knownEnd; // the range found last
  int64_t position = 0, faults = 0;
  uint64_t address = 0; // of the first fault
  static constexpr int64_t shownLanes = 4;
  llvm::SmallVector<int64_t, shownLanes> lanes;
};

} // namespace nacre
