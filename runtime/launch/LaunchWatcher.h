// Whoever watches a launch: what its programs access and tell, as it happens.
//
// Kernels tell only what they were compiled to tell (TargetOptions::watchAccesses, watchArithmetic). A watcher belongs
// to one launch; its functions are called on many threads at once, each program on one thread at a time.
#pragma once

#include "compiler/ir/tile/AccessEffects.h"
#include "compiler/ir/tile/KernelEvents.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace nacre {

// The program that tells something.
struct WatchedProgram {
  const uint32_t *id; // three
  uint64_t number;    // in the linearised grid, x fastest
};

// The elements of a tile that are about to be accessed or, with AccessAcquires, have been.
struct WatchedAccess {
  WatchedProgram program;
  const char *name; // "load"
  uint32_t effects; // AccessEffects
  uint32_t kind;    // ScalarKind of an element
  uint32_t size;    // of an element, in bytes
  int32_t argument; // of the kernel's, from 0 on; -1: any of them; -2: it may be other memory
  llvm::ArrayRef<int64_t> shape;
  int64_t elements;
  const uint64_t *addresses; // row-major
  const uint8_t *mask;       // bytes; null: every element
  const char *file;
  uint32_t line, column; // from 1 on; 0: not known
};

struct WatchedEvent {
  WatchedProgram program;
  EventHead head;
  uint32_t count;          // of operands
  const uint32_t *kinds;   // from the low byte: ScalarKind, rank, 1 for addresses
  const int64_t *shapes;   // the extents of all operands in turn
  const void *const *data; // the row-major elements of each
};

class LaunchWatcher {
public:
  virtual ~LaunchWatcher() = default;
  // False: this program goes no further; the others do.
  virtual bool access(const WatchedAccess &access) = 0;
  virtual bool event(const WatchedEvent &event) = 0;
  // No program but those that run is started any more.
  virtual bool isDone() const { return false; }
};

} // namespace nacre
