// After fork the child has one thread: pools have no workers, and a lock may be held by a thread that does not exist
// there. A plain std::mutex that the child may wait for is a fault. There are three ways out:
// - ProcessLock, for short sections: no fork happens while any thread is in one.
// - RenewedLock, for long ones: it is free in the child, where the owner must cope with work that was cut off.
// - onFork, for state that the child makes anew.
// What a child cannot ask for is asked before the fork.
#pragma once

#include <atomic>
#include <mutex>
#include <new>

namespace nacre {

// `renew` runs in every child, in the order of registration. It must only store to memory (no locks).
void onFork(void (*renew)());

// `prepare` runs in the parent before every fork, in the order of registration, in the thread that forks.
void beforeFork(void (*prepare)());

// A lock of an object that lives as long as the process. A fork waits until all of them are free, so that a child finds
// whole what they guard. A section under it must be short: it forks nothing, and waits for nothing that the thread that
// forks may hold (Python's lock, another thread's work).
class ProcessLock {
public:
  constexpr ProcessLock() = default;
  ProcessLock(const ProcessLock &) = delete;
  void lock() {
    if (!isKnown.load(std::memory_order_acquire)) [[unlikely]]
      makeKnown();
    mutex.lock();
  }
  bool try_lock() {
    if (!isKnown.load(std::memory_order_acquire)) [[unlikely]]
      makeKnown();
    return mutex.try_lock();
  }
  void unlock() { mutex.unlock(); }

private:
  friend struct ProcessLocks; // of the source
  void makeKnown();

  std::mutex mutex;
  std::atomic<bool> isKnown = false; // to the handler of forks
  ProcessLock *next = nullptr;       // among those that are
};

// How many forks lie between this process and the one that loaded the library. Asked by RenewedLock.
unsigned forkCount();

// A lock that may be held for long, by any object. A child finds it free, whoever held it in the parent.
class RenewedLock {
public:
  RenewedLock() : generation(2 * forkCount()) {}
  RenewedLock(const RenewedLock &) = delete;
  ~RenewedLock() { renewIfForked(); } // one that is held must not be destroyed
  void lock() {
    renewIfForked();
    mutex.lock();
  }
  bool try_lock() {
    renewIfForked();
    return mutex.try_lock();
  }
  void unlock() {
    // The thread that forks may have held it: in the child it is free already, unless it was taken there.
    if (generation.load(std::memory_order_relaxed) == 2 * forkCount())
      mutex.unlock();
  }

private:
  void renewIfForked() {
    if (generation.load(std::memory_order_acquire) != 2 * forkCount()) [[unlikely]]
      renew();
  }
  void renew();

  std::mutex mutex;
  std::atomic<unsigned> generation; // twice the number of forks that it knows of; one less while it is made anew
};

} // namespace nacre
