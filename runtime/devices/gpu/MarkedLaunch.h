// A launch whose kernel has marks of scopes and events (compiler/language/builtins/Marks.h): the record that it gets as
// its last argument (compiler/ir/simt/ScopeRecord.h), and what it left there, told to who watches the launch.
#pragma once

#include "runtime/devices/gpu/LaunchRecord.h"

namespace nacre::gpu {

class MarkedLaunch : public LaunchRecord {
public:
  // `arguments`: those before the record. Where nobody watches, and where a launch is captured for a graph, there is no
  // record. Waits for the stream: the record is written by the host.
  MarkedLaunch(Device &device, const EnqueuedLaunch &launch, llvm::ArrayRef<uint64_t> arguments, uint64_t stream,
               bool isCaptured);

  static bool isNeeded(const CompiledCode &code) { return code.metadata.tells; }

  // When the launch has ended.
  void finish();

private:
  const EnqueuedLaunch &launch;
  uint64_t units = 0, capacity = 0; // warps of all programs; marks of each
};

} // namespace nacre::gpu
