// The marks of a kernel that is profiled from inside (tile.tell of scopes and events): what the compiler tells of them,
// and the record in the device's memory in which each warp writes when it came by one.
//
// The record's address is an argument that follows those of the user and the record of checks (AccessRecord.h); 0 where
// nobody reads it: nothing is written then. LowerMarks.cpp writes what runtime/devices/gpu/MarkedLaunch.cpp reads.
// Free of MLIR.
//
//   ScopeRecord                      the head
//   of each warp of each program     how many marks it came by, in 64 bits; then `capacity` marks, of which the next
//   one
//                                    takes the place of the oldest
#pragma once

#include "compiler/ir/tile/ToldKind.h"
#include <cstdint>
#include <optional>
#include <string>

namespace nacre::simt {

// The module's attribute that holds the places, an array of their texts.
inline constexpr llvm::StringLiteral scopeMarksAttribute = "simt.scope_marks";

struct ScopeRecord {
  uint64_t capacity = 0; // of marks, of a warp
};

struct PassedMark {
  uint64_t cycles = 0;    // the multiprocessor's clock
  uint32_t place = 0;     // its number among the kernel's
  uint32_t processor = 0; // the multiprocessor
};

// One mark in the kernel's code.
struct MarkPlace {
  ToldKind kind = ToldKind::EnterScope;
  std::string name;
  uint64_t line = 0, column = 0;
  std::string file; // empty: not known

  std::string text() const;
  static std::optional<MarkPlace> parse(llvm::StringRef text);
};

} // namespace nacre::simt
