// What a kernel's code relies on that only a launch can prove: integers of the kernel that must not be negative, of no
// element and in no program.
//
//   n = tl.program_id(0) * 128 + tl.arange(0, 128)       # a product of unbounded numbers may wrap
//   tl.load(b + n % N)                                   # neighbours in memory where n >= 0 and N is a multiple of 16
//
// A launch knows its grid and the values of its arguments. With these the ranges of the kernel's integers are worked
// out as the compiler does (IntegerRange.h): `n` is not negative where the range says so, else it is not known, and the
// launch falls back to a conservative version of the kernel.
//
// A list of steps, each of which gives a range from those of earlier ones. One line of text in a kernel's metadata.
// Free of MLIR: the runtime reads it; launchCheckOf (IntegerFacts.h) makes it.
#pragma once

#include "compiler/analysis/IntegerRange.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace nacre {

class LaunchCheck {
public:
  struct Step {
    RangeRule rule = RangeRule::Known;
    uint8_t bits = 32, sourceBits = 32;
    uint8_t operandCount = 0;
    uint32_t operands[2] = {};
    IntegerRange known = {0, 0}; // the numbers; or the number of the argument or axis as both bounds
    bool operator==(const Step &) const = default;
  };
  llvm::SmallVector<Step, 0> steps;
  llvm::SmallVector<uint32_t, 0> notNegative; // steps

  bool isEmpty() const { return notNegative.empty(); }
  // Whether the launch proves it. Arguments are slots of 64 bits (runtime/Device.h); all that are named must be there.
  bool holds(const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments) const;
  // The numbers of the arguments that it looks at.
  llvm::SmallVector<uint32_t, 0> arguments() const;

  std::string text() const;
  static std::optional<LaunchCheck> parse(llvm::StringRef text);
  bool operator==(const LaunchCheck &) const = default;
};

} // namespace nacre
