// See ShadowMemory.h. Memory is remembered by pages, and these by stretches: one that is always touched as a whole
// takes one cell, another is split into grains as large as what is accessed there.
#include "sanitizer/ShadowMemory.h"
#include <algorithm>

namespace nacre::sanitizer {

// ---- Clocks

Clocks::Vector &Clocks::of(uint32_t program) {
  Vector &vector = seen[program];
  if (vector.empty()) {
    vector.assign(programs, 0);
    vector[program] = 1;
  }
  return vector;
}

uint32_t Clocks::now(uint32_t program) {
  if (isIdle())
    return 1;
  std::lock_guard<std::mutex> guard(lock);
  auto found = seen.find(program);
  return found == seen.end() ? 1 : found->second[program];
}

bool Clocks::isBefore(const Touch &touch, uint32_t program) {
  if (isIdle())
    return false;
  std::lock_guard<std::mutex> guard(lock);
  auto found = seen.find(program);
  return found != seen.end() && found->second[touch.program - 1] >= touch.clock;
}

static void join(std::vector<uint32_t> &into, const std::vector<uint32_t> &from) {
  for (size_t i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

void Clocks::release(uint32_t program, uint64_t address) {
  std::lock_guard<std::mutex> guard(lock);
  used.store(true, std::memory_order_release);
  Vector &own = of(program);
  Vector &there = published[address];
  if (there.empty())
    there = own;
  else
    join(there, own);
  ++own[program];
}

void Clocks::acquire(uint32_t program, uint64_t address) {
  std::lock_guard<std::mutex> guard(lock);
  auto there = published.find(address);
  if (there == published.end())
    return;
  join(of(program), there->second);
}

void Clocks::forget(uint32_t program) {
  if (isIdle())
    return;
  std::lock_guard<std::mutex> guard(lock);
  seen.erase(program);
}

// ---- Memory

namespace {

struct Cell {
  Touch writer, readers[2];
};

constexpr uint64_t pageBytes = 4096, stretchBytes = 128;

} // namespace

// A stretch of a page. As long as all of it was touched alike, one cell says it.
struct Stretch {
  Cell whole;
  uint32_t grain = 0;      // bytes that a cell of `cells` stands for
  std::vector<Cell> cells; // empty: `whole` stands for all

  void split(uint32_t wanted) {
    if (!cells.empty() && grain <= wanted)
      return;
    std::vector<Cell> finer(stretchBytes / wanted);
    for (size_t i = 0; i < finer.size(); ++i)
      finer[i] = cells.empty() ? whole : cells[i * wanted / grain];
    cells = std::move(finer);
    grain = wanted;
  }
};

struct Page {
  std::atomic_flag busy{};
  std::array<Stretch, pageBytes / stretchBytes> stretches;

  void lock() {
    while (busy.test_and_set(std::memory_order_acquire))
      while (busy.test(std::memory_order_relaxed))
        ;
  }
  void unlock() { busy.clear(std::memory_order_release); }
};

Page &ShadowMemory::find(uint64_t number) {
  Shard &own = shards[number % shardCount];
  std::lock_guard<std::mutex> guard(own.lock);
  std::shared_ptr<Page> &page = own.pages[number];
  if (!page)
    page = std::make_shared<Page>();
  return *page;
}

ShadowMemory::Cursor::~Cursor() {
  if (page)
    page->unlock();
}

void ShadowMemory::Cursor::access(uint64_t address, uint64_t bytes, uint32_t size, const Touch &touch, bool reads,
                                  bool writes, Tell tell) {
  uint32_t program = touch.program - 1;
  auto races = [&](const Touch &other) {
    return other.program != 0 && other.program != touch.program && !(other.isAtomic() && touch.isAtomic()) &&
           !memory.clocks.isBefore(other, program);
  };
  auto visit = [&](Cell &cell) {
    Result result;
    auto note = [&](Race race, const Touch &other) {
      if (result.race == Race::None)
        result = {race, other};
    };
    if (races(cell.writer))
      note(writes ? Race::WriteAfterWrite : Race::ReadAfterWrite, cell.writer);
    if (writes)
      for (const Touch &reader : cell.readers)
        if (races(reader))
          note(Race::WriteAfterRead, reader);
    if (writes)
      cell.writer = touch;
    if (!reads)
      return result;
    // Two readers are enough to race with any third program; those that are ordered before this one have said all.
    for (Touch &reader : cell.readers)
      if (reader.program == 0 || reader.program == touch.program || memory.clocks.isBefore(reader, program)) {
        reader = touch;
        break;
      }
    return result;
  };
  for (uint64_t end = address + bytes; address < end;) {
    uint64_t wanted = address / pageBytes;
    if (!page || wanted != number) {
      if (page)
        page->unlock();
      page = &memory.find(wanted);
      page->lock();
      number = wanted;
    }
    uint64_t stop = std::min(end, (address / stretchBytes + 1) * stretchBytes), part = stop - address;
    Stretch &stretch = page->stretches[address % pageBytes / stretchBytes];
    if (stretch.cells.empty() && part == stretchBytes) {
      if (Result result = visit(stretch.whole); result.race != Race::None)
        tell(result, address, part);
    } else {
      uint64_t either = address | part | size;
      stretch.split(
          static_cast<uint32_t>(std::min<uint64_t>(either & (~either + 1), 8))); // a power of two that divides all
      uint64_t first = address % stretchBytes / stretch.grain;
      for (uint64_t i = 0; i < part / stretch.grain; ++i)
        if (Result result = visit(stretch.cells[first + i]); result.race != Race::None)
          tell(result, address + i * stretch.grain, stretch.grain);
    }
    address = stop;
  }
}

} // namespace nacre::sanitizer
