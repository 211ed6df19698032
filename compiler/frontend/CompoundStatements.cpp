// The statement parser's statements that hold blocks.
#include "compiler/frontend/StatementParser.h"

namespace nacre {

using namespace ast;

// The else of a loop or a try; empty when there is none.
Block StatementParser::parseElse() {
  const Token &header = peek();
  if (!accept(TokenKind::Else))
    return {};
  return parseBlock(header, "'else'");
}

// An elif is an if statement alone in the else of the one before it.
StatementPointer StatementParser::parseIf() {
  Nesting nesting(*this);
  auto node = start<If>();
  const Token &header = take();
  node->test = parseCondition();
  node->body = parseBlock(header, "the '" + spelling(header.kind) + "' condition");
  if (at(TokenKind::Elif)) {
    node->orElse.push_back(parseIf());
  } else if (at(TokenKind::Else)) {
    if (peek(1).kind == TokenKind::If)
      fail(peek(1), "expected ':' after 'else', found keyword 'if'", "write 'elif'");
    node->orElse = parseElse();
  }
  return finish(std::move(node));
}

StatementPointer StatementParser::parseWhile() {
  auto node = start<While>();
  const Token &header = take();
  node->test = parseCondition();
  node->body = parseBlockWithin({surroundings.isFunction, /*isLoop=*/true}, header, "the 'while' condition");
  node->orElse = parseElse();
  return finish(std::move(node));
}

StatementPointer StatementParser::parseFor(Begin where, bool isAsync) {
  auto node = start<For>(where);
  const Token &header = take();
  node->isAsync = isAsync;
  node->target = parseTargets();
  expect(TokenKind::In, "after the target of a 'for' loop");
  node->iterable = parseExpressionList();
  node->body = parseBlockWithin({surroundings.isFunction, /*isLoop=*/true}, header, "the 'for' loop's iterable");
  node->orElse = parseElse();
  return finish(std::move(node));
}

StatementPointer StatementParser::parseTry() {
  auto node = start<Try>();
  const Token &header = take();
  node->body = parseBlock(header, "'try'");
  while (at(TokenKind::Except)) {
    Begin where = begin();
    const Token &except = take();
    bool isStar = accept(TokenKind::Star);
    if (!node->handlers.empty() && isStar != node->isStar)
      fail(except, "a 'try' cannot have both 'except' and 'except*'");
    node->isStar = isStar;
    ExceptHandler handler;
    if (isStar || !at(TokenKind::Colon)) {
      handler.type = parseExpression();
      if (at(TokenKind::Comma))
        fail(peek(), "several exception types need parentheses around them");
      if (accept(TokenKind::As))
        handler.name = expectName("after 'as'");
    }
    handler.body = parseBlock(except, "'except'");
    handler.location = span(where);
    node->handlers.push_back(std::move(handler));
  }
  if (!node->handlers.empty())
    node->orElse = parseElse();
  const Token &finallyHeader = peek();
  if (accept(TokenKind::Finally))
    node->finalBody = parseBlock(finallyHeader, "'finally'");
  else if (node->handlers.empty())
    failExpected("'except' or 'finally' after the 'try' block on line " + llvm::Twine(header.line));
  return finish(std::move(node));
}

// ------------------------------------------------------------------------------------------------------------------
// With

WithItem StatementParser::parseWithItem() {
  WithItem item;
  item.context = parseExpression();
  if (accept(TokenKind::As))
    item.target = parseTarget();
  return item;
}

// After `with`: whether the parenthesis that opens here goes around the items, `with (a as b, c):`, and is not part of
// an expression. It does when it closes just before the colon and holds nothing but items.
bool StatementParser::startsParenthesizedWith() {
  if (!at(TokenKind::LeftParenthesis))
    return false;
  int depth = 0;
  bool isExpression = peek(1).kind == TokenKind::RightParenthesis;
  for (size_t ahead = 0;; ++ahead) {
    switch (peek(ahead).kind) {
    case TokenKind::LeftParenthesis:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
      ++depth;
      break;
    case TokenKind::RightParenthesis:
    case TokenKind::RightBracket:
    case TokenKind::RightBrace:
      if (--depth == 0)
        return !isExpression && peek(ahead + 1).kind == TokenKind::Colon;
      break;
    case TokenKind::Yield:
    case TokenKind::ColonEqual:
    case TokenKind::For:
      isExpression |= depth == 1;
      break;
    case TokenKind::Star:
      isExpression |= depth == 1 &&
                      (peek(ahead - 1).kind == TokenKind::LeftParenthesis || peek(ahead - 1).kind == TokenKind::Comma);
      break;
    case TokenKind::End:
      return false;
    default:
      break;
    }
  }
}

StatementPointer StatementParser::parseWith(Begin where, bool isAsync) {
  auto node = start<With>(where);
  const Token &header = take();
  node->isAsync = isAsync;
  if (startsParenthesizedWith()) {
    take();
    do
      node->items.push_back(parseWithItem());
    while (acceptSeparator(TokenKind::RightParenthesis) && !at(TokenKind::RightParenthesis));
    take();
  } else {
    do
      node->items.push_back(parseWithItem());
    while (accept(TokenKind::Comma));
  }
  node->body = parseBlock(header, "the 'with' items");
  return finish(std::move(node));
}

// ------------------------------------------------------------------------------------------------------------------
// Match

// `match` is a name like any other unless a subject, a colon and an indented `case` follow.
bool StatementParser::startsMatch() {
  if (!atName("match") || !(startsExpression(peek(1)) || peek(1).kind == TokenKind::Star))
    return false;
  size_t ahead = 1;
  while (peek(ahead).kind != TokenKind::Newline && peek(ahead).kind != TokenKind::End)
    ++ahead;
  return peek(ahead - 1).kind == TokenKind::Colon && peek(ahead).kind == TokenKind::Newline &&
         peek(ahead + 1).kind == TokenKind::Indent && peek(ahead + 2).kind == TokenKind::Name &&
         peek(ahead + 2).text == "case";
}

StatementPointer StatementParser::parseMatch() {
  auto node = start<Match>();
  take();
  Begin where = begin();
  bool isStar = at(TokenKind::Star);
  node->subject = isStar ? parseExpressionList() : parseNamedExpression();
  if (!isStar && at(TokenKind::Comma)) {
    auto tuple = start<Tuple>(where);
    tuple->elements.push_back(std::move(node->subject));
    while (accept(TokenKind::Comma) && !at(TokenKind::Colon))
      tuple->elements.push_back(at(TokenKind::Star) ? parseStarred() : parseNamedExpression());
    node->subject = finish(std::move(tuple));
  }
  expect(TokenKind::Colon, "after the subject of 'match'");
  expect(TokenKind::Newline, "after the ':' of 'match'");
  expect(TokenKind::Indent, "after 'match'");
  while (!accept(TokenKind::Dedent)) {
    if (!atName("case"))
      failExpected("'case' in the block of 'match'");
    const Token &header = take();
    MatchCase each;
    each.pattern = parsePatterns();
    if (accept(TokenKind::If))
      each.guard = parseNamedExpression();
    each.body = parseBlock(header, "the 'case' pattern");
    node->cases.push_back(std::move(each));
  }
  return finish(std::move(node));
}

// ------------------------------------------------------------------------------------------------------------------
// Functions and classes

StatementPointer StatementParser::parseAsync() {
  Begin where = begin();
  take();
  switch (peek().kind) {
  case TokenKind::Def:
    return parseFunction(where, /*isAsync=*/true, {});
  case TokenKind::For:
    return parseFor(where, /*isAsync=*/true);
  case TokenKind::With:
    return parseWith(where, /*isAsync=*/true);
  default:
    failExpected("'def', 'for' or 'with' after 'async'");
  }
}

StatementPointer StatementParser::parseDecorated() {
  Expressions decorators;
  while (accept(TokenKind::At)) {
    decorators.push_back(parseNamedExpression());
    if (!accept(TokenKind::Newline))
      failExpected("end of line after the decorator");
  }
  Begin where = begin();
  if (at(TokenKind::Class))
    return parseClass(std::move(decorators));
  bool isAsync = accept(TokenKind::Async);
  if (!at(TokenKind::Def))
    failExpected("a function or class definition after the decorators");
  return parseFunction(where, isAsync, std::move(decorators));
}

StatementPointer StatementParser::parseFunction(Begin where, bool isAsync, Expressions decorators) {
  auto node = start<FunctionDefinition>(where);
  const Token &header = take();
  node->isAsync = isAsync;
  node->decorators = std::move(decorators);
  Begin name = begin();
  node->name = expectName("after 'def'");
  node->nameLocation = span(name);
  node->typeParameters = parseTypeParameters();
  expect(TokenKind::LeftParenthesis, "after the function's name");
  node->parameters = parseParameters(TokenKind::RightParenthesis);
  take();
  if (accept(TokenKind::Arrow))
    node->returns = parseExpression();
  node->body = parseBlockWithin({/*isFunction=*/true, /*isLoop=*/false}, header, "the function's signature");
  return finish(std::move(node));
}

StatementPointer StatementParser::parseClass(Expressions decorators) {
  auto node = start<ClassDefinition>();
  const Token &header = take();
  node->decorators = std::move(decorators);
  Begin name = begin();
  node->name = expectName("after 'class'");
  node->nameLocation = span(name);
  node->typeParameters = parseTypeParameters();
  Begin opening = begin();
  if (accept(TokenKind::LeftParenthesis))
    parseArguments(opening, node->bases, node->keywords);
  node->body = parseBlockWithin({}, header, "the class header");
  return finish(std::move(node));
}

std::vector<TypeParameter> StatementParser::parseTypeParameters() {
  std::vector<TypeParameter> parameters;
  if (!accept(TokenKind::LeftBracket))
    return parameters;
  do {
    TypeParameter &parameter = parameters.emplace_back();
    Begin where = begin();
    parameter.stars = accept(TokenKind::Star) ? 1 : accept(TokenKind::DoubleStar) ? 2 : 0;
    parameter.name = expectName("for a type parameter");
    if (accept(TokenKind::Colon))
      parameter.bound = parseExpression();
    if (accept(TokenKind::Equal))
      parameter.defaultValue = parseExpression();
    parameter.location = span(where);
  } while (acceptSeparator(TokenKind::RightBracket) && !at(TokenKind::RightBracket));
  take();
  return parameters;
}

} // namespace nacre
