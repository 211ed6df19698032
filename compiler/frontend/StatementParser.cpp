#include "compiler/frontend/StatementParser.h"
#include "compiler/frontend/Parser.h"

namespace nacre {

using namespace ast;

Module parseModule(std::shared_ptr<const SourceText> source) {
  StatementParser parser(source, /*indented=*/false);
  return {source, parser.parseFile()};
}

Module parseFunction(std::shared_ptr<const SourceText> source) {
  StatementParser parser(source, /*indented=*/true);
  return {source, parser.parseOneFunction()};
}

Block StatementParser::parseFile() {
  Block block;
  while (!at(TokenKind::End))
    parseStatement(block);
  return block;
}

Block StatementParser::parseOneFunction() {
  Block block;
  if (!at(TokenKind::At) && !at(TokenKind::Def) && !at(TokenKind::Async))
    failExpected("a function definition");
  parseStatement(block);
  if (!llvm::isa<FunctionDefinition>(*block[0]))
    fail(*block[0], "expected a function definition, found a " + ast::describe(block[0]->kind));
  if (!at(TokenKind::End))
    failExpected("nothing after the function");
  return block;
}

void StatementParser::parseStatement(Block &block) {
  if (StatementPointer compound = parseCompound())
    block.push_back(std::move(compound));
  else
    parseSimpleStatements(block);
}

// Null when the next statement is a simple one.
StatementPointer StatementParser::parseCompound() {
  switch (peek().kind) {
  case TokenKind::If:
    return parseIf();
  case TokenKind::While:
    return parseWhile();
  case TokenKind::For:
    return parseFor(begin(), /*isAsync=*/false);
  case TokenKind::Try:
    return parseTry();
  case TokenKind::With:
    return parseWith(begin(), /*isAsync=*/false);
  case TokenKind::Def:
    return parseFunction(begin(), /*isAsync=*/false, {});
  case TokenKind::Class:
    return parseClass({});
  case TokenKind::At:
    return parseDecorated();
  case TokenKind::Async:
    return parseAsync();
  case TokenKind::Name:
    return startsMatch() ? parseMatch() : nullptr;
  case TokenKind::Indent: {
    take();
    fail(peek(), "unexpected indentation", "this line is indented more than the one before it");
  }
  case TokenKind::Elif:
  case TokenKind::Else:
  case TokenKind::Except:
  case TokenKind::Finally:
    fail(peek(), "'" + spelling(peek().kind) + "' does not continue any statement here", "check the indentation");
  default:
    return nullptr;
  }
}

Block StatementParser::parseBlock(const Token &header, const llvm::Twine &name) {
  Nesting nesting(*this);
  if (!at(TokenKind::Colon))
    failExpected("':' after " + name);
  take();
  Block block;
  if (!accept(TokenKind::Newline)) {
    parseSimpleStatements(block);
    return block;
  }
  if (!accept(TokenKind::Indent))
    failExpected("an indented block after " + name + " on line " + llvm::Twine(header.line));
  while (!accept(TokenKind::Dedent))
    parseStatement(block);
  return block;
}

Block StatementParser::parseBlockWithin(Surroundings inner, const Token &header, const llvm::Twine &name) {
  Surroundings outer = std::exchange(surroundings, inner);
  Block block = parseBlock(header, name);
  surroundings = outer;
  return block;
}

} // namespace nacre
