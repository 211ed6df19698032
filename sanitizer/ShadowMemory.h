// What the race detector remembers of memory: for every element touched in a launch and every place of the kernel that
// touched it, the programs that did, and how programs are ordered by what they released and acquired.
//
// Programs of a launch run in no order, whatever thread they happen to share: an access of one program and an access of
// another to the same element race unless one is ordered before the other, or both read, or both are atomic. Order
// comes from atomics alone: an access that releases publishes what its program has seen at an address, one that
// acquires takes over what was published there. Each program counts its releases (its clock); an access is ordered
// before all that has seen the clock at which it happened.
//
// Of each place the two lowest programs are remembered, and of two programs that race the lower one counts as the
// first. So where nobody synchronizes, which pair of programs is the lowest that races at a pair of places, and where,
// does not depend on who came first. Where programs may be ordered, two do not do: the third alone may be in no order
// with a later access. Then all are remembered, in a crowd, as long as there is memory for crowds.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace nacre::sanitizer {

// One access as the memory remembers it.
struct Touch {
  uint32_t program = 0; // its number and 1; 0: nobody
  uint32_t clock = 0;
  uint32_t site = 0; // of the launch's list of places, and two bits
  static constexpr uint32_t atomicBit = uint32_t(1) << 31, writeBit = uint32_t(1) << 30;
  bool isAtomic() const { return site & atomicBit; }
  bool writes() const { return site & writeBit; }
};

// Who has seen what of whom.
class Clocks {
public:
  explicit Clocks(uint64_t programs) : programs(programs) {}
  // The clock at which the program's accesses happen now.
  uint32_t now(uint32_t program);
  // Whether a touch of another program is ordered before what `program` does now.
  bool isBefore(const Touch &touch, uint32_t program);
  // Calls with the clocks that the program has seen, by program; null: none but its own.
  void withSeen(uint32_t program, llvm::function_ref<void(const uint32_t *seen)> use);
  void release(uint32_t program, uint64_t address);
  void acquire(uint32_t program, uint64_t address);
  // The program has ended.
  void forget(uint32_t program);
  // Nobody has synchronized so far: nothing is ordered.
  bool isIdle() const { return !used.load(std::memory_order_acquire); }

private:
  using Vector = std::vector<uint32_t>; // by program: the clock that was seen, from 1 on
  Vector &of(uint32_t program);

  uint64_t programs;
  std::atomic<bool> used{false};
  std::mutex lock; // guards what follows
  llvm::DenseMap<uint32_t, Vector> seen;
  llvm::DenseMap<uint64_t, Vector> published; // by address
};

// Memory that is remembered: [begin, end).
struct ShadowedArea {
  uint64_t begin, end;
};

class ShadowMemory {
public:
  // `areas`: where most accesses will be; they may overlap. What lies elsewhere is remembered too, more slowly.
  // `mayOrder`: the kernel has atomics, by which programs may be ordered.
  ShadowMemory(uint64_t programs, std::vector<ShadowedArea> areas, bool mayOrder);
  ~ShadowMemory();
  Clocks clocks;

  // Two accesses of the same bytes in no order; `first` is that of the lower program.
  struct Race {
    Touch first, second;
  };
  // Told of a race, and of the bytes that it is about.
  using Tell = llvm::function_ref<void(const Race &race, uint64_t address, uint64_t bytes)>;
  // Accesses by one program, one after the other: neighbours share a page, which is looked for once.
  class Cursor {
  public:
    explicit Cursor(ShadowMemory &memory) : memory(memory) {}
    ~Cursor();
    // All of [address, address + bytes) is accessed by `touch`, and remembered.
    void access(uint64_t address, uint64_t bytes, const Touch &touch, Tell tell);

  private:
    // The page that holds the address is `page`, locked.
    void moveTo(uint64_t address);
    template <typename Found> void visit(struct Cell &cell, const Touch &touch, Found found);
    template <typename Found> void visitCrowd(struct Entry &crowd, const Touch &touch, Found found);

    struct Page *page = nullptr;
    uint64_t begin = 0, end = 0; // what the page stands for
    ShadowMemory &memory;
  };

private:
  friend class Cursor;
  friend class Crowd;
  struct Area {
    uint64_t begin, end;
    struct Page *pages; // one after the other
    size_t bytes;       // of these
  };
  struct Page &findElsewhere(uint64_t number);
  struct Cell *newCells(size_t count);
  // With cells and crowds of its own.
  struct Cell copyOf(const struct Cell &cell);
  // Memory for crowds, zeros; null: there is no more.
  uint64_t *newWords(size_t count);

  const uint64_t programs;
  const bool mayOrder;
  const uint64_t launch; // what pages remember of another launch is forgotten
  std::vector<Area> areas;
  static constexpr size_t shardCount = 64;
  struct Shard {
    std::mutex lock;
    std::unordered_map<uint64_t, std::unique_ptr<struct Page>> pages;
  };
  std::array<Shard, shardCount> shards; // of what lies elsewhere
  std::mutex cellLock;                  // guards what follows
  std::vector<std::unique_ptr<struct Cell[]>> cellBlocks;
  size_t cellsLeft = 0;
  std::vector<std::unique_ptr<uint64_t[]>> wordBlocks;
  size_t wordsLeft = 0, wordsTaken = 0;
};

} // namespace nacre::sanitizer
