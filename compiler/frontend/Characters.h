// Characters of UTF-8 text: decoding, encoding, and which of them may stand in a name.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace nacre {

struct DecodedCharacter {
  char32_t value;
  size_t length; // bytes
};

// The character at the start of `text`, which is not empty and is valid UTF-8.
DecodedCharacter decodeCharacter(llvm::StringRef text);

// Appends `character` as UTF-8. A surrogate gets its three bytes like any other number of that size.
void encodeCharacter(char32_t character, std::string &out);

// Whether a character may stand in a name, or start one. Exact for ASCII; elsewhere close to Unicode's XID_Continue:
// symbols, punctuation, spaces and private characters are out, letters, marks and digits of every script are in.
bool isNameCharacter(char32_t character);
inline bool isAsciiDigit(char32_t character) { return character >= '0' && character <= '9'; }
inline bool startsName(char32_t character) { return isNameCharacter(character) && !isAsciiDigit(character); }

// A name as Python compares it: the compatibility characters that keyboards produce (the micro sign, the ohm sign, ...)
// become the letters they stand for. Python normalizes more (NFKC); the rest of that does not occur in programs.
std::string normalizeName(llvm::StringRef name);

} // namespace nacre
