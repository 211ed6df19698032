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
std::array<void (*)(), 8> handlers;
std::atomic<int> handlerCount = 0;

void renewAll() {
  for (int i = 0, count = handlerCount.load(); i < count; ++i)
    handlers[i]();
}
} // namespace

void onFork(void (*renew)()) {
  static std::mutex lock; // never taken in the child's handler
  std::lock_guard<std::mutex> guard(lock);
  static const int registered = pthread_atfork(nullptr, nullptr, renewAll);
  if (registered != 0)
    throw std::runtime_error("cannot register a fork handler");
  int index = handlerCount.load();
  if (index == static_cast<int>(handlers.size()))
    throw std::runtime_error("too many fork handlers");
  handlers[index] = renew;
  handlerCount.store(index + 1);
}

} // namespace nacre
