// What a kernel tells those who watch its launches (tile.tell, runtime/Events.h). Free of MLIR: it is a number in the
// kernel's code and in what its launches record. The names are the text of tile IR.
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace nacre {

enum class ToldKind : uint32_t {
  Arithmetic, // the operands of an operation that is about to happen; subject "add int32"
  Value,      // the tiles that an operation has given, those of products and reductions after their operands
  EnterScope, // marks of profilers (compiler/language/builtins/Marks.h): the subject is the scope's or the event's name
  ExitScope,
  StartEvent,
  EndEvent,
  LostMarks, // the device had no room for some of a program's marks: no operation tells it, but who reads them there
};

inline constexpr llvm::StringLiteral toldKindNames[] = {"arithmetic",  "value",     "enter_scope", "exit_scope",
                                                        "start_event", "end_event", "lost_marks"};

inline llvm::StringRef nameOf(ToldKind kind) { return toldKindNames[static_cast<size_t>(kind)]; }
inline std::optional<ToldKind> toldKindNamed(llvm::StringRef name) {
  const auto *found = llvm::find(toldKindNames, name);
  return found == std::end(toldKindNames) ? std::nullopt
                                          : std::optional(static_cast<ToldKind>(found - std::begin(toldKindNames)));
}

inline bool isEvent(ToldKind kind) { return kind == ToldKind::StartEvent || kind == ToldKind::EndEvent; }
inline bool isScope(ToldKind kind) { return kind == ToldKind::EnterScope || kind == ToldKind::ExitScope; }
inline bool isMark(ToldKind kind) { return isScope(kind) || isEvent(kind); }
inline bool isBegin(ToldKind kind) { return kind == ToldKind::EnterScope || kind == ToldKind::StartEvent; }

} // namespace nacre
