// A stack that is large whatever thread a compile is asked for on. Passes, and LLVM's most of all, recurse along chains
// of operations; a Python thread may have no more than some hundred kilobytes for that.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nacre {

// Runs `work` on a large stack, on the calling thread, and returns when it is done. What it throws is thrown here.
void runOnDeepStack(llvm::function_ref<void()> work);

// To be called inside such work: runs `work` on the stack that it was started from, where it began, and returns when it
// is done. Whoever looks at the addresses of its stack, as CPython does, is called this way. Elsewhere: runs it as it
// is.
void runOnOuterStack(llvm::function_ref<void()> work);

} // namespace nacre
