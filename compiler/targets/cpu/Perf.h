// Tells Linux' perf of kernels as they are loaded: a map of their addresses, which it reads by itself, and a jitdump
// with their lines, for `perf inject --jit`.
#pragma once

namespace llvm::orc {
class ExecutionSession;
class ObjectLinkingLayer;
} // namespace llvm::orc

namespace nacre::cpu {

// Kernels that the linker loads from now on are told.
void tellPerf(llvm::orc::ExecutionSession &session, llvm::orc::ObjectLinkingLayer &linker);

} // namespace nacre::cpu
