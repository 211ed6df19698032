// Bugs that the compiler has on request, to measure how well random kernels find bugs (`make fuzz-score`).
//
// A site asks `planted(PlantedBug::Name)` and does the wrong thing where the answer is yes. It asks as late as it can,
// where only the bug is left to decide: then a kernel that does not ask compiles the same with the bug and without it,
// and need not be run.
//
//   if (mask && !planted(PlantedBug::StoreMask))
//
// PlantedBugs.def has a row for each bug. In a build without the option NACRE_PLANTED_BUGS the answer is a constant no,
// and nothing of this is left in the program. With it, the environment variable NACRE_PLANTED_BUG names the bugs of the
// moment, and the file that NACRE_PLANTED_SITES names, of one byte for each row, gets a 1 where a site was asked.
#pragma once

#include "compiler/support/PlantedBugsSwitch.h"

#if NACRE_PLANTED_BUGS
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#endif

namespace nacre {

enum class PlantedBug {
#define BUG(NAME, ENGINES, WHAT) NAME,
#include "compiler/support/PlantedBugs.def"
};

#if NACRE_PLANTED_BUGS

inline constexpr const char *plantedBugNames[] = {
#define BUG(NAME, ENGINES, WHAT) #NAME,
#include "compiler/support/PlantedBugs.def"
};

/// The names of the bugs of the moment, each between commas.
inline std::string plantedBug() {
  const char *names = std::getenv("NACRE_PLANTED_BUG");
  return "," + std::string(names ? names : "") + ",";
}

/// The file that is told which sites were asked, or -1. It is written and not mapped: a process that shares memory with
/// others runs atomics in another way.
inline int plantedSites() {
  static const int sites = [] {
    const char *path = std::getenv("NACRE_PLANTED_SITES");
    return path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
  }();
  return sites;
}

inline bool planted(PlantedBug bug) {
  if (plantedSites() >= 0 && pwrite(plantedSites(), "\1", 1, static_cast<int>(bug)) != 1)
    std::abort();
  return plantedBug().find("," + std::string(plantedBugNames[static_cast<int>(bug)]) + ",") != std::string::npos;
}

#else

constexpr const char *plantedBug() { return ""; }
constexpr bool planted(PlantedBug) { return false; }

#endif

} // namespace nacre
