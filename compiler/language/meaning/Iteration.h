// The arguments of range, tl.range, tl.static_range and tl.condition, bound and checked for whoever runs the loop: the
// front end, or the interpreter.
#pragma once

#include "compiler/language/builtins/Builtins.h"

namespace nacre {

// What a loop tells the compiler. None changes a result.
struct LoopHints {
  std::optional<int> numStages, unrollFactor;
  bool disallowAccMultiBuffer = false, flatten = false, warpSpecialize = false, disableLicm = false;
};

struct RangeArguments {
  Object start, stop, step;
  LoopHints hints;
};

// Whether this is range, tl.range or tl.static_range.
bool isRangeBuiltin(const Builtin &builtin);

// `builtin` is one of the ranges. Python's own takes the hints of tl.range too. Throws at the builder's place.
RangeArguments rangeArguments(Evaluation &evaluation, const Builtin &builtin, llvm::ArrayRef<Object> positional,
                              llvm::ArrayRef<std::pair<std::string, Object>> keywords);

// The condition that tl.condition wraps, and its hints.
std::pair<Object, LoopHints> conditionArguments(Evaluation &evaluation, llvm::ArrayRef<Object> positional,
                                                llvm::ArrayRef<std::pair<std::string, Object>> keywords);

} // namespace nacre
