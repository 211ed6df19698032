// Accesses that are checked before they happen and asserts (debug=True): what the compiler tells of them, and the
// record in the device's memory through which a launch tells the kernel of its arrays, and the kernel tells of what it
// refused.
//
// The record's address is the argument of a kernel that has checks which follows those of the user; 0 where nobody
// reads the record (a launch that is recorded for a graph): no access is checked then, and an assert that fails ends
// the launch and the device. The first program that is refused an access, or whose assert fails, claims the record,
// writes all addresses of the access and ends; the others end at their next check. So the device stays usable, and
// programs that wait for one that has gone end too. LowerChecks.cpp writes what runtime/devices/gpu/CheckedLaunch.cpp
// reads. Free of MLIR.
//
//   AccessRecord                        the head
//   ArrayBounds of each argument        as many as the kernel has arguments, without the record
//   ArrayBounds of every known array    `arrayCount`, for pointers that may come from several arguments
//   at `reportOffset`: addresses of 64 bits, one an element of the access in row-major order; then a byte an element,
//   not 0 where the mask lets it through
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nacre::simt {

// The module's attribute that holds the sites, an array of their texts.
inline constexpr llvm::StringLiteral accessSitesAttribute = "simt.access_sites";

struct AccessRecord {
  uint64_t refused = 0; // the number of the program that claimed it, from 1 on; 0: none has
  uint32_t site = 0;    // the check that refused
  uint32_t program[3] = {};
  uint32_t arrayCount = 0, reserved = 0;
  uint64_t reportOffset = 0;
};

// An element lies in the array when its bytes do: from `begin` on, `length` for reading, `writableLength` for writing.
struct ArrayBounds {
  uint64_t begin = 0, length = 0, writableLength = 0;
};

// One check in the kernel's code.
struct AccessSite {
  static constexpr llvm::StringLiteral assertion = "assert";
  std::string access, file; // "load"; empty: not known
  std::string message;      // of an assert, whose access is `assertion`
  uint64_t line = 0, column = 0;
  int64_t argument = -1; // -1: any array
  uint64_t kind = 0;     // of the element, a nacre::ScalarKind
  uint64_t size = 0;     // of the element in bytes
  bool writes = false, isMasked = false, isTile = false;
  std::vector<int64_t> shape;

  bool isAssertion() const { return access == assertion; }
  int64_t elements() const {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return count;
  }

  std::string text() const;
  static std::optional<AccessSite> parse(llvm::StringRef text);
};

} // namespace nacre::simt
