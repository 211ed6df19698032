// Memory of the device that a launch gets as its last argument, written by the host before it and read after it.
#pragma once

#include "runtime/Device.h"
#include "runtime/launch/Launch.h"

namespace nacre::gpu {

class LaunchRecord {
public:
  LaunchRecord(Device &device, llvm::ArrayRef<uint64_t> arguments, uint64_t stream)
      : device(device), stream(stream), slots(arguments) {}
  ~LaunchRecord() {
    if (!address())
      return;
    try {
      device.release(address(), stream);
    } catch (const std::exception &) { // the device has failed: whoever asks next is told
    }
  }
  LaunchRecord(const LaunchRecord &) = delete;

  // The launch's, and the record's address; 0: there is none.
  llvm::ArrayRef<uint64_t> arguments() const { return slots; }
  uint64_t address() const { return isThere ? slots.back() : 0; }
  size_t bytes() const { return size; }

protected:
  void leaveOut() { slots.push_back(0); }
  // Waits for the stream.
  void write(llvm::ArrayRef<std::byte> contents) {
    size = contents.size();
    slots.push_back(device.allocate(size, stream));
    isThere = true;
    device.synchronize(stream);
    device.copyIn(address(), contents.data(), size);
  }

  Device &device;

private:
  uint64_t stream;
  size_t size = 0;
  bool isThere = false;
  llvm::SmallVector<uint64_t, 32> slots;
};

} // namespace nacre::gpu
