// One pthread_atfork handler for everything registered and for all locks of the process.
#include "compiler/support/ForkSafety.h"
#include <array>
#include <pthread.h>
#include <stdexcept>
#include <thread>

namespace nacre {

// All locks of the process that were ever taken.
struct ProcessLocks {
  // Before a fork: takes all, also those that sections nest in any order, and sections that add to the list. Whoever
  // waits for one holds none of them.
  static void lockAll() {
    for (ProcessLock *awaited = nullptr;;) {
      if (awaited)
        awaited->mutex.lock();
      listLock.lock(); // from here on none is added
      ProcessLock *failed = nullptr;
      for (ProcessLock *each = first; each && !failed; each = each->next)
        if (each != awaited && !each->mutex.try_lock())
          failed = each;
      if (!failed)
        return;
      for (ProcessLock *each = first; each != failed; each = each->next)
        if (each != awaited)
          each->mutex.unlock();
      listLock.unlock();
      if (awaited)
        awaited->mutex.unlock();
      awaited = failed;
    }
  }
  // After it, in the parent and in the child.
  static void unlockAll() {
    for (ProcessLock *each = first; each; each = each->next)
      each->mutex.unlock();
    listLock.unlock();
  }
  static void add(ProcessLock &lock) {
    std::lock_guard<std::mutex> guard(listLock);
    if (lock.isKnown.load(std::memory_order_relaxed))
      return;
    lock.next = first;
    first = &lock;
    lock.isKnown.store(true, std::memory_order_release);
  }

private:
  static constinit std::mutex listLock;
  static constinit ProcessLock *first;
};
constinit std::mutex ProcessLocks::listLock;
constinit ProcessLock *ProcessLocks::first = nullptr;

namespace {

// A fixed table: the child must not allocate, and there are only a handful of users.
struct Handlers {
  std::array<void (*)(), 16> table;
  std::atomic<int> count = 0;

  void runAll() const {
    for (int i = 0, known = count.load(); i < known; ++i)
      table[i]();
  }
  void add(void (*handler)()) {
    int index = count.load();
    if (index == static_cast<int>(table.size()))
      throw std::runtime_error("too many fork handlers");
    table[index] = handler;
    count.store(index + 1);
  }
};
constinit Handlers inParent{}, inChild{};
constinit std::atomic<unsigned> forks{0};

// What is asked before a fork takes locks of its own: it comes first.
void prepare() {
  inParent.runAll();
  ProcessLocks::lockAll();
}
void continueInChild() {
  forks.fetch_add(1, std::memory_order_relaxed);
  ProcessLocks::unlockAll();
  inChild.runAll();
}

// Registered when the library is loaded: a handler that is registered within another one does not run at that fork.
[[maybe_unused]] const bool isRegistered = [] {
  if (pthread_atfork(prepare, ProcessLocks::unlockAll, continueInChild) != 0)
    throw std::runtime_error("cannot register a fork handler");
  return true;
}();

constinit ProcessLock handlersLock;

void add(Handlers &handlers, void (*handler)()) {
  std::lock_guard<ProcessLock> guard(handlersLock);
  handlers.add(handler);
}

} // namespace

void onFork(void (*renew)()) { add(inChild, renew); }
void beforeFork(void (*prepare)()) { add(inParent, prepare); }
unsigned forkCount() { return forks.load(std::memory_order_relaxed); }

void ProcessLock::makeKnown() { ProcessLocks::add(*this); }

void RenewedLock::renew() {
  unsigned current = 2 * forkCount();
  for (unsigned seen = generation.load(std::memory_order_acquire); seen != current;) {
    if (seen == current - 1) { // another thread of the child is at it
      std::this_thread::yield();
      seen = generation.load(std::memory_order_acquire);
    } else if (generation.compare_exchange_weak(seen, current - 1, std::memory_order_acquire)) {
      new (&mutex) std::mutex;
      generation.store(current, std::memory_order_release);
      return;
    }
  }
}

} // namespace nacre
