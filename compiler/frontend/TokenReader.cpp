#include "compiler/frontend/TokenReader.h"
#include "compiler/frontend/Characters.h"
#include <optional>

namespace nacre {

namespace {

// The parser's own recursion: a pair of brackets takes up to four of these, and the lexer allows 200 pairs.
constexpr int maximumNesting = 1000;

// Tokens without text of their own: they belong to no node.
bool isLayout(TokenKind kind) {
  return kind == TokenKind::Newline || kind == TokenKind::Indent || kind == TokenKind::Dedent || kind == TokenKind::End;
}

} // namespace

TokenReader::TokenReader(std::shared_ptr<const SourceText> sourceText, bool indented)
    : source(sourceText), lexer(std::move(sourceText), indented) {}

const Token &TokenReader::peek(size_t ahead) {
  while (tokens.size() <= nextIndex + ahead)
    tokens.push_back(lexer.next());
  return tokens[nextIndex + ahead];
}

const Token &TokenReader::take() {
  const Token &token = peek();
  ++nextIndex;
  return token;
}

bool TokenReader::accept(TokenKind kind) {
  if (!at(kind))
    return false;
  take();
  return true;
}

const Token &TokenReader::expect(TokenKind kind, const llvm::Twine &context) {
  if (!at(kind))
    failExpected("'" + spelling(kind) + "' " + context);
  return take();
}

std::string TokenReader::expectName(const llvm::Twine &context) {
  if (!at(TokenKind::Name))
    failExpected("a name " + context, isKeyword(peek().kind) ? "a keyword cannot be used as a name" : "");
  return normalizeName(take().text);
}

SourceLocation TokenReader::span(Begin where) const {
  size_t last = nextIndex;
  while (last > 0 && isLayout(tokens[last - 1].kind))
    --last;
  if (last == 0)
    return {source, where.line, where.column, where.line, where.column};
  return {source, where.line, where.column, tokens[last - 1].endLine, tokens[last - 1].endColumn};
}

void TokenReader::complete(ast::Node &node) {
  node.location = span({node.location.line, node.location.column});
  int height = 1;
  ast::forEachChild(node, [&](const ast::Node &child) { height = std::max(height, child.height + 1); });
  if (height > ast::maximumHeight)
    fail(node, "this is nested too deeply: the limit is " + llvm::Twine(ast::maximumHeight) + " levels",
         "split it into several statements");
  node.height = static_cast<uint16_t>(height);
}

void TokenReader::fail(const Token &token, const llvm::Twine &message, const llvm::Twine &hint) {
  throwSyntaxError(locate(token), message, hint);
}

void TokenReader::fail(const ast::Node &node, const llvm::Twine &message, const llvm::Twine &hint) {
  throwSyntaxError(node.location, message, hint);
}

void TokenReader::failExpected(const llvm::Twine &expected, const llvm::Twine &hint) {
  Token found = peek();
  // An end of line or of a block is shown where the text before it ends.
  SourceLocation location = locate(found);
  if (isLayout(found.kind) && nextIndex > 0) {
    location = span({0, 0});
    location.line = location.endLine;
    location.column = location.endColumn;
  }
  // A bracket that is never closed swallows the lines after it, and the first of them that makes no sense is found
  // here.
  if (std::optional<Diagnostic> unclosed = lexer.findUnclosedBracket();
      unclosed && unclosed->location.line < found.line)
    throw CompileError(*unclosed);
  throwSyntaxError(location, "expected " + expected + ", found " + describe(found), hint);
}

TokenReader::Nesting::Nesting(TokenReader &reader) : reader(reader) {
  if (reader.nesting >= maximumNesting)
    reader.fail(reader.peek(), "this is nested too deeply", "split it into several statements");
  ++reader.nesting;
}

std::string describe(const Token &token) {
  switch (token.kind) {
  case TokenKind::Name:
  case TokenKind::Integer:
  case TokenKind::Float:
  case TokenKind::Imaginary:
    return "'" + (token.text.size() > 40 ? token.text.take_front(37).str() + "..." : token.text.str()) + "'";
  case TokenKind::End:
  case TokenKind::Newline:
  case TokenKind::Indent:
  case TokenKind::Dedent:
  case TokenKind::String:
  case TokenKind::FStringStart:
  case TokenKind::FStringMiddle:
  case TokenKind::FStringEnd:
    return spelling(token.kind).str();
  default:
    return (isKeyword(token.kind) ? "keyword '" : "'") + spelling(token.kind).str() + "'";
  }
}

} // namespace nacre
