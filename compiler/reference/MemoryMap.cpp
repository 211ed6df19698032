// See MemoryMap.h.
#include "compiler/reference/MemoryMap.h"
#include <algorithm>
#include <fstream>
#include <sstream>

using namespace nacre;

uint32_t MemoryMap::add(uint64_t begin, uint64_t end, std::string name) {
  return add(begin, end, std::move(name), begin);
}

uint32_t MemoryMap::add(uint64_t begin, uint64_t end, std::string name, uint64_t origin, bool isReadOnly) {
  auto place = std::upper_bound(ranges.begin(), ranges.end(), begin,
                                [](uint64_t value, const Range &range) { return value < range.begin; });
  auto number = static_cast<uint32_t>(ranges.size() + 1);
  ranges.insert(place, Range{begin, end, std::move(name), origin, number, isReadOnly});
  return number;
}

const MemoryMap::Range *MemoryMap::numbered(uint32_t number) const {
  for (const Range &range : ranges)
    if (range.number == number)
      return &range;
  return nullptr;
}

std::string MemoryMap::Range::describe(uint64_t address, uint64_t size) const {
  auto elements = static_cast<int64_t>(size);
  auto place = static_cast<int64_t>(address - origin), first = static_cast<int64_t>(begin - origin);
  int64_t count = (static_cast<int64_t>(end - origin) - first) / elements;
  std::string text = place % elements == 0 ? "element " + std::to_string(place / elements)
                                           : "the element at byte " + std::to_string(place);
  text += " of '" + name + "' (";
  if (count == 0)
    return text + "it has none)";
  return text + "valid: " + std::to_string(first / elements) + " to " + std::to_string(first / elements + count - 1) +
         ")";
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

bool ProcessMemory::allows(uint64_t address, uint64_t size, bool forWriting) {
  if (knows(address, size, forWriting))
    return true;
  areas = current();
  return knows(address, size, forWriting);
}

bool ProcessMemory::knows(uint64_t address, uint64_t size, bool forWriting) const {
  auto after = std::upper_bound(areas.begin(), areas.end(), address,
                                [](uint64_t value, const Area &area) { return value < area.begin; });
  if (after == areas.begin())
    return false;
  // An element may lie on both sides of where two areas meet.
  for (auto area = after - 1; area != areas.end() && area->begin <= address; ++area) {
    if (address >= area->end || (forWriting && !area->isWritable))
      return false;
    if (size <= area->end - address)
      return true;
    size -= area->end - address;
    address = area->end;
  }
  return false;
}

// Lines such as "7f2c1000-7f2c2000 rw-p ...".
std::vector<ProcessMemory::Area> ProcessMemory::current() {
  std::vector<Area> areas;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    uint64_t begin = 0, end = 0;
    char dash = 0;
    std::string rights;
    words >> std::hex >> begin >> dash >> end >> rights;
    if (rights.starts_with("r"))
      areas.push_back({begin, end, rights.size() > 1 && rights[1] == 'w'});
  }
  return areas;
}
