// The device's printf: a format and a buffer in which each argument stands at a multiple of its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace nacre::simulator {

struct PrintedText {
  std::string text;
  uint32_t arguments = 0; // that the format took: what the device's printf returns
};
PrintedText formatPrint(const std::string &format, const std::byte *buffer, size_t size,
                        const std::function<std::string(uint64_t)> &stringAt);

} // namespace nacre::simulator
