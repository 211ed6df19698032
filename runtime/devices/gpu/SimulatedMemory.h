// A GPU that is simulated: its memory is the host's, and its launches have ended when they return.
#pragma once

#include "runtime/Device.h"
#include <cstring>
#include <new>

namespace nacre::gpu {

class SimulatedMemory : public Device {
public:
  using Device::Device;

  bool wantsArrays() const override { return true; }
  void synchronize(std::optional<uint64_t>) override {}
  uint64_t allocate(size_t bytes, uint64_t) override {
    return reinterpret_cast<uint64_t>(::operator new(bytes, alignment));
  }
  void release(uint64_t address, uint64_t) override { ::operator delete(reinterpret_cast<void *>(address), alignment); }
  void copyIn(uint64_t to, const void *from, size_t bytes) override {
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  }
  void copyOut(void *to, uint64_t from, size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  }
  bool reachesHostMemory(uint64_t) override { return true; }

private:
  static constexpr std::align_val_t alignment{256};
};

} // namespace nacre::gpu
