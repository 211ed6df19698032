// The options of a launch, from one table (LaunchOptions.def).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace nacre {

enum class LaunchOptionKind { Integer, Switch, Flag, Text, Libraries };

enum class LaunchOptionId {
#define NACRE_LAUNCH_OPTION(identifier, name, kind, fallback, inGrid, help) identifier,
#include "compiler/targets/LaunchOptions.def"
#undef NACRE_LAUNCH_OPTION
};

struct LaunchOption {
  LaunchOptionId id;
  const char *name;
  LaunchOptionKind kind;
  int64_t fallback;
  bool inGrid; // functions that compute the grid are told it
  const char *help;
};

// In the order of their ids.
inline constexpr LaunchOption launchOptions[] = {
#define NACRE_LAUNCH_OPTION(identifier, name, kind, fallback, inGrid, help)                                            \
  {LaunchOptionId::identifier, name, LaunchOptionKind::kind, fallback, inGrid, help},
#include "compiler/targets/LaunchOptions.def"
#undef NACRE_LAUNCH_OPTION
};
inline constexpr size_t launchOptionCount = std::size(launchOptions);

// Null when there is none of that name.
inline const LaunchOption *findLaunchOption(llvm::StringRef name) {
  for (const LaunchOption &option : launchOptions)
    if (name == option.name)
      return &option;
  return nullptr;
}

// A value of Debug besides off and on: device_assert is live, accesses of memory are not checked. As Triton's compile()
// means it, and those who compile kernels for it: torch.compile asks for it wherever an index is computed.
inline constexpr int64_t debugAsserts = 2;

// What one launch says, each option as a number. Compared as bytes.
struct LaunchOptionValues {
  int64_t numbers[launchOptionCount];

  constexpr LaunchOptionValues() : numbers() {
    for (const LaunchOption &option : launchOptions)
      (*this)[option.id] = option.fallback;
  }
  constexpr int64_t &operator[](LaunchOptionId id) { return numbers[static_cast<size_t>(id)]; }
  constexpr int64_t operator[](LaunchOptionId id) const { return numbers[static_cast<size_t>(id)]; }
};

// An option that a target compiles by, and the values that it takes.
struct TargetOption {
  LaunchOptionId id;
  int64_t least = 0, most = INT32_MAX;
  bool isPowerOfTwo = false;
};

} // namespace nacre
