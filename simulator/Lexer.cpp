// Words of PTX text.
#include "simulator/Lexer.h"
#include "simulator/Simulator.h"

namespace nacre::simulator {

static bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isWordPart(char c) { return isLetter(c) || isDigit(c); }

// What ends the text as the driver's interface gives it, and bytes that no PTX has.
static bool endsText(std::string_view rest) { return rest.find_first_not_of('\0') == std::string_view::npos; }
[[noreturn]] static void refuseByte(std::string_view text, size_t position, uint32_t line) {
  if (text.starts_with("\x7f"
                       "ELF"))
    throw Error("this is a compiled file (a cubin or an object), not PTX text", line);
  static constexpr char digits[] = "0123456789abcdef";
  auto byte = static_cast<unsigned char>(text[position]);
  throw Error(std::string("a byte 0x") + digits[byte >> 4] + digits[byte & 15] + " outside comments and strings", line);
}

void Lexer::skipSpace() {
  while (position < text.size()) {
    char c = text[position];
    if (c == '\n')
      ++line;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
      ++position;
    } else if (text.substr(position, 2) == "//") {
      while (position < text.size() && text[position] != '\n')
        ++position;
    } else if (text.substr(position, 2) == "/*") {
      size_t end = text.find("*/", position + 2);
      end = end == std::string_view::npos ? text.size() : end + 2;
      for (; position < end; ++position)
        line += text[position] == '\n';
    } else if (c == '#') { // a preprocessor's line marker
      while (position < text.size() && text[position] != '\n')
        ++position;
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skipSpace();
  current.line = line;
  current.offset = static_cast<uint32_t>(position);
  if (position >= text.size() || (text[position] == '\0' && endsText(text.substr(position)))) {
    current.kind = TokenKind::End;
    current.text = {};
    return;
  }
  size_t start = position;
  char c = text[position];
  if (c < ' ' || c > '~')
    refuseByte(text, position, line);
  auto finish = [&](TokenKind kind) {
    current.kind = kind;
    current.text = text.substr(start, position - start);
  };
  // `.suffix`es belong to a word: add.s32, %tid.x, shared::cta.
  auto suffixes = [&] {
    while (position < text.size()) {
      if (isWordPart(text[position]))
        ++position;
      else if (text[position] == '.' && position + 1 < text.size() && isWordPart(text[position + 1]))
        ++position;
      else if (text.substr(position, 2) == "::")
        position += 2;
      else
        break;
    }
  };
  if (c == '"') {
    size_t end = text.find('"', position + 1);
    if (end == std::string_view::npos)
      throw Error("a string is not closed", line);
    current.kind = TokenKind::String;
    current.text = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return;
  }
  if (isDigit(c)) {
    ++position;
    while (position < text.size() &&
           (isWordPart(text[position]) || text[position] == '.' ||
            ((text[position] == '+' || text[position] == '-') &&
             (text[position - 1] == 'e' || text[position - 1] == 'E') && text.substr(start, 2) != "0x" &&
             text.substr(start, 2) != "0X" && text.substr(start, 2) != "0f" && text.substr(start, 2) != "0d")))
      ++position;
    return finish(TokenKind::Number);
  }
  if (isLetter(c) || c == '%') {
    ++position;
    suffixes();
    return finish(TokenKind::Word);
  }
  if (c == '.' && position + 1 < text.size() && isLetter(text[position + 1])) {
    ++position; // .reg.b32 is two directives
    while (position < text.size() && (isWordPart(text[position]) || text.substr(position, 2) == "::"))
      position += isWordPart(text[position]) ? 1 : 2;
    return finish(TokenKind::Directive);
  }
  ++position;
  finish(TokenKind::Symbol);
}

void Lexer::skipBraces() {
  for (int depth = 1; depth > 0;) {
    if (current.kind == TokenKind::End)
      throw Error("a brace is not closed", current.line);
    if (current.kind == TokenKind::Symbol && current.text == "{")
      ++depth;
    if (current.kind == TokenKind::Symbol && current.text == "}")
      --depth;
    advance();
  }
}

} // namespace nacre::simulator
