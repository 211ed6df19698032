#include "compiler/frontend/Lexer.h"
#include "compiler/frontend/Characters.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

namespace nacre {

namespace {

constexpr size_t maximumBrackets = 200;
constexpr size_t maximumIndentations = 100;
constexpr size_t maximumTextSize = size_t(1) << 28;

const llvm::StringMap<TokenKind> &operatorKinds() {
  static const llvm::StringMap<TokenKind> kinds = {
#define TOKEN(name, spelling) {spelling, TokenKind::name},
      NACRE_OPERATOR_TOKENS(TOKEN)
#undef TOKEN
  };
  return kinds;
}

const llvm::StringMap<TokenKind> &keywordKinds() {
  static const llvm::StringMap<TokenKind> kinds = {
#define TOKEN(name, spelling) {spelling, TokenKind::name},
      NACRE_KEYWORD_TOKENS(TOKEN)
#undef TOKEN
  };
  return kinds;
}

char closingOf(char opening) { return opening == '(' ? ')' : opening == '[' ? ']' : '}'; }

} // namespace

llvm::StringRef spelling(TokenKind kind) {
  switch (kind) {
  case TokenKind::End:
    return "end of file";
  case TokenKind::Newline:
    return "end of line";
  case TokenKind::Indent:
    return "an indented line";
  case TokenKind::Dedent:
    return "end of block";
  case TokenKind::Name:
    return "a name";
  case TokenKind::Integer:
  case TokenKind::Float:
  case TokenKind::Imaginary:
    return "a number";
  case TokenKind::String:
    return "a string";
  case TokenKind::FStringStart:
  case TokenKind::FStringMiddle:
  case TokenKind::FStringEnd:
    return "an f-string";
#define TOKEN(name, spelling)                                                                                          \
  case TokenKind::name:                                                                                                \
    return spelling;
    NACRE_OPERATOR_TOKENS(TOKEN)
    NACRE_KEYWORD_TOKENS(TOKEN)
#undef TOKEN
  }
  llvm_unreachable("every kind has a spelling");
}

void throwSyntaxError(SourceLocation location, const llvm::Twine &message, const llvm::Twine &hint) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Syntax;
  diagnostic.location = std::move(location);
  diagnostic.message = message.str();
  diagnostic.hint = hint.str();
  throw CompileError(std::move(diagnostic));
}

Lexer::Lexer(std::shared_ptr<const SourceText> sourceText, bool indented)
    : source(std::move(sourceText)), text(source->text), line(source->firstLine), countedColumn(source->firstColumn),
      marginKnown(!indented) {
  indentations.push_back({0, 0});
  if (text.starts_with("\xEF\xBB\xBF")) // the byte order mark some editors write
    offset = countedOffset = 3;
  if (text.size() > maximumTextSize) {
    text = text.take_front(offset);
    fail(position(), "the text is too long: " + llvm::Twine(source->text.size()) + " bytes, and the limit is " +
                         llvm::Twine(maximumTextSize));
  }
  const auto *bad = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *end = bad + text.size();
  if (!llvm::isLegalUTF8String(&bad, end)) {
    size_t badOffset = bad - reinterpret_cast<const llvm::UTF8 *>(text.data());
    while (offset < badOffset) {
      if (atNewline())
        consumeNewline();
      else
        ++offset;
    }
    fail(position(),
         llvm::formatv("the text is not valid UTF-8: byte 0x{0:X-2}", static_cast<unsigned char>(*bad)).str(),
         "save the file as UTF-8");
  }
}

SourceLocation Lexer::locate(const Token &token) const {
  return {source, token.line, token.column, token.endLine, token.endColumn};
}

SourceLocation Lexer::locate(const Token &token, size_t partOffset, size_t length) const {
  int partLine = token.line, column = token.column;
  auto advance = [&](llvm::StringRef part) {
    while (!part.empty()) {
      if (part[0] == '\n' || part[0] == '\r') {
        part = part.drop_front(part.starts_with("\r\n") ? 2 : 1);
        ++partLine;
        column = source->firstColumn;
      } else {
        column += (part[0] & 0xC0) != 0x80;
        part = part.drop_front();
      }
    }
  };
  advance(token.text.take_front(partOffset));
  SourceLocation location{source, partLine, column, partLine, column};
  advance(token.text.substr(partOffset, length));
  location.endLine = partLine;
  location.endColumn = column;
  return location;
}

SourceLocation Lexer::locate(const Position &start, const Position &end) const {
  return {source, start.line, start.column, end.line, end.column};
}

void Lexer::fail(const Position &start, const llvm::Twine &message, const llvm::Twine &hint) {
  throwSyntaxError(locate(start, position()), message, hint);
}

void Lexer::consumeNewline() {
  offset += current() == '\r' && lookAhead(1) == '\n' ? 2 : 1;
  ++line;
  countedOffset = offset;
  countedColumn = source->firstColumn;
}

Lexer::Position Lexer::position() {
  for (; countedOffset < offset; ++countedOffset)
    countedColumn += (text[countedOffset] & 0xC0) != 0x80;
  return {offset, line, countedColumn};
}

Token Lexer::makeToken(TokenKind kind, const Position &start) {
  Position end = position();
  return {kind, text.slice(start.offset, end.offset), start.line, start.column, end.line, end.column};
}

// At the start of a line outside brackets: measures the indentation and compares it with the enclosing ones. Lines
// without tokens do not count. True when that gives a token.
bool Lexer::readIndentation(Token &token) {
  atLineStart = false;
  Position start = position();
  Indentation indentation{0, 0}, continued{0, 0};
  while (true) {
    char character = current();
    if (character == ' ') {
      ++indentation.width;
      ++indentation.tabsAsOne;
    } else if (character == '\t') {
      indentation.width = (indentation.width / 8 + 1) * 8;
      ++indentation.tabsAsOne;
    } else if (character == '\f') {
      indentation = {0, 0};
    } else if (character == '\\' && (lookAhead(1) == '\n' || lookAhead(1) == '\r')) {
      // A line that holds only a backslash is joined with the next: the first one's indentation counts.
      if (continued.width == 0)
        continued = indentation;
      ++offset;
      consumeNewline();
      indentation = {0, 0};
      continue;
    } else {
      break;
    }
    ++offset;
  }
  if (continued.width > 0)
    indentation = continued;
  if (atEnd() || atNewline() || current() == '#')
    return false;
  if (!marginKnown) {
    marginKnown = true;
    indentations.back() = indentation;
    return false;
  }

  auto checkTabs = [&](bool consistent) {
    if (!consistent)
      fail(start, "inconsistent use of tabs and spaces in indentation", "indent with spaces only");
  };
  if (indentation.width == indentations.back().width) {
    checkTabs(indentation.tabsAsOne == indentations.back().tabsAsOne);
    return false;
  }
  if (indentation.width > indentations.back().width) {
    checkTabs(indentation.tabsAsOne > indentations.back().tabsAsOne);
    if (indentations.size() >= maximumIndentations)
      fail(start, "too many levels of indentation: the limit is " + llvm::Twine(maximumIndentations));
    indentations.push_back(indentation);
    token = makeToken(TokenKind::Indent, start);
    return true;
  }
  int innermost = indentations.back().width;
  while (indentations.size() > 1 && indentation.width < indentations.back().width) {
    indentations.pop_back();
    ++pendingDedents;
  }
  if (indentation.width != indentations.back().width)
    fail(start, "this indentation matches no block before it",
         "the line is indented by " + llvm::Twine(indentation.width) + ", the block before it by " +
             llvm::Twine(innermost) + ", and the next one out by " + llvm::Twine(indentations.back().width));
  checkTabs(indentation.tabsAsOne == indentations.back().tabsAsOne);
  --pendingDedents;
  token = makeToken(TokenKind::Dedent, position());
  return true;
}

// Spaces, comments, and backslashes that join lines.
void Lexer::skipSpace() {
  while (!atEnd()) {
    char character = current();
    if (character == ' ' || character == '\t' || character == '\f') {
      ++offset;
    } else if (character == '#') {
      while (!atEnd() && !atNewline())
        ++offset;
    } else if (character == '\\') {
      Position start = position();
      ++offset;
      if (atEnd())
        fail(start, "the text ends after a line continuation");
      if (!atNewline())
        fail(start, "unexpected character after a line continuation", "the backslash must be the last on its line");
      consumeNewline();
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  if (!fstrings.empty() && !fstrings.back().isExpression)
    return readFStringText();
  if (pendingDedents > 0) {
    --pendingDedents;
    return makeToken(TokenKind::Dedent, position());
  }
  while (true) {
    Token token;
    if (atLineStart && brackets.empty() && readIndentation(token))
      return token;
    skipSpace();
    if (atEnd())
      return readEnd();
    if (!atNewline())
      break;
    if (brackets.empty() && lineHasTokens) {
      Position start = position();
      ++offset;
      token = makeToken(TokenKind::Newline, start);
      --offset;
      consumeNewline();
      atLineStart = true;
      lineHasTokens = false;
      return token;
    }
    consumeNewline();
    atLineStart = brackets.empty();
  }

  lineHasTokens = true;
  size_t prefixLength;
  bool isFormatted, isRaw;
  if (startsString(prefixLength, isFormatted, isRaw))
    return isFormatted ? readFStringStart(prefixLength, isRaw) : readString(prefixLength);
  if (isAsciiDigit(current()) || (current() == '.' && isAsciiDigit(lookAhead(1))))
    return readNumber();
  if (startsName(decodeCharacter(text.substr(offset)).value))
    return readName();
  return readOperator();
}

Token Lexer::readEnd() {
  if (!brackets.empty()) {
    const Bracket &open = brackets.back();
    Position end = open.position;
    ++end.column;
    throwSyntaxError(locate(open.position, end), "'" + llvm::Twine(open.character) + "' was never closed",
                     "add the missing '" + llvm::Twine(closingOf(open.character)) + "'");
  }
  if (lineHasTokens) {
    lineHasTokens = false;
    return makeToken(TokenKind::Newline, position());
  }
  if (indentations.size() > 1) {
    indentations.pop_back();
    return makeToken(TokenKind::Dedent, position());
  }
  return makeToken(TokenKind::End, position());
}

std::optional<Diagnostic> Lexer::findUnclosedBracket() {
  try {
    while (next().kind != TokenKind::End) {
    }
    return std::nullopt;
  } catch (const CompileError &error) {
    const SourceLocation &place = error.diagnostic.location;
    bool isBracket = atEnd() && !brackets.empty() && place.line == brackets.back().position.line &&
                     place.column == brackets.back().position.column;
    return isBracket ? std::optional(error.diagnostic) : std::nullopt;
  }
}

Token Lexer::readName() {
  Position start = position();
  while (!atEnd()) {
    auto [character, length] = decodeCharacter(text.substr(offset));
    if (!isNameCharacter(character))
      break;
    offset += length;
  }
  Token token = makeToken(TokenKind::Name, start);
  auto keyword = keywordKinds().find(token.text);
  if (keyword != keywordKinds().end())
    token.kind = keyword->second;
  return token;
}

void Lexer::openBracket(char character, const Position &start) {
  if (brackets.size() >= maximumBrackets)
    fail(start, "too many nested brackets: the limit is " + llvm::Twine(maximumBrackets));
  brackets.push_back({character, start});
}

void Lexer::closeBracket(char character, const Position &start) {
  if (brackets.empty())
    fail(start, "unmatched '" + llvm::Twine(character) + "'");
  const Bracket &open = brackets.back();
  if (closingOf(open.character) != character)
    fail(start, "'" + llvm::Twine(character) + "' does not match '" + llvm::Twine(open.character) + "'",
         "'" + llvm::Twine(open.character) + "' was opened at line " + llvm::Twine(open.position.line) + ", column " +
             llvm::Twine(open.position.column + 1));
  if (!fstrings.empty() && fstrings.back().bracketDepth == brackets.size())
    fstrings.pop_back();
  brackets.pop_back();
}

Token Lexer::readOperator() {
  Position start = position();
  llvm::StringRef rest = text.substr(offset);
  // Directly between an f-string's braces a colon starts the format and an exclamation mark the conversion.
  bool endsExpression = !fstrings.empty() && fstrings.back().bracketDepth == brackets.size();
  if (endsExpression && (rest[0] == ':' || (rest[0] == '!' && !rest.starts_with("!=")))) {
    ++offset;
    if (rest[0] == '!')
      return makeToken(TokenKind::Exclamation, start);
    FStringMode format = fstrings.back();
    format.isFormat = true;
    format.isExpression = false;
    fstrings.push_back(format);
    return makeToken(TokenKind::Colon, start);
  }
  for (size_t length : {3, 2, 1}) {
    auto found = operatorKinds().find(rest.take_front(length));
    if (rest.size() < length || found == operatorKinds().end() || found->second == TokenKind::Exclamation)
      continue;
    offset += length;
    if (length == 1 && llvm::StringRef("([{").contains(rest[0]))
      openBracket(rest[0], start);
    else if (length == 1 && llvm::StringRef(")]}").contains(rest[0]))
      closeBracket(rest[0], start);
    return makeToken(found->second, start);
  }

  auto [character, length] = decodeCharacter(rest);
  offset += length;
  std::string shown = character < 0x20 || character == 0x7F ? "" : "'" + rest.take_front(length).str() + "' ";
  llvm::StringRef hint = character == '!'                             ? "write 'not' to negate"
                         : character >= 0x2018 && character <= 0x201F ? "use a plain quote, ' or \""
                         : character == 0xA0                          ? "this is a no-break space; use a plain one"
                                                                      : "";
  fail(start, llvm::formatv("unexpected character {0}(U+{1:X-4})", shown, static_cast<uint32_t>(character)).str(),
       hint);
}

} // namespace nacre
