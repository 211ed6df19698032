// The calling convention of compiled kernels stands in two places: for the compiler and this runtime, and in the
// runtime in C that is written beside kernels compiled ahead of time. They say the same.
#include "compiler/language/meaning/Type.h"
#include "compiler/passes/cpu/KernelABI.h"
#include "runtime/api/ahead_of_time/nacre_kernel.h"
#include <cstddef>

namespace nacre {

static_assert(sizeof(nacre_context) == sizeof(KernelContext) &&
              offsetof(nacre_context, scratch) == offsetof(KernelContext, scratch) &&
              offsetof(nacre_context, print) == offsetof(KernelContext, print) &&
              offsetof(nacre_context, assert_failed) == offsetof(KernelContext, assertFailed) &&
              offsetof(nacre_context, launch) == offsetof(KernelContext, launch) &&
              offsetof(nacre_context, launch_id) == offsetof(KernelContext, launchId) &&
              offsetof(nacre_context, waiting) == offsetof(KernelContext, waiting) &&
              offsetof(nacre_context, clock) == offsetof(KernelContext, clock) &&
              offsetof(nacre_context, processor) == offsetof(KernelContext, processor) &&
              offsetof(nacre_context, check_access) == offsetof(KernelContext, checkAccess) &&
              offsetof(nacre_context, tell) == offsetof(KernelContext, tell) &&
              offsetof(nacre_context, alone_with_atomics) == offsetof(KernelContext, aloneWithAtomics));
static_assert(static_cast<int>(ScalarKind::Int1) == 1 && static_cast<int>(ScalarKind::Float64) == 18,
              "nacre_kernel.c numbers the kinds of elements too");

} // namespace nacre
