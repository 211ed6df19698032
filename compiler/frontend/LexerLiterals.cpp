// The lexer's part for numbers and strings. It finds where a literal ends; Literals.h finds what it means.
#include "compiler/frontend/Characters.h"
#include "compiler/frontend/Lexer.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre {

namespace {

// Longer numbers would take time quadratic in their length to convert; Python stops at 4,300 digits too.
constexpr size_t maximumNumberLength = 4300;

} // namespace

// One or more digits, with single underscores between them.
void Lexer::readDigits(llvm::function_ref<bool(char)> isDigit, const Position &start, llvm::StringRef literal) {
  while (true) {
    if (!isDigit(current())) {
      if (isAsciiDigit(current())) {
        ++offset;
        fail(start, "invalid digit '" + llvm::Twine(text[offset - 1]) + "' in " + literal + " literal");
      }
      fail(start, "invalid " + literal + " literal");
    }
    while (isDigit(current()))
      ++offset;
    if (current() != '_')
      return;
    ++offset;
  }
}

// A number may be followed by a keyword without a space between (`1if x else 2`), by nothing else that could continue
// it.
void Lexer::checkNumberEnd(const Position &start, llvm::StringRef literal) {
  llvm::StringRef rest = text.substr(offset);
  if (rest.empty() || !isNameCharacter(decodeCharacter(rest).value))
    return;
  for (llvm::StringRef keyword : {"and", "else", "for", "if", "in", "is", "or", "not"})
    if (rest.starts_with(keyword))
      return;
  bool isDigit = isAsciiDigit(rest[0]);
  offset += decodeCharacter(rest).length;
  if (isDigit)
    fail(start, "invalid digit '" + llvm::Twine(rest[0]) + "' in " + literal + " literal");
  fail(start, "invalid " + literal + " literal", "a name cannot start with a digit");
}

Token Lexer::readNumber() {
  Position start = position();
  TokenKind kind = TokenKind::Integer;
  llvm::StringRef literal = "decimal";
  char base = current() == '0' ? llvm::toLower(lookAhead(1)) : '\0';
  if (base == 'x' || base == 'o' || base == 'b') {
    offset += lookAhead(2) == '_' ? 3 : 2;
    literal = base == 'x' ? "hexadecimal" : base == 'o' ? "octal" : "binary";
    auto isDigit = [&](char digit) {
      return base == 'x' ? llvm::isHexDigit(digit) : digit >= '0' && digit <= (base == 'o' ? '7' : '1');
    };
    readDigits(isDigit, start, literal);
  } else {
    auto isDigit = [](char digit) { return isAsciiDigit(digit); };
    if (current() != '.')
      readDigits(isDigit, start, literal);
    if (current() == '.') {
      kind = TokenKind::Float;
      ++offset;
      if (isAsciiDigit(current()))
        readDigits(isDigit, start, literal);
    }
    if (current() == 'e' || current() == 'E') {
      bool isSigned = lookAhead(1) == '+' || lookAhead(1) == '-';
      if (isSigned || isAsciiDigit(lookAhead(1))) {
        kind = TokenKind::Float;
        offset += isSigned ? 2 : 1;
        readDigits(isDigit, start, literal);
      }
    }
    if (current() == 'j' || current() == 'J') {
      kind = TokenKind::Imaginary;
      ++offset;
    }
  }
  checkNumberEnd(start, literal);
  Token token = makeToken(kind, start);
  if (kind == TokenKind::Integer && literal == "decimal" && token.text[0] == '0' &&
      token.text.find_first_not_of("0_") != llvm::StringRef::npos)
    fail(start, "a decimal integer cannot start with zeros", "write 0o... for an octal number");
  if (token.text.size() > maximumNumberLength)
    fail(start, "the number has more than " + llvm::Twine(maximumNumberLength) + " digits");
  return token;
}

// Whether a string literal starts here: its prefix, if any, in any order and case, and a quote.
bool Lexer::startsString(size_t &prefixLength, bool &isFormatted, bool &isRaw) const {
  bool seenB = false, seenU = false;
  isFormatted = isRaw = false;
  for (prefixLength = 0; prefixLength <= 2; ++prefixLength) {
    bool *seen = nullptr;
    switch (llvm::toLower(lookAhead(prefixLength))) {
    case '\'':
    case '"':
      return true;
    case 'b':
      seen = seenU || isFormatted ? nullptr : &seenB;
      break;
    case 'u':
      seen = prefixLength > 0 ? nullptr : &seenU;
      break;
    case 'r':
      seen = seenU ? nullptr : &isRaw;
      break;
    case 'f':
      seen = seenU || seenB ? nullptr : &isFormatted;
      break;
    }
    if (!seen || *seen)
      return false;
    *seen = true;
  }
  return false;
}

Token Lexer::readString(size_t prefixLength) {
  Position start = position();
  offset += prefixLength;
  char quote = current();
  bool isTriple = lookAhead(1) == quote && lookAhead(2) == quote;
  llvm::StringRef delimiter = text.substr(offset, isTriple ? 3 : 1);
  offset += delimiter.size();
  Position opened = position();
  while (!text.substr(offset).starts_with(delimiter)) {
    if (atEnd() || (!isTriple && atNewline())) {
      // Between an f-string's braces this may be its own closing quote: then it is a brace that is missing.
      if (!fstrings.empty() && prefixLength == 0 && fstrings.back().quote == delimiter)
        throwSyntaxError(locate(start, opened), "expected '}' before the end of the f-string");
      if (!isTriple)
        fail(start, "unterminated string literal", "add the closing " + delimiter);
      throwSyntaxError(locate(start, opened), "unterminated triple-quoted string literal",
                       "it runs on to the end of the text, line " + llvm::Twine(line));
    }
    if (current() == '\\' && offset + 1 < text.size())
      ++offset;
    if (atNewline())
      consumeNewline();
    else
      ++offset;
  }
  offset += delimiter.size();
  return makeToken(TokenKind::String, start);
}

Token Lexer::readFStringStart(size_t prefixLength, bool isRaw) {
  Position start = position();
  offset += prefixLength;
  char quote = current();
  llvm::StringRef delimiter = text.substr(offset, lookAhead(1) == quote && lookAhead(2) == quote ? 3 : 1);
  offset += delimiter.size();
  fstrings.push_back({start, delimiter, isRaw, /*isFormat=*/false, /*isExpression=*/false, /*bracketDepth=*/0});
  return makeToken(TokenKind::FStringStart, start);
}

Token Lexer::readFStringText() {
  FStringMode mode = fstrings.back();
  Position start = position();
  while (true) {
    bool hasText = offset > start.offset;
    if (atEnd() || (mode.quote.size() == 1 && atNewline())) {
      llvm::StringRef kind = mode.quote.size() == 1 ? "unterminated f-string" : "unterminated triple-quoted f-string";
      Position end = mode.start;
      end.column += static_cast<int>(mode.quote.size()) + (mode.isRaw ? 2 : 1);
      throwSyntaxError(locate(mode.start, end), kind, "add the closing " + mode.quote);
    }
    if (text.substr(offset).starts_with(mode.quote)) {
      if (hasText)
        break;
      offset += mode.quote.size();
      if (mode.isFormat)
        fail(start, "expected '}' before the end of the f-string");
      fstrings.pop_back();
      return makeToken(TokenKind::FStringEnd, start);
    }
    if (atNewline()) {
      consumeNewline();
      continue;
    }
    char character = current();
    if ((character == '{' || character == '}') && !mode.isFormat && lookAhead(1) == character) {
      offset += 2;
      continue;
    }
    if (character == '{') {
      if (hasText)
        break;
      ++offset;
      openBracket('{', start);
      mode.isExpression = true;
      mode.isFormat = false;
      mode.bracketDepth = brackets.size();
      fstrings.push_back(mode);
      return makeToken(TokenKind::LeftBrace, start);
    }
    if (character == '}') {
      if (hasText)
        break;
      if (mode.isFormat) { // back between the braces, where this one is the last
        fstrings.pop_back();
        return next();
      }
      ++offset;
      fail(start, "a single '}' is not allowed in an f-string", "write '}}' for the character itself");
    }
    if (character == '\\') {
      if (!mode.isRaw && text.substr(offset).starts_with("\\N{")) { // a character by name: its braces are no expression
        size_t close = text.find_first_of("}\"'\r\n", offset + 3);
        if (close != llvm::StringRef::npos && text[close] == '}') {
          offset = close + 1;
          continue;
        }
      }
      ++offset;
      if (atEnd() || atNewline() || current() == '{' || current() == '}') {
        if (atNewline())
          consumeNewline();
        continue;
      }
    }
    ++offset;
  }
  return makeToken(TokenKind::FStringMiddle, start);
}

} // namespace nacre
