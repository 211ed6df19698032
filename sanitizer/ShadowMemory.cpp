// See ShadowMemory.h. Memory is remembered by pages, and these by stretches: one that is always touched as a whole
// takes one cell, another is split into grains as large as what is accessed there. Pages count from the begin of their
// area, so that the blocks that programs take of an array are whole stretches more often than not.
#include "sanitizer/ShadowMemory.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <sys/mman.h>

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

void Clocks::withSeen(uint32_t program, llvm::function_ref<void(const uint32_t *seen)> use) {
  std::lock_guard<std::mutex> guard(lock);
  auto found = seen.find(program);
  use(found == seen.end() ? nullptr : found->second.data());
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

// Many programs that touched an element at one place, with their clocks. Most do so before they release anything, at
// clock 1: a bit says that. The first word is where the clocks of the others are.
class Crowd {
public:
  // Null: there is no memory for it.
  static Crowd make(ShadowMemory &memory) { return Crowd(memory.newWords(1 + bitWords(memory.programs))); }
  explicit Crowd(uint64_t *words) : words(words) {}
  explicit operator bool() const { return words; }
  uint64_t *words;

  void add(ShadowMemory &memory, uint32_t program, uint32_t clock) {
    if (clock > 1 && !later())
      words[0] = reinterpret_cast<uint64_t>(memory.newWords((memory.programs + 1) / 2));
    if (clock > 1 && later()) {
      later()[program] = clock;
      drop(program, /*isFirst=*/true);
      return;
    }
    words[1 + program / 64] |= uint64_t(1) << program % 64; // where memory is short it counts as earlier
  }

  // Visits the programs from the lowest on, as long as the visit gives true: visit(program, clock).
  template <typename Visit> void visit(uint64_t programs, Visit visit) const {
    for (uint64_t word = 0; word < bitWords(programs); ++word) {
      uint64_t bits = words[1 + word], last = std::min<uint64_t>(64, programs - word * 64);
      for (uint64_t i = later() ? 0 : std::countr_zero(bits); i < last;) {
        auto program = static_cast<uint32_t>(word * 64 + i);
        uint32_t clock = later() && later()[program] ? later()[program] : bits >> i & 1;
        if (clock != 0 && !visit(program, clock))
          return;
        ++i;
        if (!later())
          i = i < 64 && bits >> i ? i + static_cast<uint64_t>(std::countr_zero(bits >> i)) : 64;
      }
    }
  }

  void drop(uint32_t program, bool isFirst = false) {
    words[1 + program / 64] &= ~(uint64_t(1) << program % 64);
    if (later() && !isFirst)
      later()[program] = 0;
  }

private:
  static uint64_t bitWords(uint64_t programs) { return (programs + 63) / 64; }
  uint32_t *later() const { return reinterpret_cast<uint32_t *>(words[0]); }
};

// Who touched an element at one place of the kernel: the two lowest programs, from 1 on. 0: nobody.
struct Entry {
  uint32_t site, programs[2], clocks[2];

  // All of them: the first program is `many`, and the clocks hold the crowd's address.
  static constexpr uint32_t many = UINT32_MAX;
  bool isCrowd() const { return programs[0] == many; }
  Crowd crowd() const {
    uint64_t *words;
    static_assert(sizeof words == sizeof clocks);
    std::memcpy(&words, clocks, sizeof words);
    return Crowd(words);
  }
  void becomeCrowd(Crowd crowd) {
    programs[0] = many;
    std::memcpy(clocks, &crowd.words, sizeof crowd.words);
  }
  bool hasRoomFor(uint32_t program) const {
    return programs[1] == 0 || program == programs[0] || program == programs[1];
  }

  void drop(int slot) {
    if (slot == 0) {
      programs[0] = programs[1];
      clocks[0] = clocks[1];
    }
    programs[1] = 0;
  }

  void add(uint32_t program, uint32_t clock) {
    if (program == programs[0] || programs[0] == 0) {
      programs[0] = program;
      clocks[0] = clock;
    } else if (program < programs[0]) {
      programs[1] = programs[0];
      clocks[1] = clocks[0];
      programs[0] = program;
      clocks[0] = clock;
    } else if (programs[1] == 0 || program <= programs[1]) {
      programs[1] = program;
      clocks[1] = clock;
    }
  }
};

// Most elements are touched at one or two places.
struct Cell {
  Entry entries[2];
  Cell *more;
};

namespace {

constexpr uint64_t pageBytes = 4096, stretchBytes = 128;

// A stretch of a page. As long as all of it was touched alike, one cell says it. Zeros are one that nobody touched.
struct Stretch {
  Cell whole;
  uint32_t grain;  // bytes that a cell of `cells` stands for
  uint64_t launch; // in which it was touched
  Cell *cells;     // null: `whole` stands for all
};

} // namespace

struct Page {
  std::atomic<uint32_t> busy;
  Stretch stretches[pageBytes / stretchBytes];

  void lock() {
    while (busy.exchange(1, std::memory_order_acquire))
      while (busy.load(std::memory_order_relaxed))
        ;
  }
  void unlock() { busy.store(0, std::memory_order_release); }
};

namespace {

// Memory for pages, zeros at first, which serves one launch after the other.
class PageStore {
public:
  struct Block {
    Page *pages;
    size_t bytes;
  };

  Block take(size_t bytes) {
    {
      std::lock_guard<std::mutex> guard(lock);
      auto fits = std::find_if(kept.begin(), kept.end(), [&](const Block &block) { return block.bytes >= bytes; });
      if (fits != kept.end()) {
        Block found = *fits;
        kept.erase(fits);
        keptBytes -= found.bytes;
        return found;
      }
    }
    // Not all of a large array need be touched.
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    return {static_cast<Page *>(memory), bytes};
  }

  void giveBack(Block block) {
    std::lock_guard<std::mutex> guard(lock);
    if (keptBytes + block.bytes > mostKept) {
      munmap(block.pages, block.bytes);
      return;
    }
    auto place = std::lower_bound(kept.begin(), kept.end(), block,
                                  [](const Block &a, const Block &b) { return a.bytes < b.bytes; });
    kept.insert(place, block);
    keptBytes += block.bytes;
  }

private:
  static constexpr size_t mostKept = size_t(256) << 20;
  std::mutex lock;
  std::vector<Block> kept; // smallest first
  size_t keptBytes = 0;
};

PageStore &pageStore() {
  static auto *store = new PageStore; // launches may outlive static objects
  return *store;
}

std::atomic<uint64_t> launches{0};

// The pieces that the stretch is to be split into: the largest whose bounds both numbers are.
uint32_t grainOf(uint64_t offset, uint64_t bytes) {
  uint64_t either = offset | bytes;
  return static_cast<uint32_t>(either & (~either + 1));
}

} // namespace

ShadowMemory::ShadowMemory(uint64_t programs, std::vector<ShadowedArea> wanted, bool mayOrder)
    : clocks(programs), programs(programs), mayOrder(mayOrder), launch(++launches) {
  std::sort(wanted.begin(), wanted.end(), [](const auto &a, const auto &b) { return a.begin < b.begin; });
  for (const ShadowedArea &area : wanted) {
    if (area.begin >= area.end)
      continue;
    if (!areas.empty() && area.begin < areas.back().end)
      areas.back().end = std::max(areas.back().end, area.end);
    else
      areas.push_back({area.begin, area.end, nullptr, 0});
  }
  for (Area &area : areas) {
    PageStore::Block block = pageStore().take((area.end - area.begin + pageBytes - 1) / pageBytes * sizeof(Page));
    area.pages = block.pages;
    area.bytes = block.bytes;
  }
}

ShadowMemory::~ShadowMemory() {
  for (const Area &area : areas)
    if (area.pages)
      pageStore().giveBack({area.pages, area.bytes});
}

Page &ShadowMemory::findElsewhere(uint64_t number) {
  Shard &own = shards[number % shardCount];
  std::lock_guard<std::mutex> guard(own.lock);
  std::unique_ptr<Page> &page = own.pages[number];
  if (!page)
    page = std::make_unique<Page>();
  return *page;
}

Cell *ShadowMemory::newCells(size_t count) {
  constexpr size_t blockCells = 4096;
  std::lock_guard<std::mutex> guard(cellLock);
  if (cellsLeft < count) {
    cellBlocks.push_back(std::make_unique<Cell[]>(blockCells));
    cellsLeft = blockCells;
  }
  cellsLeft -= count;
  return cellBlocks.back().get() + cellsLeft;
}

uint64_t *ShadowMemory::newWords(size_t count) {
  constexpr size_t blockWords = 8192, mostWords = (size_t(256) << 20) / sizeof(uint64_t);
  std::lock_guard<std::mutex> guard(cellLock);
  if (wordsTaken + count > mostWords)
    return nullptr;
  wordsTaken += count;
  if (count > blockWords) {
    wordBlocks.insert(wordBlocks.begin(), std::make_unique<uint64_t[]>(count));
    return wordBlocks.front().get();
  }
  if (wordsLeft < count) {
    wordBlocks.push_back(std::make_unique<uint64_t[]>(blockWords));
    wordsLeft = blockWords;
  }
  wordsLeft -= count;
  return wordBlocks.back().get() + wordsLeft;
}

Cell ShadowMemory::copyOf(const Cell &cell) {
  Cell copy = cell;
  for (Entry &entry : copy.entries) {
    if (!entry.isCrowd())
      continue;
    Crowd all = entry.crowd(), own = Crowd::make(*this);
    if (own)
      entry.becomeCrowd(own);
    else
      entry = {entry.site, {}, {}}; // the two lowest
    all.visit(programs, [&](uint32_t program, uint32_t clock) {
      if (own)
        own.add(*this, program, clock);
      else
        entry.add(program + 1, clock);
      return own || entry.programs[1] == 0;
    });
  }
  if (cell.more) {
    copy.more = newCells(1);
    *copy.more = copyOf(*cell.more);
  }
  return copy;
}

// ---- Accesses

ShadowMemory::Cursor::~Cursor() {
  if (page)
    page->unlock();
}

void ShadowMemory::Cursor::moveTo(uint64_t address) {
  if (page) {
    page->unlock();
    page = nullptr;
  }
  uint64_t limit = UINT64_MAX; // the next area
  for (const Area &area : memory.areas) {
    if (address < area.begin) {
      limit = area.begin;
      break;
    }
    if (address >= area.end)
      continue;
    uint64_t number = (address - area.begin) / pageBytes;
    begin = area.begin + number * pageBytes;
    end = std::min(begin + pageBytes, area.end);
    page = area.pages + number;
    break;
  }
  if (!page) {
    begin = address / pageBytes * pageBytes;
    end = std::min(begin + pageBytes, limit);
    page = &memory.findElsewhere(address / pageBytes);
  }
  page->lock();
}

static bool conflict(const Touch &a, const Touch &b) {
  return (a.writes() || b.writes()) && !(a.isAtomic() && b.isAtomic());
}

template <typename Found> void ShadowMemory::Cursor::visitCrowd(Entry &entry, const Touch &touch, Found found) {
  uint32_t program = touch.program - 1;
  Crowd all = entry.crowd();
  Touch other{0, 0, entry.site};
  bool mayRace = conflict(touch, other);
  // What is ordered before says no more, as below; by writes alone, for reads of a crowd are many.
  bool mayDrop = touch.writes() && (!touch.isAtomic() || other.isAtomic());
  if (!mayRace && !mayDrop)
    return;
  memory.clocks.withSeen(program, [&](const uint32_t *seen) {
    all.visit(memory.programs, [&](uint32_t earlier, uint32_t clock) {
      bool isOrdered = seen && seen[earlier] >= clock;
      if (earlier != program && !isOrdered && mayRace && other.program == 0)
        other = {earlier + 1, clock, entry.site};
      if (earlier != program && isOrdered && mayDrop)
        all.drop(earlier);
      return mayDrop || other.program == 0;
    });
  });
  if (other.program != 0)
    found(other.program < touch.program ? Race{other, touch} : Race{touch, other});
}

template <typename Found> inline void ShadowMemory::Cursor::visit(Cell &cell, const Touch &touch, Found found) {
  uint32_t program = touch.program - 1;
  bool isIdle = memory.clocks.isIdle();
  Entry *own = nullptr, *vacant = nullptr;
  Cell *last = &cell;
  for (Cell *link = &cell; link; link = link->more) {
    last = link;
    for (Entry &entry : link->entries) {
      if (entry.programs[0] == 0) {
        vacant = vacant ? vacant : &entry;
        continue;
      }
      if (entry.isCrowd()) {
        visitCrowd(entry, touch, found);
        if (entry.site == touch.site)
          own = &entry;
        continue;
      }
      Touch other{0, 0, entry.site};
      if (conflict(touch, other))
        for (int slot = 0; slot < 2 && entry.programs[slot] != 0; ++slot) {
          other.program = entry.programs[slot];
          other.clock = entry.clocks[slot];
          if (other.program == touch.program || memory.clocks.isBefore(other, program))
            continue;
          found(other.program < touch.program ? Race{other, touch} : Race{touch, other});
          break;
        }
      // What is ordered before this touch, and races with nobody that this does not race with, has said all.
      if (!isIdle && (touch.writes() || !other.writes()) && (!touch.isAtomic() || other.isAtomic()))
        for (int slot = 1; slot >= 0; --slot)
          if (uint32_t earlier = entry.programs[slot]; earlier != 0 && earlier != touch.program)
            if (memory.clocks.isBefore({earlier, entry.clocks[slot], entry.site}, program))
              entry.drop(slot);
      if (entry.site == touch.site)
        own = &entry;
      else if (entry.programs[0] == 0)
        vacant = vacant ? vacant : &entry;
    }
  }
  if (!own) {
    if (!vacant) {
      last->more = memory.newCells(1);
      vacant = last->more->entries;
    }
    own = vacant;
    *own = {touch.site, {}, {}};
  }
  if (memory.mayOrder && !own->isCrowd() && !own->hasRoomFor(touch.program))
    if (Crowd all = Crowd::make(memory)) {
      for (int slot = 0; slot < 2; ++slot)
        all.add(memory, own->programs[slot] - 1, own->clocks[slot]);
      own->becomeCrowd(all);
    }
  if (own->isCrowd())
    own->crowd().add(memory, program, touch.clock);
  else
    own->add(touch.program, touch.clock);
}

void ShadowMemory::Cursor::access(uint64_t address, uint64_t bytes, const Touch &touch, Tell tell) {
  for (uint64_t last = address + bytes; address < last;) {
    if (!page || address < begin || address >= end)
      moveTo(address);
    for (uint64_t stop = std::min(last, end); address < stop;) {
      uint64_t offset = (address - begin) % stretchBytes, part = std::min(stop - address, stretchBytes - offset);
      Stretch &stretch = page->stretches[(address - begin) / stretchBytes];
      if (stretch.launch != memory.launch)
        stretch = {{}, 0, memory.launch, nullptr};
      if (!stretch.cells && part == stretchBytes) {
        visit(stretch.whole, touch, [&](const Race &race) { tell(race, address, part); });
        address += part;
        continue;
      }
      if (uint32_t wanted = grainOf(offset, part); !stretch.cells || wanted < stretch.grain) {
        size_t count = stretchBytes / wanted;
        Cell *finer = memory.newCells(count);
        for (size_t i = 0; i < count; ++i)
          finer[i] = memory.copyOf(stretch.cells ? stretch.cells[i * wanted / stretch.grain] : stretch.whole);
        stretch.cells = finer;
        stretch.grain = wanted;
      }
      Cell *cell = stretch.cells + offset / stretch.grain;
      for (uint64_t to = address + part; address < to; address += stretch.grain, ++cell)
        visit(*cell, touch, [&](const Race &race) { tell(race, address, stretch.grain); });
    }
  }
}

} // namespace nacre::sanitizer
