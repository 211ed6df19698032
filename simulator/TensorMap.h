// The simulator's tensor map: the 128 bytes that stand for the driver's opaque object.
#pragma once

#include "simulator/Simulator.h"
#include <optional>

namespace nacre::simulator {
struct Warp;
}

namespace nacre::simulator {

// Zero bytes are a map that nothing has been written to; tensormap.replace writes one field at a time.
struct TensorMapBits {
  uint64_t address;
  uint64_t strides[4]; // bytes
  uint32_t sizes[5];
  uint32_t box[5];
  uint8_t elementStrides[5];
  uint8_t rank; // less one
  uint8_t type; // as tensormap.replace numbers them
  uint8_t interleave;
  uint8_t swizzle;
  uint8_t fill;
  uint8_t atomicity;
  uint8_t unused[37];
};
static_assert(sizeof(TensorMapBits) == 128);

enum class TensorMapType : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F32Flush,
  F64,
  BF16,
  TF32,
  TF32Flush,
  Count
};
uint32_t elementBytes(TensorMapType type);

// Changes of maps in global memory, and the fences of the tensormap proxy.
void noteMapChange(Warp &warp, uint64_t address, bool released);
void releaseMaps(Warp &warp);
void acquireMap(Warp &warp, uint64_t address);
void checkMapFences(Warp &warp, uint32_t lane, uint64_t address);

// What the hardware requires of a map; nothing if it is met.
std::optional<std::string> wrongWith(const TensorMapBits &map);

// Bits of a shared address as the swizzle leaves them.
inline uint64_t swizzled(uint64_t address, uint8_t mode) {
  switch (mode) {
  case 1:
    return address ^ (address >> 3 & 0x10);
  case 2:
    return address ^ (address >> 3 & 0x30);
  case 3:
    return address ^ (address >> 3 & 0x70);
  default:
    return address;
  }
}

} // namespace nacre::simulator
