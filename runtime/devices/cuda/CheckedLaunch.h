// A launch whose kernel checks its accesses or has asserts (debug=True): the record that it gets as its last argument
// (compiler/passes/gpu/AccessRecord.h), and the error that it leaves there.
#pragma once

#include "runtime/launch/Launch.h"

namespace nacre::cuda {

class CheckedLaunch {
public:
  // Where the arrays are not known (null), every access is inside. A launch that is captured for a graph has no record.
  // Waits for the stream: the record is written by the host.
  CheckedLaunch(Device &device, const EnqueuedLaunch &launch, const KnownArrays *arrays, uint64_t stream,
                bool isCaptured);
  ~CheckedLaunch();
  CheckedLaunch(const CheckedLaunch &) = delete;

  static bool isNeeded(const CompiledCode &code) { return !code.metadata.accessSites.empty(); }

  // The launch's, and the record's address.
  llvm::ArrayRef<uint64_t> arguments() const { return slots; }
  uint64_t address() const { return slots.back(); }
  size_t bytes() const { return size; }
  // When the launch has ended. Throws OutOfBoundsError, DeviceAssertError.
  void finish();

private:
  Device &device;
  const CompiledCode &code;
  const KnownArrays *arrays;
  uint64_t stream, reportOffset = 0;
  size_t size = 0;
  llvm::SmallVector<uint64_t, 32> slots;
};

} // namespace nacre::cuda
