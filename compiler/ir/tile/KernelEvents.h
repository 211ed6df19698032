// Events: what an instrumented kernel tells whoever watches its launch, besides its accesses.
//
// An event has a kind, a name, a place in the kernel's text and any number of tiles. It is a tile.print whose prefix
// begins with a mark: the kernel hands the elements over as for a print, and the runtime passes them to the launch's
// watcher instead of printing them. Nobody watches: nothing happens.
//
//   kind "arithmetic", name "add int32": the two operands of an operation that is about to happen
//   kind "value", name "tile.dot": a result of an operation
//   kind "enter", "exit", name "load A": a scope of the kernel's own text begins or ends
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nacre {

inline constexpr char eventMark = '\x01';

struct EventHead {
  std::string_view kind, name, file;
  uint32_t line = 0, column = 0;
};

// The prefix of the print that is the event.
std::string encodeEvent(const EventHead &head);
// None for a print that is a print. The views point into `prefix`.
std::optional<EventHead> decodeEvent(std::string_view prefix);

} // namespace nacre
