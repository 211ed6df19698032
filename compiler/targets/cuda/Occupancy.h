// How many blocks of a kernel the assembler is asked to make room for on a multiprocessor. By itself it uses as many
// registers as it likes for products, and as few as it can for kernels that stream memory (StreamedRegisters.h).
//
// Only a hint: nothing depends on its being right. Where the assembler spills more than `mostSpilled` bytes for it, the
// kernel is assembled without.
#pragma once

#include "compiler/targets/cuda/Architectures.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nacre::cuda {

struct OccupancyHint {
  int64_t blocks = 1;
  int64_t mostSpilled = 0;
};

// What a kernel with a producer (simt.producer) does with the registers of its blocks: all threads begin with the same
// number of them; then the producer's threads give some to the others.
struct RoleRegisters {
  int64_t blocks = 1;                // that share a multiprocessor
  int64_t producer = 0, others = 0; // of a thread; 0: as at the beginning
};

class Occupancy {
public:
  // Of a kernel whose layouts are assigned, before its loops are pipelined.
  explicit Occupancy(mlir::func::FuncOp kernel);
  // None: the assembler does as it sees fit.
  // Of a kernel with a producer of so many threads beside its own.
  RoleRegisters ofRoles(int64_t threads, int64_t producerThreads, int64_t sharedBytes,
                        const Architecture &architecture) const;
  std::optional<OccupancyHint> hint(int64_t threads, int64_t sharedBytes, const Architecture &architecture) const;

private:
  bool fitsTwice(int64_t threads, int64_t sharedBytes, const Architecture &architecture) const;
  std::optional<int64_t> streamed, multiplied; // registers of a thread for tiles
};

} // namespace nacre::cuda
