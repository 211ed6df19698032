// One pthread_atfork handler that calls everything registered.
#include "runtime/ForkSafety.h"
#include <array>
#include <atomic>
#include <mutex>
#include <pthread.h>
#include <stdexcept>

namespace nacre {

namespace {
// A fixed table: the child must not allocate, and there are only a handful of users.
struct Handlers {
  std::array<void (*)(), 8> table;
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

void add(Handlers &handlers, void (*handler)()) {
  static std::mutex lock; // never taken in the child's handler
  std::lock_guard<std::mutex> guard(lock);
  static const int registered = pthread_atfork([] { inParent.runAll(); }, nullptr, [] { inChild.runAll(); });
  if (registered != 0)
    throw std::runtime_error("cannot register a fork handler");
  handlers.add(handler);
}
} // namespace

static std::atomic<bool> isForgotten = false;
void forgetMemory() { isForgotten.store(true, std::memory_order_relaxed); }
bool memoryIsForgotten() { return isForgotten.load(std::memory_order_relaxed); }

void onFork(void (*renew)()) { add(inChild, renew); }
void beforeFork(void (*prepare)()) { add(inParent, prepare); }

} // namespace nacre
