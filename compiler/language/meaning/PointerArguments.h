// Pointer and mask arguments, as loads, stores and atomics take them.
#pragma once

#include "compiler/language/builtins/Arguments.h"

namespace nacre {

Value pointerArgument(Evaluation &evaluation, const Object &object);
Value maskArgument(Evaluation &evaluation, const Object &object); // None: null
void requireWritable(Evaluation &evaluation, const Value &pointer);
// Bools are bytes in memory: a pointer to int1 as one to int8.
Value bytePointer(Evaluation &evaluation, Value pointer);
// Grows a value or mask to the pointers' shape; the pointers never grow.
Value fitToPointer(Evaluation &evaluation, const Value &pointer, const Value &part, const char *name);
[[noreturn]] void rejectBlockForScalarPointer(Evaluation &evaluation, const char *name, const Value &value);

// Hints of an access, and the accesses themselves once pointer and mask are known: conversions, bools as bytes, shapes.
LoadOptions loadOptions(Evaluation &evaluation, const Object &cacheModifier, const Object &evictionPolicy);
StoreOptions storeOptions(Evaluation &evaluation, const Object &cacheModifier, const Object &evictionPolicy);
Object loadTile(Evaluation &evaluation, Value pointer, Value mask, const Object &other, const LoadOptions &options);
void storeTile(Evaluation &evaluation, Value pointer, const Object &value, Value mask, const StoreOptions &options);

// What a read-modify-write with an operator is called by, and which operation it is on memory of `element`; fails where
// there is none.
enum class AtomicUpdate { Add, Min, Max, And, Or, Xor };
AtomicOp atomicFor(Evaluation &evaluation, AtomicUpdate update, Type element, bool isOfDescriptor = false);

} // namespace nacre
