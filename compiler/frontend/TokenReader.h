// What every part of the parser stands on: looking at tokens, taking them, making nodes that know where they are, and
// failing with a message. The parser is three layers over this: ExpressionParser, PatternParser, StatementParser.
#pragma once

#include "compiler/frontend/AST.h"
#include "compiler/frontend/Lexer.h"
#include <deque>

namespace nacre {

class TokenReader {
protected:
  TokenReader(std::shared_ptr<const SourceText> source, bool indented);

  const Token &peek(size_t ahead = 0);
  bool at(TokenKind kind) { return peek().kind == kind; }
  bool atName(llvm::StringRef name) { return at(TokenKind::Name) && peek().text == name; } // a soft keyword
  const Token &take();
  bool accept(TokenKind kind);
  // Takes a token that must be there; `context` says where: "after the condition".
  const Token &expect(TokenKind kind, const llvm::Twine &context);
  // A name, normalized; a keyword in its place is an error.
  std::string expectName(const llvm::Twine &context);

  // For the few places that must look far ahead.
  size_t mark() const { return nextIndex; }
  void rewind(size_t toMark) { nextIndex = toMark; }

  // Where a node starts.
  struct Begin {
    int line, column;
  };
  Begin begin() { return {peek().line, peek().column}; }
  // A node that starts at the next token, or at an earlier place.
  template <typename T> std::unique_ptr<T> start() { return start<T>(begin()); }
  template <typename T> std::unique_ptr<T> start(Begin where) {
    auto node = std::make_unique<T>();
    node->location.source = source;
    node->location.line = where.line;
    node->location.column = where.column;
    return node;
  }
  // The node is complete: it ends with the last token taken.
  template <typename T> std::unique_ptr<T> finish(std::unique_ptr<T> node) {
    complete(*node);
    return node;
  }
  // From `where` to the last token taken.
  SourceLocation span(Begin where) const;
  SourceLocation locate(const Token &token) const { return lexer.locate(token); }
  const Lexer &tokenSource() const { return lexer; }

  [[noreturn]] void fail(const Token &token, const llvm::Twine &message, const llvm::Twine &hint = "");
  [[noreturn]] void fail(const ast::Node &node, const llvm::Twine &message, const llvm::Twine &hint = "");
  // The next token is not what it should be: "expected ..., found ...".
  [[noreturn]] void failExpected(const llvm::Twine &expected, const llvm::Twine &hint = "");

  // Counts the parser's own recursion while it lives.
  class Nesting {
  public:
    explicit Nesting(TokenReader &reader);
    ~Nesting() { --reader.nesting; }
    Nesting(const Nesting &) = delete;
    Nesting &operator=(const Nesting &) = delete;

  private:
    TokenReader &reader;
  };

private:
  void complete(ast::Node &node);

  std::shared_ptr<const SourceText> source;
  Lexer lexer;
  std::deque<Token> tokens; // all read so far; a deque, so that references stay valid
  size_t nextIndex = 0;
  int nesting = 0;
};

// How an error shows a token: "'x'", "keyword 'if'", "end of line".
std::string describe(const Token &token);

} // namespace nacre
