// Accesses of memory by a lane: bounds, initialization, races, and what a wave's access costs.
#pragma once

#include "simulator/amdgcn/Lanes.h"

namespace nacre::simulator::amdgcn {

enum class Space : uint8_t { Global, Lds, Scratch };

// One memory instruction of a wave. A handler makes one, moves the bytes of each lane, and ends.
class MemoryAccess {
public:
  MemoryAccess(Wave &wave, const Instruction &instruction, bool atomic = false)
      : wave(wave), instruction(instruction), isAtomic(atomic) {}
  // The counter on which the instruction is under way; a flat one has two.
  void useCounter(Counter counter);
  // Each returns false where the lane may not touch the bytes; then nothing is read or written.
  bool load(Space space, unsigned lane, uint64_t address, void *to, unsigned bytes);
  bool store(Space space, unsigned lane, uint64_t address, const void *from, unsigned bytes);
  // The bytes themselves, for a read and a write at once.
  std::byte *atomic(Space space, unsigned lane, uint64_t address, unsigned bytes);
  bool defined() const { return isDefined; } // of the last load
  // Counts cache lines or cycles of banks of what was touched.
  void count(unsigned bytesOfLane);
  // The instruction will write these registers.
  void owe(unsigned firstRegister, unsigned count);

private:
  std::byte *find(Space space, unsigned lane, uint64_t address, unsigned bytes, bool writes);
  void note(Space space, unsigned lane, uint64_t address, unsigned bytes, bool writes, bool changes = true);
  void noteWord(WordHistory &history, FindingKind kind, unsigned lane, uint8_t bytes, bool writes, bool changes);

  Wave &wave;
  const Instruction &instruction;
  bool isAtomic;
  bool isDefined = true;
  Counter counter = LoadCounter;
  uint32_t tickets[CounterCount] = {};
  std::vector<std::pair<Space, uint64_t>> touched; // by lane
};

// A flat address: which memory it means.
inline Space spaceOf(uint64_t &address) {
  if ((address & apertureMask) == ldsAperture)
    return address &= ~apertureMask, Space::Lds;
  if ((address & apertureMask) == scratchAperture)
    return address &= ~apertureMask, Space::Scratch;
  return Space::Global;
}

// Atomic operations on bits: T is uint32_t or uint64_t. `compare` is used by CompareSwap alone.
enum class AtomicKind : uint8_t {
  Add,
  Subtract,
  ReverseSubtract,
  SignedMinimum,
  UnsignedMinimum,
  SignedMaximum,
  UnsignedMaximum,
  And,
  Or,
  Xor,
  Increment,
  Decrement,
  Swap,
  CompareSwap,
  AddFloat,
  MinimumFloat,
  MaximumFloat,
  AddHalves,
  AddBfloats,
};
template <typename T> T atomicResult(AtomicKind kind, T old, T value, T compare);

} // namespace nacre::simulator::amdgcn
