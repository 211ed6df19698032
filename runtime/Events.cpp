#include "runtime/Events.h"
#include "compiler/support/ForkSafety.h"
#include <chrono>
#include <vector>

namespace nacre {

namespace {

using List = std::vector<std::shared_ptr<EventListener>>;

ProcessLock listLock;

// Replaced as a whole when it changes: who tells an event goes through the one that it found. With listLock held.
std::shared_ptr<const List> &list() {
  static auto *all = new auto(std::make_shared<const List>());
  return *all;
}

std::shared_ptr<const List> listeners() {
  std::lock_guard<ProcessLock> guard(listLock);
  return list();
}

template <typename Change> void change(Change change) {
  std::shared_ptr<const List> before; // goes when the lock is free: listeners may be destroyed with it
  std::lock_guard<ProcessLock> guard(listLock);
  List copy = *list();
  change(copy);
  uint32_t together = 0;
  for (const std::shared_ptr<EventListener> &listener : copy)
    together |= listener->interests;
  before = std::exchange(list(), std::make_shared<const List>(std::move(copy)));
  events::interests.store(together, std::memory_order_release);
}

} // namespace

void addListener(std::shared_ptr<EventListener> listener) {
  change([&](List &list) { list.push_back(listener); });
}

void removeListener(const EventListener &listener) {
  change([&](List &list) { std::erase_if(list, [&](const auto &entry) { return entry.get() == &listener; }); });
}

namespace events {

std::atomic<uint32_t> interests = 0;
std::atomic<uint32_t> sampleInterval = 1000;

Listeners::Listeners() : all(listeners()) {}
Listeners::~Listeners() = default;

void Listeners::tell(EventInterest interest, Tell tell) const {
  for (const std::shared_ptr<EventListener> &listener : *all)
    if (listener->interests & interest)
      tell(*listener);
}

void Listeners::tellReversed(EventInterest interest, Tell tell) const {
  for (auto listener = all->rbegin(); listener != all->rend(); ++listener)
    if ((*listener)->interests & interest)
      tell(**listener);
}

uint64_t nextLaunch() {
  static std::atomic<uint64_t> launches{0};
  return ++launches;
}

uint64_t threadNumber() {
  static std::atomic<uint64_t> threads{0};
  thread_local uint64_t number = threads++;
  return number;
}

uint64_t now() {
  auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

} // namespace events
} // namespace nacre
