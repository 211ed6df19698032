#include "compiler/reference/AccessCheck.h"
#include "compiler/reference/Vectorized.h"
#include "llvm/Support/FormatVariadic.h"

using namespace nacre;

namespace {

// The multi-index of a lane, as "(3, 17)"; nothing for a scalar.
std::string laneName(llvm::ArrayRef<int64_t> shape, int64_t position) {
  llvm::SmallVector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; position /= shape[axis])
    index[axis] = position % shape[axis];
  std::string text = "(";
  for (size_t axis = 0; axis < index.size(); ++axis)
    text += (axis ? ", " : "") + std::to_string(index[axis]);
  return text + ")";
}
} // namespace

AccessCheck::AccessCheck(const MemoryMap &memory, const MemoryMap::Range *own, ProcessMemory *process, uint64_t size,
                         bool writes)
    : memory(memory), own(own), process(own ? nullptr : process), size(size), writes(writes),
      isForbidden(own && own->isReadOnly && writes), knownBegin(own ? own->begin : 1), knownEnd(own ? own->end : 0) {}

bool AccessCheck::isAllowed(uint64_t at, uint64_t bytes) {
  if (isForbidden)
    return false;
  if (at >= knownBegin && at <= knownEnd && bytes <= knownEnd - at)
    return true;
  if (own)
    return false;
  if (const MemoryMap::Range *range = memory.find(at, bytes)) {
    knownBegin = range->begin;
    knownEnd = range->end;
    return true;
  }
  if (!process)
    return false;
  return faults == 0 ? process->allows(at, bytes, writes) : process->knows(at, bytes, writes);
}

void AccessCheck::check(const uint64_t *addresses, const uint8_t *enabled, int64_t count) {
  if (count == 0)
    return;
  // One run of elements, one after the other, is looked at in one piece.
  bool isOneRun = true;
  vectorized([&]() NACRE_LOOP {
    uint64_t difference = 0;
    for (int64_t i = 0; i < count; ++i)
      difference |= addresses[i] - (addresses[0] + static_cast<uint64_t>(i) * size);
    if (enabled)
      for (int64_t i = 0; i < count; ++i)
        difference |= !enabled[i];
    isOneRun = difference == 0;
  });
  if (isOneRun && isAllowed(addresses[0], static_cast<uint64_t>(count) * size)) {
    position += count;
    return;
  }
  for (int64_t i = 0; i < count; ++i, ++position) {
    if ((enabled && !enabled[i]) || isAllowed(addresses[i], size))
      continue;
    if (faults++ == 0)
      address = addresses[i];
    if (lanes.size() < static_cast<size_t>(shownLanes))
      lanes.push_back(position);
  }
}

Diagnostic AccessCheck::diagnostic(llvm::StringRef access, Type element, const std::string &program,
                                   const llvm::ArrayRef<int64_t> *shape, bool isMasked) const {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = llvm::formatv("program {0}: {1} of {2} ", program, access, element.str()).str();
  if (isForbidden) {
    diagnostic.message += "to '" + own->name + "', which is a read-only array";
  } else if (own) {
    diagnostic.message += "out of bounds: " + own->describe(address, size);
  } else if (process) {
    bool isMapped = process->allows(address, size, /*forWriting=*/false);
    diagnostic.message += llvm::formatv("at address {0:x}, which is {1}", address,
                                        isMapped ? "read-only memory" : "no memory of this process");
  } else {
    std::string where = memory.describe(address);
    diagnostic.message += llvm::formatv("out of bounds at address {0:x}", address);
    if (!where.empty())
      diagnostic.message += ", " + where;
  }
  if (shape) {
    int64_t elements = 1;
    for (int64_t extent : *shape)
      elements *= extent;
    diagnostic.message += llvm::formatv("; {0} of {1} lanes, first ", faults, elements).str();
    for (size_t i = 0; i < lanes.size(); ++i)
      diagnostic.message += (i ? ", " : "") + laneName(*shape, lanes[i]);
  }
  if (!isForbidden)
    diagnostic.hint =
        isMasked ? "the mask lets these lanes through"
                 : "a mask (boundary_check, with a block pointer) keeps lanes out of memory that is not the array's";
  return diagnostic;
}
