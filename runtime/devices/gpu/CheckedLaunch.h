// A launch whose kernel checks its accesses or has asserts (debug=True): the record that it gets as its last argument
// (compiler/ir/simt/AccessRecord.h), and the error that it leaves there.
#pragma once

#include "runtime/devices/gpu/LaunchRecord.h"

namespace nacre::gpu {

class CheckedLaunch : public LaunchRecord {
public:
  // Where the arrays are not known (null), every access is inside. A launch that is captured for a graph has no record.
  // Waits for the stream: the record is written by the host.
  CheckedLaunch(Device &device, const EnqueuedLaunch &launch, const KnownArrays *arrays, uint64_t stream,
                bool isCaptured);

  static bool isNeeded(const CompiledCode &code) { return !code.metadata.accessSites.empty(); }

  // When the launch has ended. Throws OutOfBoundsError, DeviceAssertError.
  void finish();

private:
  const CompiledCode &code;
  const KnownArrays *arrays;
  uint64_t reportOffset = 0;
};

} // namespace nacre::gpu
