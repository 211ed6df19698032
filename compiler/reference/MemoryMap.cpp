#include "compiler/reference/MemoryMap.h"
#include <algorithm>

using namespace nacre;

void MemoryMap::add(uint64_t begin, uint64_t end, std::string name) {
  auto place = std::upper_bound(ranges.begin(), ranges.end(), begin,
                                [](uint64_t value, const Range &range) { return value < range.begin; });
  ranges.insert(place, Range{begin, end, std::move(name)});
}

const MemoryMap::Range *MemoryMap::find(uint64_t address, uint64_t size) const {
  // Views of one array may overlap, so every range that begins at or before the address is a candidate; the nearest
  // usually is it.
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](uint64_t value, const Range &range) { return value < range.begin; });
  while (after != ranges.begin()) {
    --after;
    if (address + size <= after->end && address + size >= address)
      return &*after;
  }
  return nullptr;
}

std::string MemoryMap::describe(uint64_t address) const {
  constexpr uint64_t near = 1 << 20;
  const Range *best = nullptr;
  uint64_t distance = near;
  for (const Range &range : ranges) {
    uint64_t gap = address >= range.end ? address - range.end : address < range.begin ? range.begin - address : 0;
    if (gap < distance) {
      distance = gap;
      best = &range;
    }
  }
  if (!best)
    return "";
  std::string bytes = distance == 0 ? "just " : std::to_string(distance) + (distance == 1 ? " byte " : " bytes ");
  if (address >= best->end)
    return bytes + "past the end of '" + best->name + "'";
  if (address < best->begin)
    return bytes + "before '" + best->name + "'";
  return "across the end of '" + best->name + "'";
}
