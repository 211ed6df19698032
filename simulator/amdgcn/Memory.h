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
  // `undefined`: the words of it that are, a bit each.
  bool store(Space space, unsigned lane, uint64_t address, const void *from, unsigned bytes, unsigned undefined);
  // The bytes themselves, for a read and a write at once.
  std::byte *atomic(Space space, unsigned lane, uint64_t address, unsigned bytes);
  bool defined() const { return undefinedWords == 0; } // of the last load
  bool defined(unsigned word) const { return !(undefinedWords >> word & 1); }
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
  unsigned undefinedWords = 0;
  Counter counter = LoadCounter;
  uint32_t tickets[CounterCount] = {};
  std::vector<std::pair<Space, uint64_t>> touched; // by lane
};

// The registers that an instruction stores, a row a word. An undefined word leaves those beside it defined: halves of a
// pair are spilled together, and the code may never read one of them.
struct StoredWords {
  uint32_t buffers[4][maxLanes];
  const uint32_t *rows[4] = {};
  uint64_t undefined[4] = {}; // lanes, by word

  // All of them together are tainted afterwards.
  void read(Wave &wave, const Instruction &instruction, unsigned operand, unsigned words);
  unsigned undefinedOf(unsigned lane) const;
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
