// Marks of a kernel's text for those who profile it (python/nacre/profiler/language.py): scopes are entered and left,
// and nest; events start and end where they like. In tile IR a mark is a `tile.tell` of the mark's name, whose subject
// is the scope's or the event's; the runtime's watchers (runtime/Events.h) know it by that. A compile keeps marks where
// it is asked to (NACRE_WATCH=scopes), and leaves them out else.
#pragma once

#include "compiler/language/builtins/Builtins.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace nacre {

inline constexpr const char *profilerModule = "triton.profiler.language";
void addMarks(class Table &table);

enum class MarkKind { EnterScope, ExitScope, StartEvent, EndEvent };

inline constexpr llvm::StringLiteral markNames[] = {"enter_scope", "exit_scope", "start_event", "end_event"};

inline const char *nameOf(MarkKind kind) { return markNames[static_cast<int>(kind)].data(); }
inline std::optional<MarkKind> markNamed(llvm::StringRef name) {
  for (int i = 0; i < 4; ++i)
    if (markNames[i] == name)
      return static_cast<MarkKind>(i);
  return std::nullopt;
}
inline bool isEvent(MarkKind kind) { return kind == MarkKind::StartEvent || kind == MarkKind::EndEvent; }
inline bool isBegin(MarkKind kind) { return kind == MarkKind::EnterScope || kind == MarkKind::StartEvent; }

// The mark that a builtin makes: its function checks the arguments and gives back the name.
inline std::optional<MarkKind> markOf(const Builtin &builtin) {
  return builtin.module == profilerModule ? markNamed(builtin.name) : std::nullopt;
}

} // namespace nacre
