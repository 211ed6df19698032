// See Recorder.h.
#include "viz/Recorder.h"
#include "runtime/launch/DevicePrint.h"
#include <algorithm>

namespace nacre::viz {

static constexpr uint64_t mostPrograms = 1 << 20; // with sums of their own
static constexpr uint64_t recordedPrograms = 1024;

Recorder::Recorder(const uint32_t (&grid)[3], uint64_t lanesKept) : lanesLeft(lanesKept), elementsLeft(lanesKept) {
  uint64_t count = uint64_t(grid[0]) * grid[1] * grid[2];
  step = std::max<uint64_t>(1, (count + recordedPrograms - 1) / recordedPrograms);
  programs.resize(std::min(count, mostPrograms));
}

void Recorder::passTime(uint64_t program) {
  uint64_t now = events::now();
  uint64_t &last = lastEvents.try_emplace(std::this_thread::get_id(), now).first->second;
  if (program < programs.size())
    programs[program].time += now - last;
  last = now;
}

uint32_t Recorder::siteOf(const AccessEvent &access) {
  auto [place, isNew] = siteNumbers.try_emplace(
      {access.file, uint64_t(access.line) << 32 | access.column << 5 | access.effects}, uint32_t(sites.size()));
  if (isNew)
    sites.push_back({access.name, access.file, access.line, access.column});
  return place->second;
}

bool Recorder::told(const ToldEvent &event) {
  if (event.kind != ToldKind::Value || !isRecorded(event.program.number))
    return true;
  RecordedValue value{event.program.number, event.subject.str(), event.file, event.line, event.column, 0, {}};
  const int64_t *shape = event.shapes;
  uint64_t kept = 0;
  for (uint32_t operand = 0; operand < event.count; ++operand) {
    uint32_t rank = event.kinds[operand] >> 8 & 0xFF;
    RecordedValue::Tile tile{{shape, shape + rank}, {}};
    shape += rank;
    int64_t elements = 1;
    for (int64_t extent : tile.shape)
      elements *= extent;
    for (int64_t i = 0; i < std::min(elements, keptElements); ++i)
      tile.first.push_back(elementAsNumber(event.kinds[operand], event.data[operand], i));
    kept += tile.first.size();
    value.tiles.push_back(std::move(tile));
  }
  std::lock_guard<RenewedLock> guard(lock);
  passTime(event.program.number);
  if (kept > elementsLeft) {
    ++leftOut;
    return true;
  }
  elementsLeft -= kept;
  if (event.program.number < programs.size())
    value.accessesBefore = programs[event.program.number].accesses;
  values.push_back(std::move(value));
  return true;
}

bool Recorder::access(const AccessEvent &access) {
  if (access.effects & AccessAcquires)
    return true;
  RecordedAccess kept{access.program.number,
                      access.name,
                      access.effects,
                      access.kind,
                      access.size,
                      access.argument,
                      {access.shape.begin(), access.shape.end()},
                      {},
                      {},
                      0};
  bool isKept = isRecorded(access.program.number);
  std::vector<uint64_t> lines;
  uint64_t enabled = 0;
  access.forEachLane([&](int64_t lane, uint64_t address) {
    ++enabled;
    lines.push_back(address / 64);
    if (isKept) {
      kept.addresses.push_back(address);
      kept.lanes.push_back(lane);
    }
  });
  std::sort(lines.begin(), lines.end());
  auto distinct = static_cast<uint64_t>(std::unique(lines.begin(), lines.end()) - lines.begin());
  if (kept.lanes.size() == static_cast<size_t>(access.elements))
    kept.lanes.clear();
  std::lock_guard<RenewedLock> guard(lock);
  passTime(access.program.number);
  kept.site = siteOf(access);
  Site &site = sites[kept.site];
  ++site.accesses;
  site.lanes += static_cast<uint64_t>(access.elements);
  site.enabled += enabled;
  site.bytes += enabled * access.size;
  site.cacheLines += distinct;
  if (access.program.number < programs.size()) {
    ProgramSums &sums = programs[access.program.number];
    if (sums.accesses++ == 0)
      order.push_back(access.program.number);
    sums.lanes += static_cast<uint64_t>(access.elements);
    sums.enabled += enabled;
    if (access.effects & AccessReads)
      sums.loaded += enabled * access.size;
    if (access.effects & AccessWrites)
      sums.stored += enabled * access.size;
  }
  if (!isKept)
    return true;
  if (enabled > lanesLeft) {
    ++leftOut;
    return true;
  }
  lanesLeft -= enabled;
  accesses.push_back(std::move(kept));
  return true;
}

} // namespace nacre::viz
