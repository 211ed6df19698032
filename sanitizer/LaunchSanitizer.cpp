// See LaunchSanitizer.h. Arithmetic has a file of its own.
#include "sanitizer/LaunchSanitizer.h"
#include "compiler/language/meaning/Type.h"
#include "compiler/reference/MemoryMap.h"
#include "compiler/reference/Vectorized.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>

namespace nacre::sanitizer {

namespace {

constexpr size_t shownLanes = 4;

std::atomic<uint64_t> launches{0};

// Visits the accessed lanes by runs of neighbours in memory: visit(address of the first, how many, laneOf), where
// laneOf(i) is the place of the i-th in the tile.
template <typename Visit> void forEachRun(const AccessEvent &access, Visit visit) {
  if (access.rows) {
    for (int64_t row = 0; row < access.rowCount(); ++row) {
      auto [first, step, count] = access.rows[row];
      if (count > 0 && (step == access.size || count == 1))
        visit(first, count, [&](int64_t i) { return access.laneOf(row, i); });
      else
        for (int64_t lane = 0; lane < count; ++lane)
          visit(first + static_cast<uint64_t>(lane) * static_cast<uint64_t>(step), int64_t(1),
                [&](int64_t) { return access.laneOf(row, lane); });
    }
    return;
  }
  auto isEnabled = [&](int64_t lane) { return !access.mask || access.mask[lane]; };
  for (int64_t lane = 0; lane < access.elements;) {
    int64_t first = lane++;
    if (!isEnabled(first))
      continue;
    uint64_t begin = access.addresses[first];
    while (lane < access.elements && isEnabled(lane) &&
           access.addresses[lane] == begin + static_cast<uint64_t>(lane - first) * access.size)
      ++lane;
    visit(begin, lane - first, [&](int64_t i) { return first + i; });
  }
}

std::vector<ShadowedArea> areasOf(const LaunchFacts &facts) {
  std::vector<ShadowedArea> areas;
  for (const Array &array : facts.arrays)
    areas.push_back({array.begin, array.end});
  return areas;
}

// Whether all that is accessed lies in [begin, end).
bool staysWithin(const AccessEvent &access, uint64_t begin, uint64_t end) {
  if (end - begin < access.size)
    return false;
  // With the distance from the begin and the room that is left after it, the sign of either tells what is outside.
  uint64_t room = end - begin - access.size, outside = 0;
  if (access.rows) {
    for (int64_t row = 0; row < access.rowCount(); ++row) {
      auto [first, step, count] = access.rows[row];
      if (count <= 0)
        continue;
      if (count > 1 && static_cast<uint64_t>(std::abs(step)) > room) // the last lane may have come around
        return false;
      uint64_t from = first - begin, to = from + static_cast<uint64_t>(step) * static_cast<uint64_t>(count - 1);
      outside |= from | (room - from) | to | (room - to);
    }
    return !(outside >> 63);
  }
  const uint64_t *addresses = access.addresses;
  const uint8_t *mask = access.mask;
  int64_t count = access.elements;
  vectorized([&]() NACRE_LOOP {
    uint64_t seen = 0;
    if (!mask) {
      for (int64_t i = 0; i < count; ++i)
        seen |= (addresses[i] - begin) | (room - (addresses[i] - begin));
    } else {
      for (int64_t i = 0; i < count; ++i)
        seen |= ((addresses[i] - begin) | (room - (addresses[i] - begin))) & (uint64_t(0) - uint64_t(mask[i] != 0));
    }
    outside = seen;
  });
  return !(outside >> 63);
}

void noteLane(Finding &finding, int64_t lane, uint64_t address) {
  if (finding.laneCount++ == 0)
    finding.address = address;
  if (finding.lanes.size() < shownLanes)
    finding.lanes.push_back(lane);
}

std::array<uint32_t, 3> programOf(const ProgramPlace &program) { return {program.id[0], program.id[1], program.id[2]}; }

std::array<uint32_t, 3> programOf(uint32_t number, const uint32_t *grid) {
  return {number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]};
}

// Findings are ordered by their programs, so that which of the launch's threads came first does not show: less than 0
// for a before b.
int comparePrograms(const Finding &a, const Finding &b) {
  auto compare = [](const Party &x, const Party &y) {
    for (int axis = 2; axis >= 0; --axis)
      if (x.program[axis] != y.program[axis])
        return x.program[axis] < y.program[axis] ? -1 : 1;
    return 0;
  };
  if (a.other && b.other)
    if (int others = compare(*a.other, *b.other))
      return others;
  return compare(a.party, b.party);
}

bool isEarlier(const Finding &a, const Finding &b) {
  if (int programs = comparePrograms(a, b))
    return programs < 0;
  return std::tie(a.party.line, a.party.column, a.address, a.what) <
         std::tie(b.party.line, b.party.column, b.address, b.what);
}

bool isSamePlace(const Party &a, const Party &b) {
  return a.line == b.line && a.column == b.column && a.file == b.file;
}

// Whether they are told as one. Of a race it does not matter which of the two places is the lower program's.
bool isSame(const Finding &a, const Finding &b) {
  if (a.kind != b.kind || a.other.has_value() != b.other.has_value())
    return false;
  if (!a.other)
    return a.what == b.what && isSamePlace(a.party, b.party);
  return (isSamePlace(a.party, b.party) && isSamePlace(*a.other, *b.other)) ||
         (isSamePlace(a.party, *b.other) && isSamePlace(*a.other, b.party));
}

} // namespace

LaunchSanitizer::LaunchSanitizer(LaunchFacts given, uint32_t kinds, bool goesOn)
    : facts(std::move(given)), kinds(kinds), goesOn(goesOn), launch(++launches),
      shadow(uint64_t(facts.grid[0]) * facts.grid[1] * facts.grid[2],
             kinds & Races ? areasOf(facts) : std::vector<ShadowedArea>(), facts.mayOrder) {
  if (kinds & Uninitialized) {
    Unwritten::shared().refresh();
    unwritten = Unwritten::shared().areas();
  }
}

bool LaunchSanitizer::access(const AccessEvent &access) {
  if (kinds & Races) {
    struct Running {
      uint64_t launch = 0, program = 0;
    };
    thread_local Running running; // a thread runs one program after the other
    if (running.launch == launch && running.program != access.program.number)
      shadow.clocks.forget(static_cast<uint32_t>(running.program));
    running = {launch, access.program.number};
  }
  if (access.effects & AccessAcquires) {
    if (kinds & Races)
      synchronize(access);
    return true;
  }
  if ((kinds & Bounds) && !checkBounds(access)) {
    if (!goesOn)
      endAt(access.program.number);
    return false;
  }
  if (kinds & Uninitialized)
    checkWritten(access);
  if (kinds & Races) {
    checkRaces(access);
    if (access.effects & AccessReleases)
      synchronize(access);
  }
  return true;
}

bool LaunchSanitizer::told(const ToldEvent &event) {
  if ((kinds & Arithmetic) && event.kind == ToldKind::Arithmetic)
    checkArithmetic(event);
  return true;
}

Finding LaunchSanitizer::about(const AccessEvent &access, Kind kind, std::string what) const {
  Finding finding{kind, std::move(what), {}};
  finding.party = {access.name,
                   access.file,
                   access.line,
                   access.column,
                   (access.effects & AccessWrites) != 0,
                   (access.effects & AccessAtomic) != 0,
                   programOf(access.program)};
  finding.size = access.size;
  finding.type = Type::scalar(static_cast<ScalarKind>(access.kind)).str();
  finding.array = facts.arrayOf(access.argument);
  finding.shape.assign(access.shape.begin(), access.shape.end());
  finding.isMasked = access.isMasked();
  return finding;
}

uint64_t LaunchSanitizer::numberOf(const Party &party) const {
  return party.program[0] + uint64_t(facts.grid[0]) * (party.program[1] + uint64_t(facts.grid[1]) * party.program[2]);
}

void LaunchSanitizer::endAt(uint64_t program) {
  std::lock_guard<std::mutex> guard(lock);
  if (program < lastWanted)
    lastWanted = program;
  // Whether higher programs ran was chance.
  std::erase_if(found, [&](const Finding &finding) { return numberOf(finding.party) > lastWanted; });
  for (Finding &finding : found)
    finding.repeats = 0;
}

void LaunchSanitizer::add(Finding finding) {
  std::lock_guard<std::mutex> guard(lock);
  if (numberOf(finding.party) > lastWanted)
    return;
  auto same = std::find_if(found.begin(), found.end(), [&](const Finding &other) { return isSame(other, finding); });
  if (same != found.end()) {
    // How often two programs race is chance; a program's first fault is the one that it meets first.
    bool isRace = finding.kind == Races;
    if (isRace ? !isEarlier(finding, *same) : comparePrograms(finding, *same) >= 0) {
      same->repeats += !isRace && lastWanted == UINT64_MAX - 1;
      return;
    }
    finding.repeats = isRace ? 0 : same->repeats + 1;
    found.erase(same);
  }
  auto place = std::upper_bound(found.begin(), found.end(), finding, isEarlier);
  found.insert(place, std::move(finding));
}

bool LaunchSanitizer::checkBounds(const AccessEvent &access) {
  const Array *own = facts.arrayOf(access.argument);
  bool writes = access.effects & AccessWrites;
  bool isForbidden = own && own->isReadOnly && writes;
  if (own && own->isDense && !isForbidden && staysWithin(access, own->begin, own->end)) // nearly always
    return true;
  if (!own && access.argument != -2 && !facts.isComplete)
    return true; // it may be memory that the launch does not know
  ProcessMemory process;
  auto isAllowed = [&](uint64_t address, uint64_t bytes) {
    if (own)
      return !isForbidden && own->contains(address, bytes);
    return std::any_of(facts.arrays.begin(), facts.arrays.end(),
                       [&](const Array &array) { return array.contains(address, bytes); }) ||
           (access.argument == -2 && process.allows(address, bytes, writes));
  };
  bool isAnyRefused = false;
  forEachRun(access, [&](uint64_t address, int64_t lanes, auto) {
    isAnyRefused |= !isAllowed(address, static_cast<uint64_t>(lanes) * access.size);
  });
  if (!isAnyRefused)
    return true;
  // A run may be in several arrays one after the other.
  Finding finding = about(access, Bounds, isForbidden ? "read-only" : "out of bounds");
  access.forEachLane([&](int64_t lane, uint64_t address) {
    if (!isAllowed(address, access.size))
      noteLane(finding, lane, address);
  });
  if (finding.laneCount == 0)
    return true;
  if (!finding.array)
    finding.array = facts.nearest(finding.address);
  add(std::move(finding));
  return false;
}

void LaunchSanitizer::checkWritten(const AccessEvent &access) {
  if (unwritten.empty())
    return;
  std::optional<Finding> finding;
  Unwritten::Area *area = nullptr;
  bool reads = access.effects & AccessReads, writes = access.effects & AccessWrites;
  // The area that holds the address; null: none does.
  auto areaOf = [&](uint64_t address) -> Unwritten::Area * {
    if (area && address >= area->begin && address < area->end)
      return area;
    auto after = std::upper_bound(unwritten.begin(), unwritten.end(), address,
                                  [](uint64_t value, const auto &candidate) { return value < candidate->begin; });
    area = after == unwritten.begin() ? nullptr : std::prev(after)->get();
    return area && address < area->end ? area : nullptr;
  };
  auto isAnyUnwritten = [](const uint8_t *bytes, uint64_t count) {
    return count != 0 && (bytes[0] != 0 || std::memcmp(bytes, bytes + 1, count - 1) != 0);
  };
  forEachRun(access, [&](uint64_t address, int64_t lanes, auto laneOf) {
    for (int64_t lane = 0; lane < lanes;) {
      uint64_t at = address + static_cast<uint64_t>(lane) * access.size;
      Unwritten::Area *own = areaOf(at);
      if (!own) { // as far as the next one
        ++lane;
        continue;
      }
      uint64_t wanted = static_cast<uint64_t>(lanes - lane) * access.size, count = std::min(wanted, own->end - at);
      uint8_t *bytes = own->isUnwritten.data() + (at - own->begin);
      auto inside = static_cast<int64_t>((count + access.size - 1) / access.size);
      if (reads && isAnyUnwritten(bytes, count))
        for (int64_t i = 0; i < inside; ++i) {
          uint64_t from = static_cast<uint64_t>(i) * access.size;
          if (!isAnyUnwritten(bytes + from, std::min<uint64_t>(access.size, count - from)))
            continue;
          if (!finding)
            finding = about(access, Uninitialized, "read of what nobody wrote");
          noteLane(*finding, laneOf(lane + i), at + from);
        }
      if (writes)
        std::memset(bytes, 0, count);
      lane += inside;
    }
  });
  if (finding)
    add(std::move(*finding));
}

uint32_t LaunchSanitizer::siteOf(const AccessEvent &access) {
  // The compiled kernel's own texts: one address for one file.
  uint64_t place = uint64_t(access.line) << 32 | access.column << 5 | access.effects;
  struct Known {
    uint64_t launch = 0, place = 0;
    const char *file = nullptr;
    uint32_t number = 0;
  };
  thread_local std::array<Known, 16> known; // a kernel has few, and asks for them again and again
  Known &entry = known[(place ^ place >> 32 ^ place >> 5) % known.size()];
  if (entry.launch != launch || entry.place != place || entry.file != access.file)
    entry = {launch, place, access.file, newSite(access, place)};
  return entry.number;
}

uint32_t LaunchSanitizer::newSite(const AccessEvent &access, uint64_t place) {
  std::lock_guard<std::mutex> guard(lock);
  auto [entry, isNew] = siteNumbers.try_emplace({access.file, place}, uint32_t(sites.size()));
  if (isNew)
    sites.push_back(about(access, Races, ""));
  return entry->second;
}

void LaunchSanitizer::checkRaces(const AccessEvent &access) {
  auto program = static_cast<uint32_t>(access.program.number);
  constexpr uint32_t bits = Touch::atomicBit | Touch::writeBit;
  Touch touch{program + 1, shadow.clocks.now(program),
              siteOf(access) | (access.effects & AccessAtomic ? Touch::atomicBit : 0) |
                  (access.effects & AccessWrites ? Touch::writeBit : 0)};
  struct Found {
    ShadowMemory::Race race;
    uint64_t address; // the lowest
  };
  std::vector<Found> races; // one for each place and program
  {
    ShadowMemory::Cursor cursor(shadow);
    forEachRun(access, [&](uint64_t begin, int64_t lanes, auto) {
      cursor.access(begin, static_cast<uint64_t>(lanes) * access.size, touch,
                    [&](const ShadowMemory::Race &race, uint64_t at, uint64_t) {
                      auto isKnown = [&](const Found &known) {
                        return known.race.first.program == race.first.program &&
                               known.race.second.program == race.second.program &&
                               known.race.first.site == race.first.site && known.race.second.site == race.second.site;
                      };
                      auto known = std::find_if(races.begin(), races.end(), isKnown);
                      if (known == races.end())
                        races.push_back({race, at});
                      else
                        known->address = std::min(known->address, at);
                    });
    });
  }
  for (const auto &[race, address] : races) {
    Finding finding;
    {
      std::lock_guard<std::mutex> guard(lock);
      finding = sites[race.second.site & ~bits];
      finding.other = sites[race.first.site & ~bits].party;
    }
    finding.what = !race.first.writes()   ? "write after read"
                   : race.second.writes() ? "write after write"
                                          : "read after write";
    finding.party.program = programOf(race.second.program - 1, facts.grid);
    finding.other->program = programOf(race.first.program - 1, facts.grid);
    finding.address = address;
    if (!finding.array)
      finding.array = facts.nearest(address);
    // The element that the byte is of.
    if (finding.array && address >= finding.array->origin)
      finding.address -= (address - finding.array->origin) % finding.size;
    add(std::move(finding));
  }
}

void LaunchSanitizer::synchronize(const AccessEvent &access) {
  auto program = static_cast<uint32_t>(access.program.number);
  access.forEachLane([&](int64_t, uint64_t address) {
    if (access.effects & AccessAcquires)
      shadow.clocks.acquire(program, address);
    else
      shadow.clocks.release(program, address);
  });
}

} // namespace nacre::sanitizer
