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
#include <sys/mman.h>
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

/// The bytes of the file that is told which sites were asked, or null.
inline unsigned char *plantedSites() {
  static unsigned char *const sites = [] {
    const char *path = std::getenv("NACRE_PLANTED_SITES");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0)
      return static_cast<unsigned char *>(nullptr);
    void *memory = mmap(nullptr, std::size(plantedBugNames), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory == MAP_FAILED ? nullptr : static_cast<unsigned char *>(memory);
  }();
  return sites;
}

inline bool planted(PlantedBug bug) {
  if (unsigned char *sites = plantedSites())
    sites[static_cast<int>(bug)] = 1;
  return plantedBug().find("," + std::string(plantedBugNames[static_cast<int>(bug)]) + ",") != std::string::npos;
}

#else

constexpr const char *plantedBug() { return ""; }
constexpr bool planted(PlantedBug) { return false; }

#endif

} // namespace nacre
