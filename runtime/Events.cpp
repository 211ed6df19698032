#include "runtime/Events.h"
#include <chrono>
#include <vector>

namespace nacre {

namespace {

using List = std::vector<std::shared_ptr<EventListener>>;

// Replaced as a whole when it changes: who tells an event goes through the one that it found.
std::atomic<std::shared_ptr<const List>> &listeners() {
  static auto *list = new std::atomic<std::shared_ptr<const List>>(std::make_shared<const List>());
  return *list;
}

template <typename Change> void change(Change change) {
  std::shared_ptr<const List> before = listeners().load();
  std::shared_ptr<const List> after;
  do {
    List copy = *before;
    change(copy);
    after = std::make_shared<const List>(std::move(copy));
  } while (!listeners().compare_exchange_weak(before, after));
  std::shared_ptr<const List> now;
  do { // until the interests are those of the list that stands: another thread may change it meanwhile
    now = listeners().load();
    uint32_t together = 0;
    for (const std::shared_ptr<EventListener> &listener : *now)
      together |= listener->interests;
    events::interests.store(together, std::memory_order_release);
  } while (listeners().load() != now);
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

Listeners::Listeners() : all(listeners().load()) {}
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
