// The expression parser's strings: adjacent literals are joined, and an f-string is taken apart into text and values.
#include "compiler/frontend/ExpressionParser.h"
#include "compiler/frontend/Literals.h"

namespace nacre {

using namespace ast;

// The value of `body`, which is a part of `token`'s text; errors point into it.
std::string ExpressionParser::decode(const Token &token, llvm::StringRef body, const StringForm &form) {
  return decodeString(body, form, [&](size_t offset, size_t length, const std::string &message) {
    size_t bodyOffset = body.data() - token.text.data();
    throwSyntaxError(tokenSource().locate(token, bodyOffset + offset, length), message);
  });
}

ExpressionPointer ExpressionParser::parseStrings() {
  Begin where = begin();
  Expressions parts;
  std::string bytes;
  bool hasBytes = false, hasText = false, isFormatted = false;
  while (at(TokenKind::String) || at(TokenKind::FStringStart)) {
    const Token &token = peek();
    bool isBytes = prefixForm(token.text).isBytes;
    (isBytes ? hasBytes : hasText) = true;
    if (hasBytes && hasText)
      fail(token, "a bytes literal cannot be joined with a string literal");
    if (token.kind == TokenKind::FStringStart) {
      isFormatted = true;
      parseFormattedString(parts);
      continue;
    }
    take();
    auto [form, body] = splitString(token.text);
    std::string value = decode(token, body, form);
    if (isBytes)
      bytes += value;
    else
      appendText(parts, std::move(value), locate(token));
  }

  if (isFormatted) {
    auto node = start<FormattedString>(where);
    node->parts = std::move(parts);
    return finish(std::move(node));
  }
  if (hasBytes) {
    auto node = start<BytesLiteral>(where);
    node->value = std::move(bytes);
    return finish(std::move(node));
  }
  auto node = start<StringLiteral>(where);
  if (!parts.empty())
    node->value = std::move(llvm::cast<StringLiteral>(*parts[0]).value);
  return finish(std::move(node));
}

// Adds text to a string's parts, joined with text just before it.
void ExpressionParser::appendText(Expressions &parts, std::string text, SourceLocation location) {
  if (text.empty())
    return;
  if (!parts.empty()) {
    if (auto *last = llvm::dyn_cast<StringLiteral>(parts.back().get())) {
      last->value += text;
      last->location.endLine = location.endLine;
      last->location.endColumn = location.endColumn;
      return;
    }
  }
  auto literal = std::make_unique<StringLiteral>();
  literal->location = std::move(location);
  literal->value = std::move(text);
  parts.push_back(std::move(literal));
}

void ExpressionParser::parseFormattedString(Expressions &parts) {
  StringForm form = prefixForm(take().text);
  while (!accept(TokenKind::FStringEnd)) {
    if (at(TokenKind::FStringMiddle)) {
      const Token &text = take();
      appendText(parts, decode(text, text.text, form), locate(text));
    } else {
      parseReplacementField(parts, form.isRaw);
    }
  }
}

// {value}, {value!r}, {value:format}, {value=}: the last adds its own text before the value.
void ExpressionParser::parseReplacementField(Expressions &parts, bool isRaw) {
  auto node = start<FormattedValue>();
  const Token &brace = expect(TokenKind::LeftBrace, "in an f-string");
  if (!startsExpression(peek()) && !at(TokenKind::Star) && !at(TokenKind::Yield))
    failExpected("an expression between the braces of an f-string",
                 at(TokenKind::RightBrace) ? "write '{{' for the character itself" : "");
  node->value = parseExpressionListOrYield();

  bool isDebug = accept(TokenKind::Equal);
  if (isDebug) {
    const char *textStart = brace.text.end();
    llvm::StringRef text(textStart, peek().text.begin() - textStart);
    SourceLocation location = locate(brace);
    location.column = location.endColumn;
    location.endLine = peek().line;
    location.endColumn = peek().column;
    appendText(parts, decodeString(text, {.isRaw = true}, [](size_t, size_t, const std::string &) {}), location);
  }
  if (accept(TokenKind::Exclamation)) {
    const Token &conversion = peek();
    if (!at(TokenKind::Name) || (conversion.text != "r" && conversion.text != "s" && conversion.text != "a"))
      failExpected("'r', 's' or 'a' after '!' in an f-string");
    node->conversion = take().text[0];
  }
  if (at(TokenKind::Colon))
    node->format = parseFormat(begin(), isRaw);
  if (!at(TokenKind::RightBrace))
    failExpected("'}' after the expression in an f-string");
  take();
  if (isDebug && !node->conversion && !node->format)
    node->conversion = 'r';
  parts.push_back(finish(std::move(node)));
}

// :format, which may hold values of its own.
ExpressionPointer ExpressionParser::parseFormat(Begin where, bool isRaw) {
  take();
  auto node = start<FormattedString>(where);
  while (!at(TokenKind::RightBrace)) {
    if (at(TokenKind::FStringMiddle)) {
      const Token &text = take();
      appendText(node->parts, decode(text, text.text, {.isRaw = isRaw, .isFormatted = true, .isFormat = true}),
                 locate(text));
    } else {
      parseReplacementField(node->parts, isRaw);
    }
  }
  return finish(std::move(node));
}

} // namespace nacre
