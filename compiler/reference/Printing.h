// Tiles as text, laid out as NumPy lays out arrays: shortest numbers that read back the same, columns aligned, long
// tiles shown by their ends.
#pragma once

#include "compiler/reference/Buffer.h"

namespace nacre {

struct PrintStyle {
  int64_t threshold = 1000; // more elements than this are summarized
  int64_t edgeItems = 3;
  int64_t lineWidth = 75;
  bool hex = false;
};

std::string formatTile(const Buffer &tile, const PrintStyle &style = {});
// One element by itself: "1.5", "-3", "True", "nan", "0x7f...".
std::string formatElement(Type scalar, const std::byte *element);

} // namespace nacre
