// What a checked access does, as the compiler tells it to whoever watches a launch: bits of the number that a check of
// an access hands over (KernelABI.h: `writes`). A check for debug=True tells only whether it writes.
#pragma once

#include <cstdint>

namespace nacre {

enum AccessEffects : uint32_t {
  AccessWrites = 1,
  AccessReads = 2,
  AccessAtomic = 4,
  // What the program did before is seen by whoever acquires from these places.
  AccessReleases = 8,
  // The access has happened; what was released to these places is seen from here on. Nothing else is checked here.
  AccessAcquires = 16,
};

// Beside the effects in the number that is handed over: the elements are told as rows along one axis of the tile, whose
// number stands from bit `accessAxisShift` on.
inline constexpr uint32_t accessInRows = 32;
inline constexpr uint32_t accessHasMask = 64; // of those rows, which say where it holds
inline constexpr uint32_t accessEffectsMask = accessInRows - 1;
inline constexpr uint32_t accessAxisShift = 8;

// The elements of a tile along one axis, where their addresses grow evenly and the first `count` are accessed: that of
// lane i lies at first + i * step.
struct AccessRow {
  uint64_t first;
  int64_t step; // in bytes
  int64_t count;
};

// The attribute of tile.check_access that holds them, besides `writes`.
inline constexpr char effectsAttribute[] = "effects";
// The attribute that says where in the user's text the access stands, for readers of the stage's text:
// "kernel.py:7:12".
inline constexpr char placeAttribute[] = "place";

} // namespace nacre
