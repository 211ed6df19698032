// See LaunchSanitizer.h. Arithmetic has a file of its own.
#include "sanitizer/LaunchSanitizer.h"
#include "compiler/language/meaning/Type.h"
#include "compiler/reference/MemoryMap.h"
#include "compiler/reference/Vectorised.h"
#include <algorithm>

namespace nacre::sanitizer {

namespace {

constexpr size_t shownLanes = 4;

// Visits the lanes that the mask lets through.
template <typename Visit> void forEachLane(const AccessEvent &access, Visit visit) {
  for (int64_t lane = 0; lane < access.elements; ++lane)
    if (!access.mask || access.mask[lane])
      visit(lane, access.addresses[lane]);
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

// By program, so that which of the launch's threads came first does not show.
bool isEarlier(const Finding &a, const Finding &b) {
  auto before = [](const Party &x, const Party &y) {
    return std::lexicographical_compare(x.program.rbegin(), x.program.rend(), y.program.rbegin(), y.program.rend());
  };
  if (before(a.party, b.party) || before(b.party, a.party))
    return before(a.party, b.party);
  return b.other && (!a.other || before(*a.other, *b.other));
}

} // namespace

LaunchSanitizer::LaunchSanitizer(LaunchFacts given, uint32_t kinds, bool goesOn)
    : facts(std::move(given)), kinds(kinds), goesOn(goesOn),
      shadow(uint64_t(facts.grid[0]) * facts.grid[1] * facts.grid[2]) {
  if (kinds & Uninitialised) {
    Unwritten::shared().refresh();
    unwritten = Unwritten::shared().areas();
  }
}

bool LaunchSanitizer::access(const AccessEvent &access) {
  if (kinds & Races) {
    struct Running {
      const LaunchSanitizer *launch = nullptr;
      uint64_t program = 0;
    };
    thread_local Running running; // a thread runs one program after the other
    if (running.launch == this && running.program != access.program.number)
      shadow.clocks.forget(static_cast<uint32_t>(running.program));
    running = {this, access.program.number};
  }
  if (access.effects & AccessAcquires) {
    if (kinds & Races)
      synchronise(access);
    return true;
  }
  if ((kinds & Bounds) && !checkBounds(access)) {
    isBroken = true;
    return false;
  }
  if (kinds & Uninitialised)
    checkWritten(access);
  if (kinds & Races) {
    checkRaces(access);
    if (access.effects & AccessReleases)
      synchronise(access);
  }
  return true;
}

bool LaunchSanitizer::told(const ToldEvent &event) {
  if ((kinds & Arithmetic) && event.kind == "arithmetic")
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
  finding.isMasked = access.mask != nullptr;
  return finding;
}

void LaunchSanitizer::add(Finding finding) {
  std::lock_guard<std::mutex> guard(lock);
  auto isSame = [&](const Finding &other) {
    auto samePlace = [](const Party &a, const Party &b) {
      return a.line == b.line && a.column == b.column && a.file == b.file;
    };
    return other.kind == finding.kind && other.what == finding.what && samePlace(other.party, finding.party) &&
           other.other.has_value() == finding.other.has_value() &&
           (!other.other || samePlace(*other.other, *finding.other));
  };
  auto same = std::find_if(found.begin(), found.end(), isSame);
  if (same != found.end()) {
    if (!isEarlier(finding, *same)) {
      ++same->repeats;
      return;
    }
    finding.repeats = same->repeats + 1;
    found.erase(same);
  }
  auto place = std::upper_bound(found.begin(), found.end(), finding, isEarlier);
  found.insert(place, std::move(finding));
}

bool LaunchSanitizer::checkBounds(const AccessEvent &access) {
  const Array *own = facts.arrayOf(access.argument);
  bool writes = access.effects & AccessWrites;
  bool isForbidden = own && own->isReadOnly && writes;
  if (own && own->isDense && !isForbidden) { // nearly always
    // With the distance from the begin and the room that is left after it, the sign of either tells what is outside.
    uint64_t begin = own->begin, room = own->end - own->begin - access.size;
    const uint64_t *addresses = access.addresses;
    const uint8_t *mask = access.mask;
    int64_t count = access.elements;
    uint64_t outside = own->end - own->begin < access.size ? UINT64_MAX : 0;
    if (outside == 0)
      vectorised([&]() NACRE_LOOP {
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
    if (!(outside >> 63))
      return true;
  }
  if (!own && access.argument != -2 && !facts.isComplete)
    return true; // it may be memory that the launch does not know
  Finding finding = about(access, Bounds, isForbidden ? "read-only" : "out of bounds");
  ProcessMemory process;
  forEachLane(access, [&](int64_t lane, uint64_t address) {
    bool isAllowed = !isForbidden;
    if (own)
      isAllowed &= own->contains(address, access.size);
    else
      isAllowed = std::any_of(facts.arrays.begin(), facts.arrays.end(),
                              [&](const Array &array) { return array.contains(address, access.size); }) ||
                  (access.argument == -2 && process.allows(address, access.size, writes));
    if (!isAllowed)
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
  Finding finding = about(access, Uninitialised, "read of what nobody wrote");
  Unwritten::Area *area = nullptr;
  forEachLane(access, [&](int64_t lane, uint64_t address) {
    if (!area || address < area->begin || address >= area->end) {
      auto after = std::upper_bound(unwritten.begin(), unwritten.end(), address,
                                    [](uint64_t value, const auto &candidate) { return value < candidate->begin; });
      area = after == unwritten.begin() ? nullptr : std::prev(after)->get();
      if (!area || address >= area->end) {
        area = nullptr;
        return;
      }
    }
    auto *bytes = area->isUnwritten.data() + (address - area->begin);
    uint64_t count = std::min<uint64_t>(access.size, area->end - address);
    if ((access.effects & AccessReads) && std::any_of(bytes, bytes + count, [](uint8_t byte) { return byte != 0; }))
      noteLane(finding, lane, address);
    if (access.effects & AccessWrites)
      std::fill(bytes, bytes + count, 0);
  });
  if (finding.laneCount != 0)
    add(std::move(finding));
}

uint32_t LaunchSanitizer::siteOf(const AccessEvent &access) {
  std::lock_guard<std::mutex> guard(lock);
  // The compiled kernel's own texts: one address for one file.
  auto [place, isNew] = siteNumbers.try_emplace(
      {access.file, uint64_t(access.line) << 32 | access.column << 5 | access.effects}, uint32_t(sites.size()));
  if (isNew)
    sites.push_back(about(access, Races, "").party);
  return place->second;
}

void LaunchSanitizer::checkRaces(const AccessEvent &access) {
  auto program = static_cast<uint32_t>(access.program.number);
  bool reads = access.effects & AccessReads, writes = access.effects & AccessWrites;
  uint32_t site = siteOf(access) | (access.effects & AccessAtomic ? Touch::atomicBit : 0);
  Touch touch{program + 1, shadow.clocks.now(program), site};
  struct Found {
    ShadowMemory::Result result;
    Finding finding;
    int64_t next = 0; // the first lane that is not counted yet
  };
  std::vector<Found> races;
  {
    ShadowMemory::Cursor cursor(shadow);
    auto note = [&](const ShadowMemory::Result &result, int64_t lane, uint64_t address, int64_t lanes) {
      auto known = std::find_if(races.begin(), races.end(), [&](const auto &entry) {
        return entry.result.race == result.race && entry.result.other.site == result.other.site;
      });
      if (known == races.end()) {
        const char *what = result.race == ShadowMemory::Race::ReadAfterWrite    ? "read after write"
                           : result.race == ShadowMemory::Race::WriteAfterWrite ? "write after write"
                                                                                : "write after read";
        known = races.insert(races.end(), Found{result, about(access, Races, what)});
      }
      for (int64_t i = std::max<int64_t>(0, known->next - lane); i < lanes; ++i)
        noteLane(known->finding, lane + i, address + static_cast<uint64_t>(i) * access.size);
      known->next = std::max(known->next, lane + lanes);
    };
    auto isEnabled = [&](int64_t lane) { return !access.mask || access.mask[lane]; };
    // Lanes whose elements lie one after the other are looked at in one piece.
    for (int64_t lane = 0; lane < access.elements;) {
      int64_t first = lane++;
      if (!isEnabled(first))
        continue;
      uint64_t begin = access.addresses[first];
      while (lane < access.elements && isEnabled(lane) &&
             access.addresses[lane] == begin + static_cast<uint64_t>(lane - first) * access.size)
        ++lane;
      uint64_t bytes = static_cast<uint64_t>(lane - first) * access.size;
      cursor.access(begin, bytes, access.size, touch, reads, writes,
                    [&](const ShadowMemory::Result &result, uint64_t at, uint64_t length) {
                      auto from = static_cast<int64_t>((at - begin) / access.size);
                      auto to = static_cast<int64_t>((at + length - 1 - begin) / access.size);
                      note(result, first + from, begin + static_cast<uint64_t>(from) * access.size, to - from + 1);
                    });
    }
  }
  for (auto &[result, finding, next] : races) {
    {
      std::lock_guard<std::mutex> guard(lock);
      finding.other = sites[result.other.site & ~Touch::atomicBit];
    }
    finding.other->program = programOf(result.other.program - 1, facts.grid);
    if (!finding.array)
      finding.array = facts.nearest(finding.address);
    add(std::move(finding));
  }
}

void LaunchSanitizer::synchronise(const AccessEvent &access) {
  auto program = static_cast<uint32_t>(access.program.number);
  forEachLane(access, [&](int64_t, uint64_t address) {
    if (access.effects & AccessAcquires)
      shadow.clocks.acquire(program, address);
    else
      shadow.clocks.release(program, address);
  });
}

} // namespace nacre::sanitizer
