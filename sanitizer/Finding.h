// What a sanitizer found, and what it was told of the launch in which it did.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nacre::sanitizer {

enum Kind : uint32_t {
  Bounds = 1,        // asan: an access outside of its array
  Races = 2,         // tsan: two programs, one of them writing, in no order
  Uninitialized = 4, // msan: a read of what nobody wrote
  Arithmetic = 8,    // ub: overflow, shifts, division
};

// An argument's memory: the elements of a tensor or view, and nothing between them.
struct Array {
  uint64_t begin, end, origin; // from its lowest element to the end of its highest; `origin`: of element 0
  bool isReadOnly;
  std::string name, type;              // of the argument; "float32"
  std::vector<int64_t> shape, strides; // strides in bytes
  uint32_t itemSize;

  // Decides once whether its elements lie one after the other.
  void prepare();
  bool contains(uint64_t address, uint64_t size) const;

  bool isDense = true;                             // every byte from begin to end is an element's
  std::vector<std::pair<uint64_t, uint64_t>> axes; // stride and extent, outermost first; of one that is not dense
};

struct LaunchFacts {
  std::string kernel;
  uint32_t grid[3];
  std::vector<Array> arrays;
  std::vector<int32_t> ofArgument; // the array of each of the kernel's arguments; -1: none
  bool isComplete = true;          // the kernel was given no other memory
  bool mayOrder = true;            // it has atomics, by which its programs may be ordered

  const Array *arrayOf(int32_t argument) const;
  // The array that holds an address, or the nearest one; null: nothing is near.
  const Array *nearest(uint64_t address) const;
};

// One side of a finding.
struct Party {
  std::string access, file;
  uint32_t line = 0, column = 0; // from 1 on; 0: not known
  bool writes = false, isAtomic = false;
  std::array<uint32_t, 3> program{};
};

struct Finding {
  Kind kind = Bounds;
  std::string what; // "out of bounds", "read after write", "signed integer overflow"
  Party party;
  std::optional<Party> other; // of a race: the lower program, which counts as the first; `party` is the higher
  uint64_t address = 0;
  uint32_t size = 0;
  std::string type; // of the element
  const Array *array = nullptr;
  std::vector<int64_t> shape, lanes; // of the tile; the first lanes at fault, row-major. Of races: none
  int64_t laneCount = 0;
  bool isMasked = false;
  std::string detail;   // "2147483647 + 1"
  uint64_t repeats = 0; // how often the same was found at the same place
};

} // namespace nacre::sanitizer
