// See Unwritten.h.
#include "sanitizer/Unwritten.h"
#include <algorithm>

namespace nacre::sanitizer {

static uint8_t signature(uint64_t address) {
  uint64_t mixed = (address >> 3) * 0x9E3779B97F4A7C15u;
  mixed ^= mixed >> 29;
  mixed *= 0xBF58476D1CE4E5B9u;
  return static_cast<uint8_t>(mixed >> (8 * (address & 7)));
}

Unwritten &Unwritten::shared() {
  static auto *instance = new Unwritten;
  return *instance;
}

void Unwritten::add(uint64_t begin, uint64_t bytes) {
  if (bytes == 0)
    return;
  std::lock_guard<RenewedLock> guard(lock);
  auto next = known.lower_bound(begin);
  if (next != known.begin() && std::prev(next)->second->end > begin)
    --next;
  while (next != known.end() && next->first < begin + bytes)
    next = known.erase(next); // it was freed, and serves again
  auto area = std::make_shared<Area>(Area{begin, begin + bytes, std::vector<uint8_t>(bytes, 1)});
  auto *memory = reinterpret_cast<uint8_t *>(begin);
  for (uint64_t i = 0; i < bytes; ++i)
    memory[i] = signature(begin + i);
  known.emplace(begin, std::move(area));
}

void Unwritten::refresh() {
  std::lock_guard<RenewedLock> guard(lock);
  for (auto next = known.begin(); next != known.end();) {
    Area &area = *next->second;
    bool isAnyLeft = false;
    // A group of eight bytes that somebody wrote into counts as written: one byte alone may be what it was by chance.
    for (uint64_t group = area.begin & ~uint64_t(7); group < area.end; group += 8) {
      uint64_t first = std::max(group, area.begin), last = std::min(group + 8, area.end);
      bool isSame = true;
      for (uint64_t at = first; at < last; ++at)
        if (area.isUnwritten[at - area.begin])
          isSame &= *reinterpret_cast<const uint8_t *>(at) == signature(at);
      for (uint64_t at = first; at < last; ++at) {
        area.isUnwritten[at - area.begin] &= isSame;
        isAnyLeft |= area.isUnwritten[at - area.begin];
      }
    }
    next = isAnyLeft ? std::next(next) : known.erase(next);
  }
}

std::vector<std::shared_ptr<Unwritten::Area>> Unwritten::areas() {
  std::lock_guard<RenewedLock> guard(lock);
  std::vector<std::shared_ptr<Area>> all;
  for (const auto &[begin, area] : known)
    all.push_back(area);
  return all;
}

} // namespace nacre::sanitizer
