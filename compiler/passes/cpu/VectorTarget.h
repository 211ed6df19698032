// What the loops and register blocks of the CPU's passes are shaped for.
#pragma once

#include <cstdint>

namespace nacre::cpu {

struct VectorTarget {
  int64_t vectorBytes = 32; // of a hardware register
  int64_t registers = 16;   // vector registers
  bool bf16Dot = false;     // AVX512-BF16: a pair of bf16 products added to f32 at once
  bool convertsHalf = true; // F16C
  bool bf16Tiles = false;   // AMX-BF16: tile registers that multiply bf16
  bool int8Dot = false;     // AVX512-VNNI: four products of bytes added to int32 at once
};

} // namespace nacre::cpu
