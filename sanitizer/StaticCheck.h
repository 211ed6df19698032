// What is proved of a launch before it runs: for every access, that it stays inside of its array, and for every two
// that may meet, that no two programs race.
//
// Addresses, masks and loops are read from the kernel's tile IR as linear forms of the program's place, the lanes and
// the iterations (AffineForms.h); whether an address outside exists is then a question about whole numbers, which
// MLIR's Presburger library answers exactly. What has no linear form is a number that may be anything: it can turn a
// proof into "unknown", never the other way round.
#pragma once

#include "sanitizer/Finding.h"

namespace nacre::sanitizer {

struct StaticLaunch {
  LaunchFacts facts; // `ofArgument` need not be filled
  struct Slot {
    bool isPointer;
    int64_t value;
  };
  std::vector<Slot> slots; // of each argument of the kernel in tile IR
};

struct Verdict {
  std::string check;  // "bounds" or "race"
  std::string answer; // "proved", "witness" or "unknown"
  std::string access; // "load"
  std::string place, otherPlace;
  std::string text; // of a witness: program, lanes and element; of what is unknown: why
};

// `text`: tile IR of a kernel compiled with watchAccesses. Throws std::runtime_error when it cannot be read.
std::vector<Verdict> checkStatically(const std::string &text, const StaticLaunch &launch);

} // namespace nacre::sanitizer
