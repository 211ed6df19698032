// Words of PTX text. Comments and white space are skipped; every token knows its line.
#pragma once

#include <cstdint>
#include <string_view>

namespace nacre::simulator {

enum class TokenKind : uint8_t { End, Word, Directive, Number, String, Symbol };

// Word: an identifier, a register (%r1, %tid.x) or an instruction with its modifiers (add.s32). Directive: .reg, .b32.
// Number: as written. String: without its quotes. Symbol: one character.
struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  uint32_t line = 1;
  uint32_t offset = 0;
  bool is(std::string_view value) const { return kind != TokenKind::String && text == value; }
};

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) { advance(); }
  const Token &peek() const { return current; }
  Token next() {
    Token token = current;
    advance();
    return token;
  }
  std::string_view source() const { return text; }
  // Leaves out everything up to the closing brace that matches an opening brace already read.
  void skipBraces();

private:
  void advance();
  void skipSpace();
  std::string_view text;
  size_t position = 0;
  uint32_t line = 1;
  Token current;
};

} // namespace nacre::simulator
