// A device on which nothing runs: launches are checked, counted and dropped. It is the smallest device there is, the
// one to copy from, and what tests of all that surrounds a device use: it has two devices, memory of its own, streams,
// and errors that arrive late.
//
// Arrays are on it that say so: their `device` is "null:0", they have a __null_array_interface__, or DLPack calls
// theirs an extended device.
#pragma once

#include "runtime/Device.h"

namespace nacre {

Driver &nullDriver();

// The launches that one of its devices has been given, and what the last of them said.
struct NullLaunches {
  uint64_t count = 0;
  std::string kernel;
  uint32_t grid[3] = {};
  uint64_t stream = 0;
  std::vector<uint64_t> arguments;
};
NullLaunches nullLaunches(int index);
// The next call of the device fails, as one that finds out late that an earlier launch did.
void failNullLaunch(int index, std::string text);

} // namespace nacre
