// What people take for an array: the pointer that a kernel gets for one, and what to tell them.
#pragma once

#include "compiler/language/meaning/Object.h"

namespace nacre {

inline bool isPointerScalar(const Object &object) { return object.isValue() && object.value().type().isPointer(); }

inline constexpr const char *pointerHint =
    "a pointer does not know its array's size: pass that as an argument; tl.load(pointer + offsets) reads elements";

} // namespace nacre
