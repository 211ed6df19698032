#include "compiler/frontend/Characters.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <iterator>

namespace nacre {

DecodedCharacter decodeCharacter(llvm::StringRef text) {
  auto byte = [&](size_t index) -> char32_t {
    return index < text.size() ? static_cast<unsigned char>(text[index]) & 0x3F : 0;
  };
  unsigned char first = text[0];
  if (first < 0x80)
    return {first, 1};
  if (first < 0xE0)
    return {(first & 0x1Fu) << 6 | byte(1), 2};
  if (first < 0xF0)
    return {(first & 0x0Fu) << 12 | byte(1) << 6 | byte(2), 3};
  return {(first & 0x07u) << 18 | byte(1) << 12 | byte(2) << 6 | byte(3), 4};
}

void encodeCharacter(char32_t character, std::string &out) {
  auto continuation = [&](int shift) { out += static_cast<char>(0x80 | (character >> shift & 0x3F)); };
  if (character < 0x80) {
    out += static_cast<char>(character);
  } else if (character < 0x800) {
    out += static_cast<char>(0xC0 | character >> 6);
    continuation(0);
  } else if (character < 0x10000) {
    out += static_cast<char>(0xE0 | character >> 12);
    continuation(6);
    continuation(0);
  } else {
    out += static_cast<char>(0xF0 | character >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

namespace {

struct CharacterRange {
  char32_t first, last;
};

// The characters beyond ASCII that are no part of a name, in order.
constexpr CharacterRange notInNames[] = {
    {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB6},     {0xB8, 0xB9},       {0xBB, 0xBF},       {0xD7, 0xD7},
    {0xF7, 0xF7},     {0x37E, 0x37E},   {0x1680, 0x1680}, {0x2000, 0x203E},   {0x2041, 0x2053},   {0x2055, 0x2070},
    {0x2072, 0x207E}, {0x2080, 0x208F}, {0x20A0, 0x20CF}, {0x2100, 0x2101},   {0x2103, 0x2106},   {0x2108, 0x2109},
    {0x2114, 0x2114}, {0x2116, 0x2117}, {0x211E, 0x2123}, {0x2190, 0x2BFF},   {0x2E00, 0x2E7F},   {0x3000, 0x3004},
    {0x3008, 0x3020}, {0x3030, 0x3030}, {0xD800, 0xF8FF}, {0xFD3E, 0xFD3F},   {0xFE10, 0xFE1F},   {0xFE30, 0xFE32},
    {0xFE35, 0xFE4C}, {0xFE50, 0xFE6F}, {0xFEFF, 0xFEFF}, {0xFF01, 0xFF0F},   {0xFF1A, 0xFF20},   {0xFF3B, 0xFF3E},
    {0xFF40, 0xFF40}, {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF}, {0x1F000, 0x1FAFF}, {0xE0000, 0xE00FF}, {0xF0000, 0x10FFFF},
};

} // namespace

bool isNameCharacter(char32_t character) {
  if (character < 0x80)
    return isAsciiDigit(character) || (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z') || character == '_';
  const CharacterRange *range =
      llvm::partition_point(notInNames, [&](const CharacterRange &candidate) { return candidate.last < character; });
  return range == std::end(notInNames) || character < range->first;
}

std::string normalizeName(llvm::StringRef name) {
  if (llvm::all_of(name, [](char character) { return static_cast<unsigned char>(character) < 0x80; }))
    return name.str();
  std::string result;
  while (!name.empty()) {
    auto [character, length] = decodeCharacter(name);
    name = name.drop_front(length);
    switch (character) {
    case 0xAA: // feminine ordinal
      character = 'a';
      break;
    case 0xB5: // micro sign
      character = 0x3BC;
      break;
    case 0xBA: // masculine ordinal
      character = 'o';
      break;
    case 0x2126: // ohm sign
      character = 0x3A9;
      break;
    case 0x212A: // kelvin sign
      character = 'K';
      break;
    case 0x212B: // angstrom sign
      character = 0xC5;
      break;
    }
    encodeCharacter(character, result);
  }
  return result;
}

} // namespace nacre
