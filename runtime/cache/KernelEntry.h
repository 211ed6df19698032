// A kernel's code as bytes: its entry of the cache, and what is sent to another process. The key of an entry covers the
// build of the compiler that wrote it (CompileRequest::key), so that no other build reads it.
#pragma once

#include "runtime/compile/Compiler.h"

namespace nacre {

std::string encodeKernel(const CompiledCode &code);
// None when it is not what encodeKernel wrote, or of a target that this build does not have.
std::optional<CompiledCode> decodeKernel(llvm::StringRef bytes);

} // namespace nacre
