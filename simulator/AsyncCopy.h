// Copies that run beside the warps: cp.async (AsyncCopy.cpp), bulk copies (BulkCopy.cpp) and tensor copies
// (TensorCopy.cpp).
#pragma once

#include "simulator/AtomicOps.h"
#include "simulator/Execute.h"
#include "simulator/Mbarriers.h"
#include "simulator/MemoryModifiers.h"

namespace nacre::simulator {

// An address operand of an instruction with several.
struct AddressOperand {
  Slot base;
  int64_t offset = 0;
  bool narrow = false;
  uint64_t of(const Warp &warp, unsigned lane) const {
    uint64_t value = narrow ? warp.at<uint32_t>(base)[lane] : warp.at<uint64_t>(base)[lane];
    value += static_cast<uint64_t>(offset);
    return narrow ? static_cast<uint32_t>(value) : value;
  }
};
inline AddressOperand addressOperand(Decoder &decoder, const Operand &operand, Space space) {
  AddressOperand made;
  uint8_t narrow;
  decoder.addressInto(operand, space, made.base, made.offset, narrow);
  made.narrow = narrow;
  return made;
}

// Where the bytes of a copy into shared memory are signalled, and for which blocks of the cluster.
struct CopyTarget {
  Block *block;
  uint32_t offset; // of the destination, in Block::shared
  MbarrierAt mbarrier;
};
// The blocks that a copy with a multicast mask goes to, or the one that the address names. Empty: reported.
std::vector<CopyTarget> copyTargets(Warp &warp, unsigned lane, uint64_t destination, uint32_t bytes, uint64_t mbarrier,
                                    bool multicast, uint32_t blocks, const char *what);
void trackCopyWrite(Warp &warp, unsigned lane, const CopyTarget &target, uint32_t offset, uint32_t bytes);
void trackCopyRead(Warp &warp, unsigned lane, const SharedRange &range, uint32_t bytes);

void decodeBulk(Decoder &decoder, bool reduces);                        // BulkCopy.cpp
void decodeTensorCopy(Decoder &decoder, bool reduces, bool prefetches); // TensorCopy.cpp
std::optional<std::pair<AtomicOperation, bool>> takeBulkReduction(Decoder &decoder);

} // namespace nacre::simulator
