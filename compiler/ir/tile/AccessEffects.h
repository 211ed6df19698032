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

// The attribute of tile.check_access that holds them, besides `writes`.
inline constexpr char effectsAttribute[] = "effects";
// The attribute that says where in the user's text the access stands, for readers of the stage's text:
// "kernel.py:7:12".
inline constexpr char placeAttribute[] = "place";

} // namespace nacre
