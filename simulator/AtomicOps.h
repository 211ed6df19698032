// Operations that atomics, and bulk copies that reduce, apply to memory.
#pragma once

#include "simulator/Decoder.h"
#include "simulator/Machine.h"
#include <optional>

namespace nacre::simulator {

enum class AtomicOperation : uint8_t {
  Add,
  Minimum,
  Maximum,
  Increment,
  Decrement,
  And,
  Or,
  Xor,
  Exchange,
  CompareAndSwap
};

std::optional<AtomicOperation> takeAtomicOperation(Decoder &decoder);
// The new value of an element. `flush`: f32 subnormals become zero.
uint64_t atomicResult(AtomicOperation operation, ScalarType type, uint64_t old, uint64_t value, uint64_t compare,
                      bool flush);
std::mutex &atomicMutex(Warp &warp, uint64_t address);
void decodeReduceAsync(Decoder &decoder); // AsyncCopy.cpp
void decodeStoreAsync(Decoder &decoder);

} // namespace nacre::simulator
