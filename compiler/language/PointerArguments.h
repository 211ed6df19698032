// Pointer and mask arguments, as loads, stores and atomics take them.
#pragma once

#include "compiler/language/Arguments.h"

namespace nacre {

Value pointerArgument(Evaluation &evaluation, const Object &object);
Value maskArgument(Evaluation &evaluation, const Object &object); // None: null
void requireWritable(Evaluation &evaluation, const Value &pointer);
// Bools are bytes in memory: a pointer to int1 as one to int8.
Value bytePointer(Evaluation &evaluation, Value pointer);
// Grows a value or mask to the pointers' shape; the pointers never grow.
Value fitToPointer(Evaluation &evaluation, const Value &pointer, const Value &part, const char *name);
[[noreturn]] void rejectBlockForScalarPointer(Evaluation &evaluation, const char *name, const Value &value);

} // namespace nacre
