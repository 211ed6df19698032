// Marks of a kernel's text for those who profile it (python/nacre/profiler/language.py): scopes are entered and left,
// and nest; events start and end where they like. In tile IR a mark is a `tile.tell` whose kind has the builtin's name
// (compiler/ir/tile/ToldKind.h) and whose subject is the scope's or the event's. A compile keeps marks where
// it is asked to (NACRE_WATCH=scopes), and leaves them out else.
#pragma once

#include "compiler/language/builtins/Builtins.h"

namespace nacre {

inline constexpr const char *profilerModule = "triton.profiler.language";
void addMarks(class Table &table);

} // namespace nacre
