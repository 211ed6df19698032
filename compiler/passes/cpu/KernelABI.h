// The calling convention of a compiled CPU kernel. The compiler emits code against this layout; the runtime calls it.
#pragma once

#include "compiler/ir/tile/ToldKind.h"
#include <cstdint>

namespace nacre {

// Shared by every thread of one launch unless said otherwise. The compiler addresses the fields by offset: append only.
struct KernelContext {
  uint32_t grid[3];  //  0
  uint32_t reserved; // 12
  void *scratch;     // 16: this thread's arena, 64-byte aligned, of the size the kernel's metadata asks for
  // 24: appends the formatted elements of one print to this program's output. `kinds[i]` packs, from the low byte:
  // element kind (ScalarKind), rank, 1 for addresses; `shape` holds the extents of all operands in turn; `data[i]`
  // points at the row-major elements.
  void (*print)(KernelContext *context, const uint32_t *programId, const char *prefix, uint32_t hex, uint32_t count,
                const uint32_t *kinds, const int64_t *shapes, const void *const *data);
  // 32: records a failed device_assert and does not return: it leaves the compiled code by longjmp to the runtime frame
  // that called the kernel (compiled code owns nothing that needs unwinding). Columns count from 1; 0 is none.
  void (*assertFailed)(KernelContext *context, const uint32_t *programId, const char *message, const char *file,
                       uint32_t line, uint32_t column);
  void *launch;      // 40: the runtime's own
  uint64_t launchId; // 48: differs for every launch of the process, and is never 0
  // 56: called once a round by loops that may be waiting for another program to write. May leave the kernel by longjmp.
  void (*waiting)(KernelContext *context);
  uint64_t (*clock)(KernelContext *context);     // 64: nanoseconds
  uint32_t (*processor)(KernelContext *context); // 72: the number of the core that asks
  // 80: called before an access by kernels that check theirs; null: nothing is known to check against. `addresses` and,
  // unless it is null, `mask` (bytes) hold an element for each of the tile's, row-major; `kind` (ScalarKind) and `size`
  // are those of what is accessed. `argument` counts the kernel's from 0; -1: any of them. Leaves the kernel by longjmp
  // when an element is outside. With accessInRows in `writes` (only of kernels that tell their accesses), `addresses`
  // holds an AccessRow for each of the tile's rows along the axis that is named there, and `mask` is null.
  void (*checkAccess)(KernelContext *context, const uint32_t *programId, const char *access, uint32_t writes,
                      uint32_t kind, uint32_t size, int32_t argument, uint32_t rank, const int64_t *shape,
                      const uint64_t *addresses, const uint8_t *mask, const char *file, uint32_t line, uint32_t column);
  // 88: tells the elements of tiles to whoever watches the launch; null: nobody does. Operands as print has them. May
  // leave the kernel by longjmp.
  void (*tell)(KernelContext *context, const uint32_t *programId, ToldKind kind, const char *subject, const char *file,
               uint32_t line, uint32_t column, uint32_t count, const uint32_t *kinds, const int64_t *shapes,
               const void *const *data);
  // 96: whether no other thread of the process runs atomics until this launch has ended, so that its own need no locked
  // instructions. Asked once before the first program of a range; from then on the launch has its turn among those with
  // atomics.
  uint32_t (*aloneWithAtomics)(KernelContext *context);
};

// args: one 8-byte slot an argument, in order: pointers, integers extended, floats as their bits (fp16/bf16 arguments
// come as fp32 bits). Runs the programs [begin, end) of the linearized grid (x fastest). Returns 0.
using KernelFunction = int32_t (*)(const uint64_t *args, uint64_t begin, uint64_t end, KernelContext *context);

} // namespace nacre
