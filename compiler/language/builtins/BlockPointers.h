// What tl.load and tl.store do with a block pointer.
#pragma once

#include "compiler/language/meaning/PointerArguments.h"

namespace nacre {

bool isBlockPointer(const Object &object);
Object loadBlock(Evaluation &evaluation, const Object &pointer, const Object &mask, const Object &other,
                 const Object &boundaryCheck, const Object &padding, const LoadOptions &options);
void storeBlock(Evaluation &evaluation, const Object &pointer, const Object &value, const Object &mask,
                const Object &boundaryCheck, const StoreOptions &options);

} // namespace nacre
