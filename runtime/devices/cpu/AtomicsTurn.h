// The turn of a launch among those of the process whose kernels have atomics.
//
// A locked instruction costs ten plain ones. A launch that one thread runs, while no other launch with atomics runs,
// needs none: its turn is `alone`. Launches with atomics that begin meanwhile wait for its end. Any number of launches
// that are not alone run concurrently. A launch whose programs wait for memory to change is never alone, so an alone
// launch always ends. If others are running, a launch falls back to locked atomics instead of waiting.
//
// Other processes run kernels on the same device: none is alone while this one has memory that it shares with another.
// Asking the system for that takes long, so only launches of kernels whose last one took much longer ask.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace nacre::cpu {

class AtomicsTurn {
public:
  AtomicsTurn() = default;
  ~AtomicsTurn();
  AtomicsTurn(const AtomicsTurn &) = delete;

  // Takes the launch's turn, if it has none yet; whether it is alone. `mayBeAlone`: the calling thread runs all of it,
  // and none of its programs waits. `lasted`: nanoseconds of the kernel's last turn with locks, kept for the next;
  // it asks for memory that is shared from `longEnough` on. From any of the launch's threads.
  bool take(bool mayBeAlone, std::atomic<uint64_t> &lasted, uint64_t longEnough);

private:
  enum class Held { Nothing, Shared, Alone, Nested };
  std::atomic<Held> held = Held::Nothing;
  std::atomic<uint64_t> *lasted = nullptr;
  uint64_t least = 0;
  std::chrono::steady_clock::time_point begin;
  std::mutex lock; // of those who take
};

} // namespace nacre::cpu
